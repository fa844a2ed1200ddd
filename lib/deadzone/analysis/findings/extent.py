"""Whether the levels are the right ones: what the fit says of the range."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, Severity, finding
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.phases.candidates import gain_score, level_text, still_gains
from deadzone.analysis.phases.level_estimates import FEWEST_AGREEING
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.outliers import STANDS_OUT
from deadzone.analysis.phases.quantities import response
from deadzone.study.levels import format_level, is_number, read_level

COARSE = 2.0
"""Neighbouring levels further apart than this factor leave room for a better setting between
them."""

GAIN = 1.2
"""A best level that is better than both neighbours by this factor may have better ones beside
it."""

CLIFF = float(np.log(1.5))
"""A first or last level of one trial or two is off the curve by more than this [ln]: a cliff, or a
spoiled trial."""

SOUND_CALLED_OFF = 0.01
"""Of sound levels, about this share is called off on drawn curves of single trials with 5 % of
noise; with replicates or less noise it is less."""

CPU_LIMIT = "cpu_limit"
"""Ends the names of the factors that are limits of the CPU: more than all cores is no setting."""

TOLD = 0.1
"""Values are told as if they were this uncertain, which leaves three digits."""


@finding(
    "notes",
    seen="The response still improves at the end of the range, {knob} {level}.",
    mend="Extend the range: add the levels {add}.",
)
def edge_of_range(seen: Experiment) -> Iterator[Finding]:
    """The response still improves at the end of the range, whatever its last phase is called.
    The last step gains more than 3 % a doubling, and a one-sided t test shows that the last phase
    does."""
    model = seen.model
    if model is None:
        return
    levels = model.levels["level"].to_numpy(float)
    add = _beyond(levels, model, seen.cores if seen.knob.endswith(CPU_LIMIT) else None)
    up = still_gains(model) and levels[-1] == seen.levels[-1] and add.size > 0
    p = _p_beyond(model, gain_score(model)) if up else 1.0
    yield seen.found(
        "edge_of_range", p, weight=up, levels=seen.levels[-1:], level=format_level(levels[-1]),
        add=_like(levels, add),
    )  # fmt: skip


def _beyond(levels: np.ndarray, model: PhaseModel, most: float | None) -> np.ndarray:
    """Two further levels of the same scale, at most one of them as large as there can be.

    Powers of two go on as 96 and 128 after 64, others by their last step and twice that. most: None
    where there is no largest; one that was measured already leaves none.
    """
    at = model.axis.forward(levels)
    last = levels[-1]
    if levels.min() >= 1 and last > 2 and np.all(np.log2(levels) % 1 == 0):
        add = last * np.array([1.5, 2])
    else:
        add = model.axis.backward(at[-1] + (at[-1] - at[-2]) * np.array([1, 2]))
    within = np.unique(np.minimum(add, most or np.inf))
    return within[within > last]


def _like(levels: np.ndarray, add: np.ndarray) -> str:
    """New levels in a sentence; whole numbers where the levels are."""
    whole = np.all(levels % 1 == 0)
    return ", ".join(format_level(round(one) if whole else float(f"{one:.4g}")) for one in add)


@finding(
    "notes",
    seen="{knob} {level} is far better than its neighbours, which are far away.",
    mend="Add the levels {add} between them.",
)
def range_too_coarse(seen: Experiment) -> Iterator[Finding]:
    """The best level stands alone, so that a better setting may lie between. Both neighbours are
    worse by GAIN, on the curve and as measured, and further away than COARSE; on a ratio scale."""
    if seen.model is None or seen.model.axis.is_interval:
        return
    levels = seen.model.levels["level"].to_numpy(float)
    value = np.log(seen.model.levels[["fitted", "median"]].to_numpy(float)).T
    value *= 1 if seen.goal == "min" else -1
    best = int(np.argmin(value[0]))
    if not 0 < best < len(levels) - 1:
        return
    apart = float((value[:, [best - 1, best + 1]] - value[:, [best]]).min())
    wide = min(levels[best] / levels[best - 1], levels[best + 1] / levels[best])
    add = np.sqrt(levels[best] * levels[[best - 1, best + 1]])
    alone = bool(apart > np.log(GAIN) and wide > COARSE)
    yield seen.found(
        "range_too_coarse", alone, levels=[float(levels[best])], level=format_level(levels[best]),
        add=_like(levels, add),
    )  # fmt: skip


@finding(
    "notes",
    seen={
        "worse": "{knob} {level} is off: {value}, {times:number} times worse than the {expected} "
        "between its neighbours (trials: {n}).",
        "better": "{knob} {level} is off: {value}, {times:number} times better than the {expected} "
        "between its neighbours (trials: {n}).",
        "end": "{knob} {level} is off: {value}, a factor of {times:number} from the {expected} of "
        "the curve that ends there (trials: {n}).",
    },
    mend={
        "": "Measure this level again, and its neighbours.",
        "agree": "Its trials agree: find what differs there, such as a size that does not divide.",
    },
)
def one_level_off(seen: Experiment) -> Iterator[Finding]:
    """Each level that is off as a whole: its trial was spoiled, or it has a cause of its own. The
    measured value is kept, and the fitted curve ignores it.

    It stands out from both neighbours by more than 15 %, the same way, and beyond the lines through
    its neighbours and theirs. It lies further from the line between its neighbours than 3.45 times
    the median distance of the other levels from theirs. 2 % of normal noise lie beyond that. The
    factor is 2.25 for fewer than eight levels, and 3 there for a better level. Levels are set aside
    one after the other, so that one does not hide another. Two neighbours that are off the same way
    are a phase, several that are better a structure. Off by 15 % from the curve is a level, too,
    whose trials agree with each other and none with the curve. A first or last level: t test of its
    median against the fit, with the misfit as its error. Of fewer than three trials it is also a
    factor of 1.5 away, and the noise of a trial is in the error.
    """
    if seen.model is None:
        return
    table, down = seen.model.levels, 1 if seen.goal == "min" else -1
    best = int(np.argmin(down * table["median"].to_numpy(float)))
    for i in np.flatnonzero(table["off"].to_numpy(float)):
        row = table.iloc[i]
        expected = float(row["median"] * np.exp(-down * row["off"]))
        is_doubted = i == best and row["off"] < 0 and row["n"] == 1
        how = "worse" if row["off"] > 0 else "better"
        yield _off(seen, row, SOUND_CALLED_OFF, expected, how, "doubts" if is_doubted else "notes")
    for row in (table.iloc[0], table.iloc[-1]):
        least = STANDS_OUT if row["n"] >= FEWEST_AGREEING else CLIFF
        if row["off"] == 0 and abs(np.log(row["median"] / row["fitted"])) > least:
            yield _off(seen, row, _p_off_the_fit(seen.model, row), row["fitted"], "end", "notes")


def _off(
    seen: Experiment, row: pd.Series, p: float, expected: float, how: str, severity: Severity
) -> Finding:
    assert seen.model is not None
    measured = float(row["median"])
    is_plain = is_number(read_level(str(row["label"])))  # no size such as 64KiB, and no word
    mend = "agree" if row["n"] >= FEWEST_AGREEING else ""
    return seen.found(
        "one_level_off", p, levels=[float(row["level"])], severity=severity, how=how, mend=mend,
        level=format_level(row["level"]) if is_plain else level_text(seen.model, row["level"]),
        n=int(row["n"]),
        value=response(measured, seen.response, TOLD * measured),
        expected=response(expected, seen.response, TOLD * expected),
        times=float(np.exp(abs(np.log(measured / expected)))),
    )  # fmt: skip


def _p_off_the_fit(model: PhaseModel, row: pd.Series) -> float:
    is_known = row["n"] >= FEWEST_AGREEING
    spread = row["spread"] / np.sqrt(max(row["n_used"], 1)) if is_known else model.noise.replicate
    error = np.hypot(model.noise.misfit, spread)
    score = abs(np.log(row["median"] / row["fitted"])) / max(float(error), 1e-9)
    return min(1.0, 2 * len(model.levels) * _p_beyond(model, score))


def _p_beyond(model: PhaseModel, score: float) -> float:
    """p of a one-sided t test with the degrees of freedom of the fit's noise."""
    from scipy.special import stdtr

    return float(stdtr(max(model.noise.degrees_of_freedom, 3), -score))
