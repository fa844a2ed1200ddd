"""Figures that cannot be, or contradict each other: below zero, or faster than the knob."""

from collections.abc import Iterator

import numpy as np

from deadzone.analysis.finding import Suspicion
from deadzone.analysis.findings.catalogue import finding
from deadzone.analysis.findings.experiment import Experiment, numbers, typical
from deadzone.analysis.findings.work_size import PARALLEL
from deadzone.analysis.trial_columns import below_zero
from deadzone.study.direction import words_of
from deadzone.study.levels import is_number

TOO_FAST = 3.0
"""A speed-up so many times the knob's is none that caches make."""


@finding(
    seen="{response} is below zero in {trials} trials, at {levels}, which it cannot be: these "
    "count as failed, and are left out.",
    mend="Find out why the measurement failed there.",
)
def impossible_numbers(seen: Experiment) -> Iterator[Suspicion]:
    """A time, rate or count below zero stands for a failed measurement. Counted: nothing is left to
    chance."""
    rows = seen.measured
    wrong = below_zero(rows, seen.response)
    if wrong.any():
        here = rows[wrong]
        yield seen.suspicion("impossible_numbers", True, here)


@finding(
    seen={
        "faster": "{response} falls by a factor of {faster:count} while {knob} grows {more:count} "
        "times: better than in proportion, which more of {knob} alone cannot do.",
        "divided": "{column} is {knob} itself at every level, and {response} falls by a factor of "
        "{faster:count}: the tool may have divided the time by {knob}.",
    },
    mend="Look at how the tool counts, and judge a figure that it does not derive.",
)
def contradicting_numbers(seen: Experiment) -> Iterator[Suspicion]:
    """Two contradictions. A time falls TOO_FAST times faster than threads or the like are added. A
    count of iterations is the knob itself, which tools divide by."""
    are_numbers = all(is_number(level) for level in seen.levels)
    if not (are_numbers and set(words_of(seen.knob)) & PARALLEL):
        return
    rows = seen.sound
    if seen.goal != "min" or not seen.is_time:
        return
    value = typical(seen, rows, numbers(rows, seen.response))
    level = np.array(seen.levels, dtype=float)
    use = np.isfinite(value) & (value > 0) & (level > 0)
    if use.sum() < 2:
        return
    first, last = np.flatnonzero(use)[[0, -1]]
    faster, more = value[first] / value[last], level[last] / level[first]
    same = [
        c for c in map(str, rows) if "iterations" in words_of(c) and len(seen.levels) > 2
        and np.array_equal(typical(seen, rows, numbers(rows, c))[use], level[use])
    ]  # fmt: skip
    if faster > TOO_FAST * more or same:
        yield seen.suspicion(
            "contradicting_numbers", True, rows[rows["place"] == last],
            how="divided" if same else "faster", faster=round(faster), more=round(more),
            column=same[0] if same else "",
        )  # fmt: skip
