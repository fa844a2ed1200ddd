import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective
from deadzone.store.histograms import encoded, series
from deadzone_load.capacity.cells import cells_of, trial_counts
from deadzone_load.capacity.cold_start import cold_starts


def histograms(seconds: dict[int, dict[int, float]]) -> pd.DataFrame:
    """Slices of a second, from the typical latency [ms] by trial and second."""
    rng = np.random.default_rng(2)
    rows = []
    for trial, course in seconds.items():
        for t, ms in course.items():
            drawn = encoded(1e3 * ms * np.exp(0.1 * rng.standard_normal(200)))
            rows.append(("run", trial, 1, "latency_us", float(t), 1.0, 200, drawn))
    names = ["run_id", "trial", "attempt", "metric", "t_s", "duration_s", "count", "histogram"]
    return pd.DataFrame(rows, columns=names)


COURSES = {
    1: {t: 300.0 if t < 3 else 10.0 for t in range(-2, 18)},
    2: dict.fromkeys(range(-2, 18), 10.0),
    3: {t: 80.0 if t < 0 else 10.0 for t in range(-2, 18)},
}


def test_a_warm_up_that_reaches_into_the_window_is_found_and_one_before_it_is_no_harm():
    found = cold_starts(series(histograms(COURSES)))
    assert found["begins_s"].to_dict() == {1: 3.0, 2: 0.0, 3: 0.0}
    assert [*found.index[found["matters"]]] == [1, 3]
    assert found["discard_s"].max() == 5.0
    assert 25 < found["first_ms"][1] / found["steady_ms"][1] < 35


def test_the_steady_state_is_free_of_the_warm_up_unless_it_is_asked_for():
    slices = histograms(COURSES)
    objective = Objective("latency_mean_ms", "at_most", 20.0)
    trials = pd.DataFrame(
        {"trial": [1, 2, 3], "pool_size": 8, "rate": 200, "latency_mean_ms": [50.0, 10.0, 10.0]}
    )
    steady = trial_counts(slices, cold_starts(series(slices))["begins_s"].to_dict())
    mixed = trial_counts(slices, {})
    cell = cells_of(trials, "pool_size", "rate", [objective], steady)[8, 200]
    assert (abs(cell.values["latency_mean_ms"] - 10) < 0.5).all()
    cell = cells_of(trials, "pool_size", "rate", [objective], mixed)[8, 200]
    assert cell.values["latency_mean_ms"][0] > 40


def test_short_trials_are_left_out():
    assert cold_starts(series(histograms({1: {0: 5.0, 1: 5.0}}))).empty
