import dataclasses
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.measurement import NO_INTERFERENCE, Measurement
from deadzone.run.trust import NeighbourEffect, doubts
from deadzone.study.spec import TrustSpec

QUIET = dataclasses.replace(NO_INTERFERENCE, foreign_cpu=0.02, foreign_cpu_resolution=0.01)


def trial(nr_throttled=0, **seen):
    counted = {"user_s": 1.0, "sys_s": 0.5, "nr_periods": 20, "nr_throttled": nr_throttled}
    seen = dataclasses.replace(QUIET, **seen)
    return Measurement("2026-02-06T00:00:00.000+00:00", 2.0, 0, "ok", interference=seen, **counted)


def doubted(limit="none", *, harmless=False, **seen):
    return doubts(trial(**seen), limit, TrustSpec(), harmless=harmless)


def test_a_quiet_trial_is_trusted_and_throttling_under_a_limit_is_what_was_meant():
    assert doubted() == doubted(0.5, nr_throttled=20) == ()
    assert trial().cpu_efficiency == 0.75


def test_what_a_trial_itself_stalled_on_is_what_it_measures():
    memory = {"memory_pressure": 0.5, "own_memory_pressure": 0.45}
    assert doubted(**memory, io_pressure=0.5, own_io_pressure=0.42) == ()
    others = doubted(memory_pressure=0.5, own_memory_pressure=0.2)
    assert others == ("tasks stalled on memory 30.0% of the time (threshold 10%)",)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [({"foreign_cpu": 0.4}, "other processes used 0.40 cores (threshold 0.15)"),
     ({"steal": 0.2}, "the hypervisor withheld 0.200 cores (threshold 0.05)"),
     ({"memory_pressure": 0.3}, "tasks stalled on memory 30.0% of the time (threshold 10%)"),
     ({"io_pressure": 0.25}, "tasks stalled on I/O 25.0% of the time (threshold 10%)"),
     ({"clock_drift": 0.05}, "the clocks disagree by 5.0% (threshold 1.0%)"),
     ({"nr_throttled": 3}, "throttled in 3 periods although it had no limit")],
)  # fmt: skip
def test_each_disturbance_is_a_reason_with_its_figure(seen, reason):
    assert doubted(**seen) == (reason,)


def test_all_reasons_are_told():
    assert len(doubted(foreign_cpu=1, steal=1, clock_drift=1)) == 3


def test_a_short_trial_is_not_doubted_for_what_the_kernels_tick_cannot_tell():
    assert doubted(foreign_cpu=0.7, foreign_cpu_resolution=0.6) == ()
    assert doubted(foreign_cpu=0.8, foreign_cpu_resolution=0.6) != ()


@given(st.floats(0, 8), st.floats(0.01, 4))
def test_the_studys_own_threshold_decides(foreign, threshold):
    found = doubts(trial(foreign_cpu=foreign), "none", TrustSpec(max_foreign_cpu=threshold))
    assert bool(found) == (foreign > threshold + QUIET.foreign_cpu_resolution)


def test_what_does_not_meet_the_trial_is_no_reason():
    assert doubted(foreign_cpu=0.3, exposure=0.05) == doubted(foreign_cpu=0.3, exposure=0.0) == ()
    assert doubted(foreign_cpu=0.3, exposure=1.0)


def test_neighbours_that_make_no_difference_in_this_run_are_no_reason_and_others_stay_one():
    assert doubted(foreign_cpu=0.4, harmless=True) == ()
    assert len(doubted(foreign_cpu=0.4, steal=0.2, harmless=True)) == 1


ENDED_WELL = {"status": "ok", "warmup": False, "responses": {}}


def learned(
    slowed_by, noise=0.02, attempts=30, beside=lambda draw: draw.choice([0.0, 0.4]), **changes
):
    """A run whose trials are slowed by a share for each core that neighbours use."""
    harm, draw = NeighbourEffect("wall_s"), random.Random(3)
    for i in range(attempts):
        foreign = beside(draw)
        value = (1 + i % 3) * math.exp(slowed_by * foreign + draw.gauss(0, noise))
        record = {**ENDED_WELL, "levels": {"n": i % 3}, "foreign_cpu": foreign}
        harm.add({**record, "wall_s": value, **changes})
    return harm


def test_neighbours_on_cores_of_their_own_are_learned_to_do_no_harm_up_to_what_was_seen():
    assert learned(0.0).is_none(0.4)
    assert not learned(0.0).is_none(4.0)


@pytest.mark.parametrize(
    ("slowed_by", "how"),
    [
        (0.5, {}),
        (-0.5, {}),
        (0.0, {"beside": lambda _: 0.4}),  # always there: cannot be judged
        (0.0, {"beside": lambda draw: 0.4 + draw.gauss(0, 0.01)}),
        (0.0, {"attempts": 8}),
        (0.0, {"noise": 0.3}),
        (0.0, {"status": "failed"}),
        (0.0, {"warmup": True}),
    ],
)
def test_what_changes_the_response_or_teaches_too_little_is_not_taken_for_harmless(slowed_by, how):
    assert not learned(slowed_by, **how).is_none(0.4)


@pytest.mark.parametrize(
    ("cores", "is_steady"),
    [
        ([0.5, 0.52, 0.48, 0.5, 0.51, 0.47], True),
        ([0.0] * 6, True),
        ([0.5] * 5, False),  # too few to tell
        ([0.5, 0.5, 0.0, 0.5, 0.5, 0.5], False),
        ([3.0, 2.6, 2.9, 2.4, 2.8, 3.0], True),
        ([0.0, 0.5, *[0.5] * 5], True),
    ],
)
def test_what_others_use_hardly_varies_where_the_latest_attempts_are_alike(cores, is_steady):
    draw = iter(cores)
    learnt = learned(0.0, attempts=len(cores), beside=lambda _: next(draw))
    assert learnt.is_steady == is_steady


def test_the_response_that_the_study_asks_for_is_what_counts():
    harm = learned(0.5, responses={"rate": 5.0})
    assert not harm.is_none(0.4), "a response of the journal is its own"
    rate = NeighbourEffect("rate")
    for i in range(30):
        record = {**ENDED_WELL, "levels": {}, "responses": {"rate": 5.0}}
        rate.add({**record, "foreign_cpu": 0.4 * (i % 2), "wall_s": 1.0 + i % 2})
    assert rate.is_none(0.4)
