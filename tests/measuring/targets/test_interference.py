"""Interference between two readings of the machine, worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest

from deadzone.measuring.targets.interference import TICK_S, MachineReading, between, read_machine, stalled_s

BEFORE = MachineReading(
    busy_s=100.0,
    steal_s=5.0,
    memory_stall_s=1.0,
    io_stall_s=None,
    monotonic_s=1000.0,
    wall_clock_s=2000.0,
    boot_clock_s=1000.0,
)


def after(elapsed=2.0, **changes):
    later = {
        name: getattr(BEFORE, name) + elapsed for name in ("monotonic_s", "wall_clock_s", "boot_clock_s")
    }
    return dataclasses.replace(BEFORE, **{**later, **changes})


def test_foreign_cpu_is_the_busy_time_that_was_not_the_trials_own():
    seen = between(BEFORE, after(busy_s=103.0), own_cpu_s=2.0)
    assert seen.foreign_cpu == pytest.approx(0.5)  # (3 - 2) s over 2 s
    assert seen.foreign_cpu_resolution == pytest.approx(3 * TICK_S / 2)


def test_more_own_cpu_than_the_tick_counted_is_no_negative_neighbour():
    assert between(BEFORE, after(busy_s=100.5), own_cpu_s=0.52).foreign_cpu == 0


def test_steal_and_pressure_are_shares_of_the_time():
    seen = between(BEFORE, after(steal_s=5.2, memory_stall_s=1.5), own_cpu_s=0)
    assert seen.steal == pytest.approx(0.1)
    assert seen.memory_pressure == pytest.approx(0.25)
    assert seen.io_pressure is None


@pytest.mark.parametrize(
    "change",
    [
        {"wall_clock_s": 2000.0 + 2.0 + 0.1},
        {"wall_clock_s": 2000.0 + 2.0 - 0.1},
        {"boot_clock_s": 1000.0 + 2.0 + 0.1},
    ],
    ids=["the wall clock was put forward", "or back", "the machine was suspended"],
)
def test_clocks_that_disagree_show(change):
    assert between(BEFORE, after(**change), own_cpu_s=0).clock_drift == pytest.approx(0.05)


def test_the_machines_totals_only_grow():
    first, second = read_machine(), read_machine()
    assert second.busy_s >= first.busy_s > 0
    assert second.steal_s >= first.steal_s
    assert second.monotonic_s > first.monotonic_s


def test_a_kernel_without_pressure_has_none():
    assert stalled_s("no-such-resource") is None
