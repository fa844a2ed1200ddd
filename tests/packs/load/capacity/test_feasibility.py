from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.synthetic.services import simulated_cells, simulated_service

import deadzone as dz
from deadzone.analysis.objectives.bounds import Objective
from deadzone_load.capacity.cells import cells_of
from deadzone_load.capacity.feasibility import CONFIDENCE, feasibility

MEAN = Objective("latency_mean_ms", "at_most", 40.0)


def table(cells, column="latency_mean_ms"):
    """Trials from values by (pool, rate)."""
    rows = [
        {"pool_size": pool, "rate": rate, column: value}
        for (pool, rate), values in cells.items()
        for value in values
    ]
    return pd.DataFrame(rows).assign(trial=range(1, len(rows) + 1))


def judged(trials: pd.DataFrame, *objectives: Objective):
    return feasibility(cells_of(trials, "pool_size", "rate", objectives), objectives)


CLEAR = {
    (4, 100): [60, 62, 61], (8, 100): [20, 21, 20.5], (16, 100): [15, 15.2, 14.9],
    (64, 100): [22, 21, 23], (4, 300): [900, 950, 870], (8, 300): [33, 34, 32.5],
    (16, 300): [18, 18.4, 18.1], (64, 300): [88, 90, 91],
}  # fmt: skip


def test_the_smallest_pool_the_capacity_and_the_region_of_a_clear_case():
    found = judged(table(CLEAR), MEAN)
    assert found.smallest(100).pool == found.smallest(300).pool == 8
    assert found.smallest(300).sure[8] >= CONFIDENCE
    assert (found.confidence.loc[300] >= CONFIDENCE).tolist() == [False, True, True, False]
    assert found.capacity(4)["rate_shown"] is None and found.capacity(4)["rate_high"] == 0
    assert found.capacity(64)["rate_shown"] == 100
    assert found.capacity(64)["limited_by"] == "latency_mean_ms"
    assert found.capacity(16)["rate_shown"] == found.capacity(16)["rate_high"] == 300


def test_a_bound_of_no_failure_is_about_the_next_trial_and_none_seen_lies_below_another():
    none = table({(8, 100): [0] * 20}, "checks_failed")
    assert judged(none, Objective("checks_failed", "at_most", 0.0)).smallest(100).pool == 8
    assert judged(none[:3], Objective("checks_failed", "at_most", 0.0)).smallest(100).pool is None
    assert judged(none[:3], Objective("checks_failed", "at_most", 1.0)).smallest(100).pool == 8


def test_a_table_is_read_as_a_fit_reads_it():
    """More of a rate is better, units, words of success, trials that count anew in each cell."""
    cells = {(pool, 400): [pool * 25 * noise for noise in (0.99, 1, 1.01)] for pool in (4, 8, 16)}
    frame = table(cells, "achieved_rate").assign(trial=[1, 2, 3] * 3, status="success")
    said = dz.capacity(frame, "pool_size", "rate", response="achieved_rate").verdict()
    assert "Set pool size 16" in said and "More hurts" not in said
    frame["p99_ms"] = ["140 ms", "139 ms", "141 ms"] + ["20 ms", "21 ms", "22 ms"] * 2
    bound = {"p99_ms": "100 ms"}
    assert dz.capacity(frame, "pool_size", "rate", bound).smallest(400).pool == 8
    frame.loc[5, "status"] = "failed"
    assert dz.capacity(frame, "pool_size", "rate", bound).smallest(400).pool == 16


def test_a_cell_on_the_line_is_undecided_and_named_so():
    cells = {**CLEAR, (8, 300): [37, 43, 40.5]}
    found = judged(table(cells), MEAN).smallest(300)
    assert found.pool == 16 and found.undecided == (8,)


def test_more_trials_of_the_same_scatter_are_surer():
    rng = np.random.default_rng(1)
    sure = []
    for n in (2, 5, 20):
        drawn = rng.standard_normal(n)
        cells = {(8, 100): 37 * np.exp(0.06 * (drawn - drawn.mean()) / drawn.std(ddof=1))}
        sure.append(judged(table(cells), MEAN).sure[8, 100])
    assert sure[0] < sure[1] < sure[2]


def test_cells_beyond_their_limit_do_not_make_those_unsure_that_bear_their_load():
    """Three trials of each pool at three rates: what a full server answers scatters by a tenth,
    what an idle one answers by a ten-thousandth."""
    calm, full = [1.0, 0.9998, 0.9999], [0.6, 0.72, 0.55]
    cells = {(pool, rate): calm for pool in (8, 16, 32) for rate in (100, 200)}
    cells |= {(4, 100): full, (4, 200): [0.5, 0.4, 0.45], (64, 200): [0.7, 0.9, 0.8]}
    share = Objective("achieved_share", "at_least", 0.99)
    found = judged(table(cells, "achieved_share"), share)
    assert found.smallest(200).pool == 8 and found.smallest(200).sure[4] < 0.05


def test_a_largest_value_that_was_exceeded_once_is_missed():
    longest = Objective("latency_max_ms", "at_most", 100.0)
    cells = {(8, 100): [60, 70, 130], (16, 100): [60, 61, 62]}
    found = judged(table(cells, "latency_max_ms"), longest)
    assert found.sure[8, 100] == 0 and found.missed((8, 100)) == (longest,)
    assert found.sure[16, 100] > 0.9


def test_all_objectives_count_and_the_missed_one_is_named():
    share = Objective("achieved_share", "at_least", 0.99)
    trials = table({(4, 100): [10, 10.1, 10.2], (8, 100): [12, 12.1, 12.2]})
    trials = trials.assign(achieved_rate=[80, 81, 80, 100, 100, 100], offered_rate=100.0)
    found = judged(trials, MEAN, share)
    assert found.missed((4, 100)) == (share,) and found.missed((8, 100)) == ()
    assert found.smallest(100).pool == 8


def test_errors_that_were_not_seen_are_not_ruled_out():
    errors = Objective("error_share", "at_most", 0.001)
    few = table({(8, 100): [10, 10, 10]}).assign(errors=0, requests=100)
    many = few.assign(requests=100_000)
    assert judged(few, errors).sure[8, 100] < CONFIDENCE
    assert judged(many, errors).sure[8, 100] >= CONFIDENCE


@pytest.mark.parametrize(
    "error",
    ["generator saturated: 9 ms late",
     "the generator ran out of file descriptors or local ports 7 times (1,024 files may be "
     "open)",
     "the generator stopped: MemoryError", "k6 ended with exit code 107: a mistake in the script",
     "locust left no summary: it is empty", "the cpu profile was not taken: nothing answers"],
)  # fmt: skip
def test_a_trial_that_the_server_failed_misses_and_one_whose_load_was_not_made_says_nothing(error):
    trials = table(CLEAR).assign(status="ok", error=None)
    closed = ["failed", "the server closed the port"]
    trials.loc[trials["pool_size"] == 8, ["status", "error"]] = closed
    trials.loc[trials["pool_size"] == 16, ["status", "error"]] = ["failed", error]
    found = judged(trials, MEAN)
    assert found.sure[8, 100] == 0
    assert (16, 100) not in found.sure and np.isnan(found.confidence.loc[100, 16])
    assert found.smallest(100).pool == 64
    assert found.capacity(16) is None


@pytest.mark.parametrize(("pool", "rate"), [(16, 100), (8, 300)])
def test_no_capacity_is_claimed_beyond_a_load_that_was_not_made(pool, rate):
    trials = table(CLEAR).assign(status="ok", error=None)
    unmade = (trials["pool_size"] == pool) & (trials["rate"] == rate)
    trials.loc[unmade, ["status", "error"]] = ["failed", "generator saturated: 9 ms late"]
    found = judged(trials, MEAN).capacity(pool)
    assert found is None if rate == 100 else found["rate_shown"] == 100


@pytest.mark.parametrize(("status", "error"), [(None, None), ("failed", "")])
def test_a_trial_without_a_reason_is_told_by_its_status(status, error):
    trials = table(CLEAR).assign(status="ok", error=None)
    trials = trials.astype({"status": object, "error": object})
    trials.loc[trials["pool_size"] == 8, ["status", "error"]] = [status, error]
    assert judged(trials, MEAN).cells[8, 100].failed == (str(status),) * 3


def test_a_confidence_means_what_it_says():
    rng = np.random.default_rng(4)
    said, true, chosen = [], [], []
    for _ in range(40):
        truth = simulated_service(rng, pools=(4.0, 8.0, 16.0, 32.0), rates=(100.0, 300.0))
        bound = 1.2 * float(np.median(truth.typical_ms))
        objective = Objective("latency_mean_ms", "at_most", bound)
        cells = simulated_cells(truth, [objective], rng, 4, 100, has_histograms=False)
        found = feasibility(cells, [objective])
        for place, confidence in found.sure.items():
            said.append(confidence)
            true.append(truth.meets([objective], *place))
        pools = [(found.smallest(rate).pool, rate) for rate in (100.0, 300.0)]
        chosen += [truth.meets([objective], pool, rate) for pool, rate in pools if pool is not None]
    assert abs(np.mean(said) - np.mean(true)) < 0.03
    assert np.mean((np.array(said) - np.array(true)) ** 2) < 0.03
    assert np.mean(chosen) >= 0.95


def test_one_trial_with_its_histogram_is_surer_the_more_requests_it_holds():
    objective = Objective("latency_p99_ms", "at_most", 35.0)
    sure = []
    for requests in (200, 20_000):
        rng = np.random.default_rng(6)
        truth = simulated_service(rng, scatter=1e-4, pools=(4.0, 8.0, 16.0), rates=(100.0,))
        near = replace(objective, bound=1.08 * truth.value(objective, 8.0, 100.0))
        found = feasibility(simulated_cells(truth, [near], rng, 1, requests), [near])
        sure.append(found.sure[8.0, 100.0])
        assert not found.scatter_known
    assert sure[0] < 0.98 < 0.99 < sure[1]
