"""What neighbours do to the trials of a run is learned from those before, and never from a trial's
own response."""

import math
import random

import pytest

from deadzone.run.trust import NeighbourEffect

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


def test_neighbours_on_cores_of_their_own_are_learned_to_do_no_harm():
    assert learned(0.0).is_none(0.4)


@pytest.mark.parametrize("slowed_by", [0.5, -0.5])
def test_neighbours_that_change_the_response_are_not(slowed_by):
    assert not learned(slowed_by).is_none(0.4)


def test_more_of_them_than_was_seen_is_not_taken_for_harmless():
    assert not learned(0.0).is_none(4.0)


def test_neighbours_that_are_always_there_cannot_be_judged():
    assert not learned(0.0, beside=lambda _: 0.4).is_none(0.4)
    assert not learned(0.0, beside=lambda draw: 0.4 + draw.gauss(0, 0.01)).is_none(0.4)


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


def test_a_few_attempts_or_much_noise_decide_nothing():
    assert not learned(0.0, attempts=8).is_none(0.4)
    assert not learned(0.0, noise=0.3).is_none(0.4)


def test_warm_up_and_failures_teach_nothing():
    assert not learned(0.0, status="failed").is_none(0.4)
    assert not learned(0.0, warmup=True).is_none(0.4)


def test_the_response_that_the_study_asks_for_is_what_counts():
    harm = learned(0.5, responses={"rate": 5.0})
    assert not harm.is_none(0.4), "a response of the journal is its own"
    rate = NeighbourEffect("rate")
    for i in range(30):
        record = {**ENDED_WELL, "levels": {}, "responses": {"rate": 5.0}}
        rate.add({**record, "foreign_cpu": 0.4 * (i % 2), "wall_s": 1.0 + i % 2})
    assert rate.is_none(0.4)
