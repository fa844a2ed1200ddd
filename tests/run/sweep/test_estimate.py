"""How long it will take, in figures and in words."""

import pytest

from deadzone.language.formats import duration
from deadzone.run.sweep.forecast import REMEMBERED, RemainingTime
from deadzone.study.design import PlannedTrial, Treatment


def planned(*limits):
    return [
        PlannedTrial(n, 1, 1, False, Treatment({"cpu_limit": limit}))
        for n, limit in enumerate(limits, 1)
    ]


def measured(limit, wall_s, attempt=1, final=True):
    return {"levels": {"cpu_limit": limit}, "wall_s": wall_s, "attempt": attempt, "final": final}


def test_a_measured_treatment_takes_its_median_and_another_the_mean_of_those():
    records = [measured(1, 2.0), measured(1, 4.0), measured(1, 90.0), measured(2, 1.0)]
    # Left: 1 takes 4, 2 takes 1, 4 was never measured and takes (4 + 1) / 2; each pauses half a
    # second.
    assert RemainingTime(planned(1, 2, 4), 0.5, records).left_s() == pytest.approx(
        4 + 1 + 2.5 + 1.5
    )


def test_before_anything_was_measured_nothing_is_known():
    assert RemainingTime(planned(1, 2), 0).left_s() is None


def test_finished_trials_take_no_more_time():
    trials = planned(1, 1, 2)
    estimate = RemainingTime(trials, 0)
    estimate.add(measured(1, 3.0))
    estimate.finish(trials[0])
    assert estimate.left_s() == pytest.approx(6.0)


def test_trials_that_have_to_be_repeated_take_their_time_again():
    records = [measured(1, 2.0, final=False), measured(1, 2.0, attempt=2), measured(2, 4.0)]
    # Three attempts for two trials: half of those left will be repeated too. The pause is between
    # trials.
    assert RemainingTime(planned(1, 2), 0.5, records).left_s() == pytest.approx(
        1.5 * (2 + 4) + 2 * 0.5
    )


def test_a_machine_that_became_slower_is_noticed():
    estimate = RemainingTime(planned(1), 0)
    for wall_s in [1.0] * 100 + [5.0] * REMEMBERED:
        estimate.add(measured(1, wall_s))
    assert estimate.left_s() == 5.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (45.4, "45 s"),
        (60, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (-1, "0 s"),
    ],
)
def test_durations_are_said_as_people_say_them(seconds, words):
    assert duration(seconds) == words
