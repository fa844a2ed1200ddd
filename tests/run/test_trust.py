"""Is this trial to be trusted? Each reason by itself, with its figure and threshold."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.measurement import NO_INTERFERENCE, Measurement
from deadzone.run.trust import doubts
from deadzone.study.spec import TrustSpec

QUIET = dataclasses.replace(NO_INTERFERENCE, foreign_cpu=0.02, foreign_cpu_resolution=0.01)


def trial(nr_throttled=0, **seen):
    counted = {"user_s": 1.0, "sys_s": 0.5, "nr_periods": 20, "nr_throttled": nr_throttled}
    seen = dataclasses.replace(QUIET, **seen)
    return Measurement("2026-02-06T00:00:00.000+00:00", 2.0, 0, "ok", interference=seen, **counted)


def test_a_quiet_trial_is_trusted():
    assert doubts(trial(), "none", TrustSpec()) == ()
    assert trial().cpu_efficiency == 0.75


def test_what_a_trial_itself_stalled_on_is_what_it_measures():
    memory = {"memory_pressure": 0.5, "own_memory_pressure": 0.45}
    disk = {"io_pressure": 0.5, "own_io_pressure": 0.42}
    assert doubts(trial(**memory, **disk), "none", TrustSpec()) == ()
    others = doubts(trial(memory_pressure=0.5, own_memory_pressure=0.2), "none", TrustSpec())
    assert others == ("tasks stalled on memory 30% of the time (threshold 10%)",)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"foreign_cpu": 0.4}, "other processes used 0.40 cores (threshold 0.15)"),
        ({"steal": 0.2}, "the hypervisor withheld 0.20 cores (threshold 0.05)"),
        ({"memory_pressure": 0.3}, "tasks stalled on memory 30% of the time (threshold 10%)"),
        ({"io_pressure": 0.25}, "tasks stalled on I/O 25% of the time (threshold 10%)"),
        ({"clock_drift": 0.05}, "the clocks disagree by 5.0% (threshold 1.0%)"),
        ({"nr_throttled": 3}, "throttled in 3 periods although it had no limit"),
    ],
)
def test_each_disturbance_is_a_reason_with_its_figure(seen, reason):
    assert doubts(trial(**seen), "none", TrustSpec()) == (reason,)


def test_throttling_under_a_limit_is_what_was_meant():
    assert doubts(trial(nr_throttled=20), 0.5, TrustSpec()) == ()


def test_a_short_trial_is_not_doubted_for_what_the_kernels_tick_cannot_tell():
    coarse = {"foreign_cpu_resolution": 0.6}
    assert doubts(trial(foreign_cpu=0.7, **coarse), "none", TrustSpec()) == ()
    assert doubts(trial(foreign_cpu=0.8, **coarse), "none", TrustSpec()) != ()


def test_all_reasons_are_told():
    assert len(doubts(trial(foreign_cpu=1, steal=1, clock_drift=1), "none", TrustSpec())) == 3


@given(st.floats(0, 8), st.floats(0.01, 4))
def test_the_studys_own_threshold_decides(foreign, threshold):
    found = doubts(trial(foreign_cpu=foreign), "none", TrustSpec(max_foreign_cpu=threshold))
    assert bool(found) == (foreign > threshold + QUIET.foreign_cpu_resolution)


def test_what_does_not_meet_the_trial_is_no_reason():
    desktop = {"foreign_cpu": 0.3, "exposure": 0.05}
    assert doubts(trial(**desktop), "none", TrustSpec()) == ()
    assert doubts(trial(foreign_cpu=0.3, exposure=0.0), "none", TrustSpec()) == ()
    assert doubts(trial(foreign_cpu=0.3, exposure=1.0), "none", TrustSpec())


def test_neighbours_that_make_no_difference_in_this_run_are_no_reason_and_others_stay_one():
    assert doubts(trial(foreign_cpu=0.4), "none", TrustSpec(), harmless=True) == ()
    assert len(doubts(trial(foreign_cpu=0.4, steal=0.2), "none", TrustSpec(), harmless=True)) == 1
