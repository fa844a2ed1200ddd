"""A time-out is a bound on the response: it enters the fit as such, never as missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.censored import completed, is_bound
from deadzone.analysis.phases.fit import fit_phases


def slowing(limit, seed=0, replicates=20, noise=0.2):
    """A program that takes longer the larger n is, stopped at the limit [s]; what it would have
    taken is in `true_s`."""
    rng = np.random.default_rng(seed)
    n = np.repeat([1, 2, 4, 8], replicates)
    true_s = 0.5 * n**0.5 * np.exp(noise * rng.standard_normal(len(n)))
    stopped = true_s > limit
    status = np.where(stopped, "timeout", "ok")
    return pd.DataFrame(
        {"n": n, "wall_s": np.minimum(true_s, limit), "status": status, "true_s": true_s}
    )


def level(table, n):
    return float(np.log(table.loc[table["n"] == n, "wall_s"]).mean())


def test_the_level_is_found_of_which_a_third_was_stopped():
    errors, naive = [], []
    for seed in range(20):
        table = slowing(limit=1.5, seed=seed)
        truth = np.log(0.5 * 8**0.5)
        errors.append(level(completed(table, ["n"], "wall_s"), 8) - truth)
        naive.append(level(table[table["status"] == "ok"], 8) - truth)
    assert abs(np.mean(errors)) < 0.03, "unbiased, where the survivors alone look faster"
    assert np.mean(naive) < -0.08


def test_what_was_stopped_is_never_faster_than_its_bound_and_the_others_stay():
    table = slowing(limit=1.2)
    told = completed(table, ["n"], "wall_s")
    bound = is_bound(table, "wall_s")
    assert (told["wall_s"] >= table["wall_s"]).all() and bound.sum() > 5
    assert np.allclose(told.loc[~bound, "wall_s"], table.loc[~bound, "wall_s"])


def test_of_a_level_that_never_ended_the_bound_is_kept_once():
    table = slowing(limit=0.9)
    told = completed(table, ["n"], "wall_s")
    assert (table.loc[table["n"] == 8, "status"] == "timeout").all()
    assert told.loc[told["n"] == 8, "wall_s"].tolist() == pytest.approx([0.9])


def test_a_bound_is_one_of_wall_time_only():
    table = slowing(limit=1.2).assign(took=1.0)
    assert not is_bound(table, "took").any()
    assert not is_bound(table.drop(columns="status"), "wall_s").any()
    assert completed(table, ["n"], "took").equals(table)


def test_a_fit_says_how_many_bounds_it_rests_on_and_sees_the_slow_level():
    table = slowing(limit=1.2)
    model = fit_phases(table, "n", "wall_s")
    assert any("stopped by the time-out" in one for one in model.warnings)
    fitted = model.levels.set_index("level")["fitted"]
    assert fitted[8.0] > 1.15 > fitted[4.0]
