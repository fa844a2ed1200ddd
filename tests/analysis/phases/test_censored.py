import re

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.censored import completed, is_bound, without_end
from deadzone.analysis.phases.fit import fit_phases


def slowing(limit, seed=0, replicates=20, noise=0.2):
    """A program that takes longer the larger n is, stopped at the limit [s]; what it would have
    taken is in `true_s`."""
    rng = np.random.default_rng(seed)
    n = np.repeat([1, 2, 4, 8], replicates)
    true_s = 0.5 * n**0.5 * np.exp(noise * rng.standard_normal(len(n)))
    stopped = true_s > limit
    status, wall_s = np.where(stopped, "timeout", "ok"), np.minimum(true_s, limit)
    return pd.DataFrame({"n": n, "wall_s": wall_s, "status": status, "true_s": true_s})


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
    assert completed(told, ["n"], "wall_s").equals(told), "what was completed stays"


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


def with_endless(times, endless, limit=2.0):
    """Three trials at each level of n; those of some levels were stopped at the limit [s]."""
    rng = np.random.default_rng(3)
    n = np.repeat(list(times), 3)
    wall = np.repeat(list(times.values()), 3) * np.exp(0.01 * rng.standard_normal(len(n)))
    stopped = np.isin(n, endless)
    status = np.where(stopped, "timeout", "ok")
    return pd.DataFrame({"n": n, "wall_s": np.where(stopped, limit, wall), "status": status})


@pytest.mark.parametrize(
    ("times", "endless", "ends", "sentence"),
    [({1: 0.21, 2: 0.21, 4: 0.212, 8: 9}, [8], (1, 4), "At n 8 the response is longer than 2.0"),
     ({1: 9, 2: 0.4, 4: 0.2, 8: 0.2}, [1], (2, 8), "At n 1 the response"),
     ({1: 0.8, 2: 0.4, 4: 0.2, 8: 9, 16: 9}, [8, 16], (1, 4), "At n 8 and n 16 the response"),
     ({1: 0.8, 2: 0.4, 4: 9, 8: 0.2, 16: 0.2}, [4], (1, 16), "At n 4 the response"),
     ({1: 0.2, 2: 0.2, 4: 0.2, 8: 9}, [8], (1, 4), ".*10.1 times the best or more")],
)  # fmt: skip
def test_a_phase_ends_at_the_last_level_with_trials_and_of_others_the_bound_is_told_once(
    times, endless, ends, sentence
):
    model = fit_phases(with_endless(times, endless), "n", "wall_s")
    assert (model.phases["start"].min(), model.phases["stop"].max()) == ends
    assert not set(endless) & set(model.levels["level"])
    (told,) = [str(warning) for warning in model.warnings if "time-out" in warning]
    assert re.match(sentence, told)


def test_where_too_few_levels_are_left_the_bound_stays_in_the_fit():
    table = with_endless({1: 0.8, 2: 0.4, 4: 9}, [4])
    assert not without_end(table, ["n"], "wall_s").any()
    assert 4 in set(fit_phases(table, "n", "wall_s").levels["level"])
