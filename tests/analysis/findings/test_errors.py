import json

import numpy as np
import pandas as pd
import pytest

from analysis.findings.made import found, plain_trials
from deadzone import fit_phases

LOAD = pd.DataFrame({"client_connections": [1, 2, 4, 8, 16]}).assign(
    achieved_rate=[100, 200, 400, 4000, 8000],
    requests=[1000, 2000, 4000, 40000, 80000],
    errors=[0, 0, 0, 39000, 79500],
)


def errors_in(table, *asked, knob="n"):
    return found(table, *asked, knob=knob, only="errors_by_level").get("errors_by_level")


def test_levels_at_which_most_requests_failed_are_barred_and_named(tmp_path, deadzone):
    LOAD.to_csv(path := tmp_path / "t.csv", index=False)
    asked = ("--knob", "client_connections", "--response", "achieved_rate", "--goal", "max")
    told = json.loads(deadzone("fit", path, *asked, "--json").out)
    (one,) = [one for one in told["findings"] if one["key"] == "errors_by_level"]
    assert one["levels"] == [8, 16]
    assert "118,500 failures next to 120,000 in requests" in one["sentence"]
    assert told["recommendation"]["setting"] == 4
    assert "errors counts 118,500" in told["recommendation"]["reason"]
    assert "edge_of_range" not in {one["key"] for one in told["findings"]}


@pytest.mark.parametrize(
    "columns",
    [lambda n: {"failed_requests": np.where(n >= 6, 30, 0), "total_requests": 100},
     lambda n: {"errorCount": np.where(n >= 6, 30, 0), "samples": 100},
     lambda n: {"error_rate": np.where(n >= 6, 0.3, 0.0)},
     lambda n: {"failed %": np.where(n >= 6, 30.0, 0.5)},
     lambda n: {"failed_share_pct": np.where(n >= 6, 6.0, 0.0)},
     lambda n: {"connect_failed_percent": np.where(n >= 6, 6.0, 0.0)},
     lambda n: {"Timeout Rate": np.where(n >= 6, "11.8%", "1.4%")},
     lambda n: {"Timeouts": np.where(n >= 6, "1,106", "0"), "succeeded_ops": 10_000},
     lambda n: {"timeouts": np.where(n >= 6, 2000, 0), "succeeded_ops": 10_000},
     lambda n: {"failed": np.where(n >= 6, 4286, 0), "complete": 10_000},
     lambda n: {"failed": np.where(n >= 6, 50, 0), "passed": 640},
     lambda n: {"connect_errors": np.where(n >= 6, 55, 0), "connections": 300, "requests": 1e6}],
)  # fmt: skip
def test_counts_and_shares_are_known_by_their_names(columns):
    table = plain_trials(3)
    one = errors_in(table.assign(**columns(table["n"])))
    assert one.levels == (6, 8) and one.severity == "doubts"


@pytest.mark.parametrize("name", ["Error rate (%)", "error_rate_pct", "failure_ratio_percent"])
def test_a_rate_in_per_cent_is_no_fraction(name):
    table = plain_trials(3)
    assert not errors_in(table.assign(**{name: np.where(table["n"] >= 6, 0.3, 0.1)}))


def test_failures_to_connect_are_set_beside_the_knob_of_connections():
    """wrk on a server that refuses most of them
    (github.com/spring-rs/spring-benchmark, java-spring-boot)."""
    counts = {"requests": [653486, 745232, 676983], "connect_errors": [0, 0, 55]}
    rates = [21711.34, 24805.60, 22539.49]
    table = pd.DataFrame({"connections": [100, 200, 300], "req_per_s": rates, **counts})
    one = errors_in(table, "req_per_s", "max", knob="connections")
    assert one.levels == (300,) and "55 failures next to 300 in connections" in one.sentence


def test_a_column_of_any_name_is_one_when_it_is_said():
    table = plain_trials(3)
    table = table.assign(broken=np.where(table["n"] == 4, 0.4, 0.0))
    assert not errors_in(table)
    model = fit_phases(table, "n", "wall_s", failures=("broken",))
    assert [one.levels for one in model.findings if one.key == "errors_by_level"] == [(4,)]
    assert model.recommend().setting != 4


@pytest.mark.parametrize(
    "columns",
    [
        {"errors": [0, 1, 0, 2, 0], "requests": 1000},
        {"errors": [3, 3, 3, 3, 3]},  # nobody knows of how many
        {"std_error": [0.2, 0.3, 0.4, 0.5, 0.2], "requests": 1000},
        {"error_lines": [0, 0, 0, 40, 50], "requests": 10},
        {"max_failures": 100, "requests": 1000},
        {"connect_errors": [0, 0, 0, 1, 40], "max_connections": 8, "requests": 80000},
        {"connect_errors": [0, 0, 0, 1, 40], "connections": 8, "requests": 80000},
        {"timeout_s": 30, "requests": 100},
        {"error_rate": 0.01},
        {"minor_faults": [1, 2, 3, 900, 900], "requests": 1000},
    ],
)
def test_few_failures_and_other_columns_are_left_in_peace(columns):
    table = LOAD[["client_connections", "achieved_rate"]].assign(**columns)
    assert not errors_in(table, "achieved_rate", "max", knob="client_connections")


def test_failures_at_every_level_leave_nothing_to_recommend():
    table = LOAD.assign(errors=LOAD["requests"] // 2)
    model = fit_phases(table, "client_connections", "achieved_rate", "max")
    assert model.recommend().setting is None and model.recommend().state == "stopped"
