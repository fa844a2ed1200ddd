"""Worked out by hand."""

import dataclasses

import pytest

from deadzone.run.targets import interference
from deadzone.run.targets.interference import MachineReading, Neighbours, between, waited_share
from deadzone.run.targets.kernel_files import TICK_S

BEFORE = MachineReading(
    busy_s=100.0, steal_s=5.0, memory_stall_s=1.0, io_stall_s=None,
    monotonic_s=1000.0, wall_clock_s=2000.0, boot_clock_s=1000.0,
)  # fmt: skip


CLOCKS = ("monotonic_s", "wall_clock_s", "boot_clock_s")


def after(elapsed=2.0, **changes):
    later = {name: getattr(BEFORE, name) + elapsed for name in CLOCKS}
    return dataclasses.replace(BEFORE, **{**later, **changes})


def test_foreign_cpu_is_the_busy_time_that_was_not_the_trials_own():
    seen = between(BEFORE, after(busy_s=103.0), own_cpu_s=2.0)
    assert seen.foreign_cpu == pytest.approx(0.5)  # (3 - 2) s over 2 s
    assert seen.foreign_cpu_resolution == pytest.approx(3 * TICK_S / 2)
    assert between(BEFORE, after(busy_s=100.5), own_cpu_s=0.52).foreign_cpu == 0, "never negative"


def test_steal_and_pressure_are_shares_of_the_time():
    seen = between(BEFORE, after(steal_s=5.2, memory_stall_s=1.5), own_cpu_s=0)
    assert seen.steal == pytest.approx(0.1)
    assert seen.memory_pressure == pytest.approx(0.25)
    assert seen.io_pressure is None


@pytest.mark.parametrize(
    "change",
    [{"wall_clock_s": 2000.0 + 2.0 + 0.1}, {"wall_clock_s": 2000.0 + 2.0 - 0.1},
     {"boot_clock_s": 1000.0 + 2.0 + 0.1}],
    ids=["the wall clock was put forward", "or back", "the machine was suspended"],
)  # fmt: skip
def test_clocks_that_disagree_show(change):
    assert between(BEFORE, after(**change), own_cpu_s=0).clock_drift == pytest.approx(0.05)


def marks(*moments):
    """Readings at moments [s], at each of which neighbours have used so much [CPU s]."""
    neighbours = Neighbours()
    for at, used in moments:
        neighbours.mark(after(at, busy_s=100.0 + used), 0.0)
    return neighbours


def test_a_short_trial_is_judged_by_what_was_before_it():
    quiet = between(BEFORE, after(0.01), own_cpu_s=0)
    busy = marks((0.0, 0.0), (0.5, 0.25), (0.59, 0.295), (0.6, 0.3))
    assert busy.of_trial(quiet).foreign_cpu == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("foreign", "ready_s", "stall_s", "share"),
    [
        (0.3, 0.0, None, 0.0),  # others elsewhere: no thread waited
        (0.3, 0.15, None, 0.25),  # of 0.6 s that others used in 2 s it waited for 0.15
        (0.3, 3.0, None, 1.0),  # its own threads took the rest of the waiting from each other
        (0.3, None, 0.5, 0.25),  # the group stalled for a quarter of the time
        (0.3, None, None, None),
    ],
)
def test_what_neighbours_took_is_no_more_than_what_was_waited_for(foreign, ready_s, stall_s, share):
    expected = None if share is None else pytest.approx(share)
    assert waited_share(foreign, 2.0, ready_s, stall_s) == expected


@pytest.mark.parametrize(("threads_share", "met"), [(False, 0.0), (True, 0.25)])
def test_on_cores_of_their_own_neighbours_meet_a_trial_only_as_far_as_it_waits(
    monkeypatch, threads_share, met
):
    monkeypatch.setattr(interference, "physical_cores", lambda: 4)
    monkeypatch.setattr(interference, "threads_share_cores", lambda: threads_share)
    assert interference.exposure(1.0, 0.0) == met
    assert interference.exposure(1.0, 0.6) == 0.6
    assert interference.exposure(1.0, None) == 0.25, "nobody knows what it lost"
