import pandas as pd
import pytest

from deadzone.analysis.objectives.bounds import Objective, column_values, objectives_of
from deadzone.errors import PhaseError
from deadzone.study.objective_specs import ObjectiveSpec


def test_columns_say_which_statistic_of_which_histogram():
    assert Objective("latency_p99_9_ms", "at_most", 1).percentile == 99.9
    assert Objective("broadcast_mean_ms", "at_most", 1).metric == "broadcast_us"
    assert Objective("latency_max_ms", "at_most", 1).is_extreme
    assert Objective("error_share", "at_most", 1).metric is None


def test_a_bound_on_a_factor_is_the_load_to_bear():
    specs = {"latency_mean_ms": ObjectiveSpec(at_most=40), "rate": ObjectiveSpec(at_least=325)}
    bounds, load = objectives_of(specs, ("pool_size", "rate"))
    assert load == {"rate": 325} and bounds == (Objective("latency_mean_ms", "at_most", 40),)


def test_shares_are_made_from_counts_and_unknown_columns_refused():
    trials = pd.DataFrame({"errors": [1.0], "requests": [99.0]})
    assert column_values(trials, "error_share")[0] == pytest.approx(0.01)
    with pytest.raises(PhaseError, match="Did you mean `errors`"):
        column_values(trials, "error")
