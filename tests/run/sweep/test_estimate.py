import pytest

from deadzone.language.formats import duration
from deadzone.run.sweep.forecast import REMEMBERED, TrialTimes
from deadzone.study.design import PlannedTrial, Treatment


def measured(limit, wall_s):
    return {"levels": {"cpu_limit": limit}, "wall_s": wall_s, "attempt": 1, "final": True}


def typical_s(times, limit):
    return times.typical_s(PlannedTrial(1, 1, 1, False, Treatment({"cpu_limit": limit})))


def test_a_measured_treatment_takes_its_median_and_another_the_mean_of_those():
    times = TrialTimes(0.5)
    assert times.further_s(3) is None and typical_s(times, 1) == 0, "nothing was measured"
    for record in [measured(1, 2.0), measured(1, 4.0), measured(1, 90.0), measured(2, 1.0)]:
        times.add(record)
    assert [typical_s(times, limit) for limit in (1, 2, 4)] == [4, 1, 2.5]
    assert times.further_s(3) == pytest.approx(3 * (2.5 + 0.5))
    assert times.measured_s == pytest.approx(97 + 4 * 0.5)


def test_a_machine_that_became_slower_is_noticed():
    records = [measured(1, wall_s) for wall_s in [1.0] * 100 + [5.0] * REMEMBERED]
    assert TrialTimes(0, records).further_s(1) == 5.0


def test_durations_are_said_as_people_say_them():
    said = {-1: "0 s", 0: "0 s", 45.4: "45 s", 60: "1 min 0 s", 200: "3 min 20 s"}
    assert {seconds: duration(seconds) for seconds in said} == said
    assert duration(7500) == "2 h 5 min"
