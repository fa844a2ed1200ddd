"""Whether a trial depends on those before it, and whether the order can be told from the levels."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, finding
from deadzone.analysis.findings.columns import goes_with_the_knob
from deadzone.analysis.findings.experiment import (
    Experiment,
    centred,
    contrast,
    logarithms,
    numbers,
)
from deadzone.analysis.trial_columns import marked, well

LEAST_CARRIED = 0.05
"""What the trial before does to the next matters from here on [ln of the response]."""

LARGE_CARRIED = 0.15
"""From here on the order of the trials decides which setting looks best [ln of the response]."""

FIRST_APART = np.log(1.5)
"""The first trials of a sweep may be slower by a third while the machine wakes up; a cache that is
filled does more."""

OPENING = 1
"""The first attempt of the run fills what all levels share, and is left out."""

AGREE = 0.7
"""Share of the levels whose first trial must stand out; what one level in three does not show is
not kept by level."""

FOLLOWING = 3
"""The second trials of levels that follow next after the first ones; a busy hour does not end just
there."""

SEVERAL = 3
"""Levels whose trials are all far worse than their warm-up are no accident."""

CONFOUNDED = 0.9
"""Levels explain this share of the order, or more: drift of the machine and effect of the knob are
then one."""


@finding(
    "stops",
    seen={
        "after_large": "A trial differs by a factor of {times:.2f} by whether the trial before it "
        "had a large or a small {knob}: one leaves something behind for the next.",
        "first_of_level": "The first trial of each {knob} differs from the later ones by a factor "
        "of {times:number}: something is kept from it, such as a cache.",
    },
    mend="Put things back before each trial (workload.prepare) or wait longer (design.cooldown_s).",
)
def carry_over(seen: Experiment) -> Iterator[Finding]:
    """A trial depends on the level of the one before it, or on being the first of its level.

    The order is randomised, so that both can be tested (Jones and Kenward, Design and Analysis of
    Cross-Over Trials, 1989, ch. 1). Deviations of ln(response) from their level are exchanged
    within levels. The one before counts by the rank of its level; warm-up trials take part.
    """
    table = seen.attempts
    log = logarithms(numbers(table, seen.response))
    good = np.isfinite(log) & table.index.isin(well(table).index)
    yield from _after_another(seen, table, log, good)
    yield from _first_of_level(seen, table, log, good)


def _after_another(
    seen: Experiment, table: pd.DataFrame, log: np.ndarray, good: np.ndarray
) -> Iterator[Finding]:
    if "started_at" not in table:
        return
    before = table["place"].shift().to_numpy(float)
    use = good & table.index.isin(seen.measured.index) & np.isfinite(before)
    codes = pd.factorize(table["level"][use])[0]
    if use.sum() < 2 * (codes.max(initial=0) + 2):
        return
    large = before[use] >= np.median(before[use])
    deviation = log[use] - pd.Series(log[use]).groupby(codes).transform("median").to_numpy()
    deviation = np.clip(deviation, *np.quantile(deviation, [0.02, 0.98]))
    effect, p = contrast(deviation, large, codes)
    yield seen.found(
        "carry_over", p, table[use][large], weight=abs(effect) >= LEAST_CARRIED,
        levels=seen.at(table[use]), severity="stops" if abs(effect) >= LARGE_CARRIED else "doubts",
        how="after_large", times=float(np.exp(abs(effect))),
    )  # fmt: skip


def _first_of_level(
    seen: Experiment, table: pd.DataFrame, log: np.ndarray, good: np.ndarray
) -> Iterator[Finding]:
    """All first trials of a level lie together, so that a busy hour at the beginning looks alike:
    untrusted ones are left out, and the second trials, which follow at once, must be like the later
    ones."""
    use = good & marked(table, "trusted", missing=True)
    rows = table[use & ~table["level"].isin(table["level"].iloc[:OPENING])]
    rows = rows[rows.groupby("level")["level"].transform("size") > 2]  # else none is later
    own = log[rows.index]
    place = rows.groupby("level").cumcount().to_numpy()
    codes = pd.factorize(rows["level"])[0]
    first = place == 0
    if first.sum() < 3 or len(rows) < 4 * first.sum():
        return
    later = pd.Series(np.where(place < 2, np.nan, own))
    apart = own - later.groupby(codes).transform("median").to_numpy()
    effect = float(np.median(apart[first]))
    second = float((np.sign(effect) * apart[place == 1][:FOLLOWING]).max())
    rest = np.abs(apart[place >= 2])
    _, p = contrast(own, first, codes)
    agree = np.mean(np.sign(effect) * apart[first] > max(np.quantile(rest, 0.9), abs(effect) / 2))
    weight = abs(effect) >= FIRST_APART and second < abs(effect) / 2 and agree >= AGREE
    yield seen.found(
        "carry_over", p, rows[first], weight=weight, levels=seen.at(rows),
        how="first_of_level", times=float(np.exp(abs(effect))),
    )  # fmt: skip


@finding(
    seen={
        "column": "{column} changes with {knob} ({values}): their effects cannot be told apart.",
        "in_step": "{column} moves with {knob} ({values}): their effects cannot be told apart, and "
        "the answer is for both together.",
        "": "The order of the trials explains {share:percent} of the levels: drift of the machine "
        "cannot be told from the effect of the knob.",
    },
    mend={
        "": "Use a randomised design (design.kind: factorial), or more blocks.",
        "column": "Measure all levels with the same {column}, or all with each (`--by "
        "{typed_column}`, in Python `by={column!r}`).",
    },
)
def levels_confounded(seen: Experiment) -> Iterator[Finding]:
    """The order, or the node, goes with the level: share of the variance of the run order that the
    levels explain.

    A figure of the design, so that no chance is involved; a randomised order of as many trials is
    far below.
    """
    rows = seen.sound
    count = rows["level"].nunique()
    if "started_at" in rows and len(rows) >= 2 * count >= 6:
        order = rows["order"].to_numpy(float)
        within = centred(order, pd.factorize(rows["level"])[0])
        share = 1 - float(within @ within) / max(float(((order - order.mean()) ** 2).sum()), 1e-12)
        yield seen.found("levels_confounded", share >= CONFOUNDED, share=share)
    yield from goes_with_the_knob(seen)


@finding(
    "notes",
    seen={
        "": "The response drifts by {change:percent} over the run, whatever the level; the drift "
        "was taken out of the fit.",
        "since_warmup": "At every level {response} is worse than it was in the warm-up, typically "
        "{times:number} times: something builds up from trial to trial.",
    },
    mend="Clean up between trials (workload.prepare), or let it warm up (design.warmup).",
)
def state_builds_up(seen: Experiment) -> Iterator[Finding]:
    """Files, memory or heat that grow with each trial make later trials slower. Drift over the run
    that the fit found and took away, by its own F test (see `analysis.phases.drift`). In a table
    without times the order is that of a column that counts rounds, such as `replicate`. With
    one trial a level the fit tells none. There each must be worse than its warm-up by LEAST_CARRIED
    [ln], half of them by FIRST_APART, at SEVERAL levels or more."""
    drift = seen.model.drift if seen.model else None
    if drift is None:
        yield from _since_warmup(seen)
        return
    large = drift.removed and abs(drift.change) >= LARGE_CARRIED
    yield seen.found("state_builds_up", drift.p_value, weight=large, change=drift.change)


def _since_warmup(seen: Experiment) -> Iterator[Finding]:
    """Of single trials; an hour that gets busier looks alike, and is as good a reason to doubt."""
    rows = well(seen.attempts)
    values = pd.Series(numbers(rows, seen.response), rows.index)
    is_warmup = marked(rows, "warmup", False)
    first, later = (
        values[of & (values > 0)].groupby(rows["level"]).median() for of in (is_warmup, ~is_warmup)
    )
    apart = (later / first).map(np.log).dropna() * (1 if seen.goal == "min" else -1)
    half = float(apart.median())
    worse = len(apart) >= SEVERAL and apart.min() >= LEAST_CARRIED and half >= FIRST_APART
    yield seen.found(
        "state_builds_up", worse, severity="doubts", how="since_warmup", times=float(np.exp(half))
    )
