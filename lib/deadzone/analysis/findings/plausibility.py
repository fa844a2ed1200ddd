"""Figures that cannot be, or contradict each other: below zero, more in flight than there are
connections, faster than the knob.

Little's law (Little 1961, Operations Research 9, 383-387): what is in flight on average is the rate
times the mean time of one; a closed loop of n connections has no more than n in flight.
"""

from collections.abc import Iterator

import numpy as np

from deadzone.analysis.finding import Suspicion
from deadzone.analysis.findings.catalogue import finding
from deadzone.analysis.findings.experiment import Experiment, numbers, typical
from deadzone.analysis.findings.work_size import LOADS, PARALLEL
from deadzone.analysis.trial_columns import below_zero
from deadzone.study.direction import words_of
from deadzone.study.levels import is_number
from deadzone.study.quantity import SECONDS

UNITS_OF_NAMES = ("s", "sec", "seconds", "ms", "us", "ns")
"""In the name of a column `min` is the shortest."""

IN_FLIGHT = {"connections", "clients", "users", "vus", "concurrency", "conns"}

OF_CALLS = LOADS | {"rate"}

TOO_MANY = 1.5
"""So many times more in flight than connections is no rounding."""

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
        "in_flight": "{rate} times {latency} is {held:number} requests in flight at {level}, more "
        "than its connections hold (Little's law): one of the two is wrong, or of another part of "
        "the run.",
        "faster": "{response} falls by a factor of {faster:count} while {knob} grows {more:count} "
        "times: better than in proportion, which more of {knob} alone cannot do.",
        "divided": "{column} is {knob} itself at every level, and {response} falls by a factor of "
        "{faster:count}: the tool may have divided the time by {knob}.",
    },
    mend="Look at how the tool counts, and judge a figure that it does not derive.",
)
def contradicting_numbers(seen: Experiment) -> Iterator[Suspicion]:
    """Three contradictions. Rate times mean latency is more than the connections can hold in
    flight, by Little's law. A time falls TOO_FAST times faster than threads or the like are added.
    A count of iterations is the knob itself, which tools divide by."""
    if not all(is_number(level) for level in seen.levels):
        return
    named = set(words_of(seen.knob))
    if named & IN_FLIGHT:
        yield from _in_flight(seen)
    if named & PARALLEL:
        yield from _faster_than_the_knob(seen)


def _in_flight(seen: Experiment) -> Iterator[Suspicion]:
    rows = seen.sound
    words = {column: words_of(column) for column in map(str, rows)}
    rates = [c for c, named in words.items() if OF_CALLS & set(named) and "offered" not in c]
    times = [
        c for c, named in words.items()
        if {"latency", "mean"} <= set(named) and named[-1] in UNITS_OF_NAMES
    ]  # fmt: skip
    if not rates or not times:
        return
    unit = SECONDS[words[times[0]][-1]]
    held = numbers(rows, rates[0]) * numbers(rows, times[0]) * unit
    over = held / np.array(seen.levels, dtype=float)[rows["place"].to_numpy()]
    if not np.isfinite(over).any() or np.nanmax(over) <= TOO_MANY:
        return
    worst = int(np.nanargmax(over))
    here = rows[over > TOO_MANY]
    yield seen.suspicion(
        "contradicting_numbers", True, here, how="in_flight", rate=rates[0], latency=times[0],
        held=float(held[worst]), level=seen.named(seen.at(rows.iloc[[worst]])),
    )  # fmt: skip


def _faster_than_the_knob(seen: Experiment) -> Iterator[Suspicion]:
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
