"""Whether it is the program, and enough of it, that was measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.explaining.findings.experiment import Experiment, numbers, typical
from deadzone.explaining.findings.finding import Suspicion
from deadzone.explaining.findings.permutation import association
from deadzone.study.levels import is_number

ONE_CORE = (0.93, 1.05)
"""Use of a core by a client whose one thread is always busy [cores]; 7 % go into its start and its end."""

FLAT = 0.05
"""Levels of a plateau lie closer than this [share]."""

START_S = 0.010
"""Starting a program takes 1 to 3 ms, an interpreter 10 to 30; a trial must be long beside that [s]."""

FEWEST_VALUES = 4
"""A response that takes no more values than this over many trials is read off a coarse scale."""

MANY_TRIALS = 15

BURST = 1.1
"""A program that used more of the CPU than its limit allows ran on what the quota lends for a period."""

FEW_PERIODS = 5
"""Over so many periods of the quota a burst of one weighs a fifth."""

FOLLOWS = 0.1
"""Foreign CPU that differs less between levels matters little [cores]."""

ROOM = 0.8
"""On a machine that is busier than this, neighbours get what the trial leaves them, and follow it for that [share]."""


def client_full(seen: Experiment) -> Iterator[Suspicion]:
    """At the levels of a plateau the program keeps one core busy and no more, whatever the level, though it has others.

    Two one-sided t tests (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680) of the cores
    used within ONE_CORE. Of knobs that count what works at once, for others are allowed one thread.
    """
    from scipy.special import stdtr

    rows = seen.sound
    used = numbers(rows, "cpu_efficiency")
    counts = seen.levels
    if len(counts) < 3 or any(
        not is_number(one) or one != int(one) or not 0 < one <= MOST_AT_ONCE for one in counts
    ):
        return
    if seen.knob in NOT_AT_ONCE or (seen.cores is not None and seen.cores < 2) or not np.isfinite(used).all():
        return
    start = _plateau(typical(seen, rows, numbers(rows, seen.response)))
    levels = counts[start:]
    here = (rows["place"] >= start).to_numpy()
    if len(levels) < 2 or here.sum() < 4 or max(levels) < 2:
        return
    at = used[here]
    error = max(float(at.std(ddof=1)) / np.sqrt(len(at)), 1e-6)
    p = float(max(stdtr(len(at) - 1, (ONE_CORE[0] - at.mean()) / error), stdtr(len(at) - 1, (at.mean() - ONE_CORE[1]) / error)))  # fmt: skip
    yield Suspicion(
        "client_full", p, True, tuple(levels), tuple(rows["number"][here]), None,
        {"levels": seen.named(levels), "cores": float(at.mean())},
    )  # fmt: skip


MOST_AT_ONCE = 4096
NOT_AT_ONCE = ("block_size", "rate", "cpu_limit", "memory_limit", "level", "seed", "quality", "preset")
"""Knobs whose whole numbers do not count what works at once."""


def _plateau(medians: np.ndarray) -> int:
    """Where the levels begin over which the typical response, to the end of the range, differs by less than FLAT."""
    tails = (medians[start:] for start in range(len(medians)))
    return next(i for i, tail in enumerate(tails) if not np.ptp(tail) > FLAT * tail.min())


def too_short(seen: Experiment) -> Iterator[Suspicion]:
    """Trials about as long as it takes to start a program; a figure, no chance involved."""
    rows = seen.sound
    wall = numbers(rows, "wall_s")
    if not len(rows) or not np.isfinite(wall).any():
        return
    medians = typical(seen, rows, wall)
    short = [level for level, median in zip(seen.levels, medians, strict=True) if median < START_S]
    yield Suspicion(
        "too_short", 0.0 if short else 1.0, True, tuple(short), (), None,
        {"levels": seen.named(short), "wall_ms": 1000 * float(np.nanmin(medians))},
    )  # fmt: skip


def few_values(seen: Experiment) -> Iterator[Suspicion]:
    """A response that takes a handful of values over many trials, as one that is printed with too few digits."""
    values = numbers(seen.sound, seen.response)
    values = values[np.isfinite(values)]
    different = np.unique(values)
    few = len(values) >= MANY_TRIALS and 1 < len(different) <= FEWEST_VALUES
    step = float(np.diff(different).min()) if len(different) > 1 else 0.0
    yield Suspicion(
        "few_values", 0.0 if few else 1.0, few and step > FLAT * float(np.median(values)), tuple(seen.levels), (), None,
        {"response": seen.response, "different": len(different), "trials": len(values)},
    )  # fmt: skip


def few_periods(seen: Experiment) -> Iterator[Suspicion]:
    """Under a CPU limit, trials of a few quota periods that used more than the limit: they ran on bursts."""
    rows = seen.sound
    if "cpu_limit" not in rows:
        return
    limit, used = numbers(rows, "cpu_limit"), numbers(rows, "cpu_efficiency")
    burst = (used > BURST * limit) & (numbers(rows, "nr_periods") <= FEW_PERIODS)
    here = rows[burst]
    yield Suspicion(
        "few_periods", 0.0 if burst.sum() >= 2 else 1.0, True, seen.at(here), tuple(here["number"]), None,
        {"trials": int(burst.sum()), "levels": seen.named(seen.at(here)), "periods": int(np.nanmedian(numbers(here, "nr_periods"))) if len(here) else 0},
    )  # fmt: skip


def limit_not_felt(seen: Experiment) -> Iterator[Suspicion]:
    """CPU limits were the knob and none ever throttled the program; counted by the kernel."""
    rows = seen.sound
    if seen.knob != "cpu_limit":
        return
    limited = rows[np.isfinite(numbers(rows, "cpu_limit"))]
    throttled = numbers(limited, "nr_throttled")
    never = len(limited) > 0 and bool(np.isfinite(throttled).all()) and not throttled.any()
    yield Suspicion(
        "limit_not_felt", 0.0 if never else 1.0, True, seen.at(limited), (), None,
        {"cores": float(np.nanmax(numbers(limited, "cpu_efficiency"))) if never else 0.0},
    )  # fmt: skip


def neighbours_follow(seen: Experiment) -> Iterator[Suspicion]:
    """The CPU that others use goes with the level: it belongs to the trial. `association`, and a difference of FOLLOWS."""
    rows = seen.ended
    foreign = numbers(rows, "foreign_cpu")
    if not len(rows) or not np.isfinite(foreign).all() or rows["level"].nunique() < 3 or seen.serves:
        return
    codes = pd.factorize(rows["place"])[0]
    medians = np.array([np.median(foreign[codes == code]) for code in np.unique(codes)])
    busy = foreign + numbers(rows, "cpu_efficiency")
    room = seen.cores is not None and bool(np.nanmedian(busy) < ROOM * seen.cores)
    yield Suspicion(
        "neighbours_follow", association(foreign, codes), room and bool(np.ptp(medians) >= FOLLOWS and np.median(foreign) >= FOLLOWS),
        tuple(seen.levels), (), None, {"least": float(medians.min()), "most": float(medians.max()), "knob": seen.knob},
    )  # fmt: skip
