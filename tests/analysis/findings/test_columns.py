import numpy as np
import pandas as pd
import pytest

from analysis.findings.made import found, plain_trials
from deadzone import fit_phases


@pytest.mark.parametrize("values", [("A", "B"), (16, 32), (False, True)])
def test_a_setting_that_changes_with_the_knob_is_named(values):
    table = plain_trials().assign(machine=lambda t: np.where(t["n"] >= 4, values[1], values[0]))
    one = found(table)["levels_confounded"]
    assert one.severity == "doubts"
    assert "machine changes with n" in one.sentence and "n 4" in one.sentence
    assert "machine changes" in fit_phases(table, "n", "wall_s").recommend().reason


@pytest.mark.parametrize("replicates", [1, 6])
def test_two_options_that_move_together_are_named_and_one_that_is_measured_is_not(replicates):
    """wrk -t1 -c10, -t2 -c20, ...: what holds of threads holds of connections."""
    table = plain_trials().rename(columns={"n": "threads"}).groupby("threads").head(replicates)
    both = table.assign(connections=10 * table["threads"])
    asked = {"knob": "threads", "only": "levels_confounded"}
    (one,) = found(both, **asked).values()
    assert "connections moves with threads (10 to 80): " in one.sentence
    assert "the answer is for both together" in one.sentence
    assert not found(both, by=("connections",), **asked)
    for column in (
        {"workers": both["threads"]},
        {"connections": 10},
        {"requests": 1 / table["wall_s"]},
        {"threads_used": 10 * table["threads"]},
        {"cores": 1.1 * table["threads"]},
        {"connections": both["connections"], "run_id": "a"},  # a run counted them
    ):
        assert not found(table.assign(**column), **asked)


@pytest.mark.parametrize("apart", [1.15, 2.0])
def test_a_setting_that_splits_the_trials_of_a_level_is_named_before_other_causes(apart):
    table = plain_trials(2)
    wide = table.index % 2 == 0
    slower = table["wall_s"] * np.where(wide, apart, 1)
    bits = np.where(wide, 64, 32)
    table = table.assign(bits=bits, wall_s=slower, allocated_bytes=1000 * bits)
    told = found(table)
    assert "--by bits" in told["other_factor"].sentence and "work_differs" not in told
    assert "other_factor" not in found(table, by=("bits",))


def test_a_setting_splits_trials_though_some_levels_scatter_far_more_than_others():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"n": np.repeat([1, 2, 3, 4, 6, 8, 12, 16], 10)})
    scatter = np.where(table["n"] >= 12, 0.3, 0.03) * rng.standard_normal(len(table))
    second = table.index % 2 == 1
    wall = 5 * np.exp(scatter) * np.where(second, 1.3, 1)
    table = table.assign(codec=np.where(second, "b", "a"), wall_s=wall)
    assert "--by codec" in found(table)["other_factor"].sentence
    assert "other_factor" not in found(table.assign(wall_s=5 * np.exp(scatter)))


def test_a_set_amount_of_work_that_goes_with_the_knob_stops():
    work = {"threads": [1, 4, 16], "wall_s": [64.8, 24.5, 165], "iterations": [100, 100, 1000]}
    one = found(pd.DataFrame(work), knob="threads")["work_differs"]
    assert one.severity == "stops" and "from 100 to 1,000:" in one.sentence


@pytest.mark.parametrize(
    "column",
    [lambda t: {"compiler": "gcc"}, lambda t: {"label": np.where(t["n"] >= 4, "a", "b")},
     lambda t: {"name": t["n"].map("threads={}".format)}, lambda t: {"peak_mb": 100 + t["n"]},
     lambda t: {"machine": np.where(t.index % 2 == 0, "A", "B")},
     lambda t: {"faults": 10 + t.index % 3}, lambda t: {"notes": np.where(t["n"] >= 4, "hot", "")}],
)  # fmt: skip
def test_other_columns_are_left_in_peace(column):
    for seed in range(3):
        table = plain_trials(seed)
        told = found(table.assign(**column(table)))
        assert not {"other_factor", "levels_confounded"} & set(told)


def test_a_knob_that_is_the_product_of_two_columns_is_named_with_its_splits():
    """CPUs of JDFTx as processes times threads (github.com/shankar1729/jdftx/issues/143)."""
    rows = [(6, 2, 3, 21.8), (6, 3, 2, 22.1), (6, 6, 1, 24.8), (8, 4, 2, 16.5), (8, 8, 1, 21.2),
            (12, 3, 4, 13.1), (12, 4, 3, 13.6), (4, 2, 2, 30.9), (4, 4, 1, 37.9)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["CPUs", "processes", "threadsPerProcess", "time_s"])
    advice = fit_phases(table, "CPUs", "time_s").recommend()
    assert advice.setting == 12 and "CPUs is processes times threadsPerProcess" in advice.doubt
    alike = table.assign(time_s=100 / table["CPUs"] ** 0.8)
    assert "other_factor" not in {one.key for one in fit_phases(alike, "CPUs", "time_s").findings}
