from functools import lru_cache
from itertools import pairwise

import numpy as np
import pandas as pd
from benchmarks.synthetic.curves import draw_tier
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadzone.analysis.phases.fit import fit_phases

quick = settings(suppress_health_check=[HealthCheck.too_slow])
tiers = st.sampled_from(["typical", "single", "real", "other_short"])
seeds = st.integers(0, 3)


@lru_cache
def table(tier, seed):
    """Trials of a curve, at six to eleven levels over its whole range."""
    curve = draw_tier(tier, 1, seed)[0]
    levels = curve.levels[:: max(len(curve.levels) // 6, 1)]
    frame = pd.DataFrame({"knob": curve.x, "wall_s": curve.y})
    return frame[frame["knob"].isin(levels)]


@lru_cache
def fitted(tier, seed):
    return fit_phases(table(tier, seed), "knob", "wall_s")


def labels(frame, goal="min"):
    return fit_phases(frame, "knob", "wall_s", goal).step_labels


units = st.sampled_from([1e-3, 0.1, 1.0, 7.0, 1e6])


@quick
@given(tiers, seeds, units, units, st.sampled_from(["min", "max"]))
def test_another_unit_of_response_or_knob_or_a_rate_in_place_of_a_time_changes_no_label(
    tier, seed, of_response, of_knob, goal
):
    frame = table(tier, seed)
    wall_s = (frame["wall_s"] if goal == "min" else 1 / frame["wall_s"]) * of_response
    other = frame.assign(wall_s=wall_s, knob=frame["knob"] * of_knob)
    assert labels(other, goal) == fitted(tier, seed).step_labels


@quick
@given(tiers, seeds, st.integers(0, 99))
def test_the_order_of_the_rows_changes_nothing(tier, seed, shuffle):
    frame = table(tier, seed)
    mixed = frame.sample(frac=1.0, random_state=shuffle)
    one, other = fitted(tier, seed), fit_phases(mixed, "knob", "wall_s")
    pd.testing.assert_frame_equal(one.phases, other.phases)
    pd.testing.assert_frame_equal(one.levels, other.levels)


@quick
@given(st.sampled_from(["typical", "real", "single"]), seeds)
def test_measuring_everything_twice_never_loses_a_phase(tier, seed):
    frame = table(tier, seed)
    once, twice = fitted(tier, seed).step_labels, labels(pd.concat([frame, frame]))
    changes = [sum(a != b for a, b in pairwise(found)) for found in (once, twice)]
    assert changes[1] >= changes[0]


@quick
@given(tiers, seeds)
def test_tables_agree_with_each_other(tier, seed):
    model = fitted(tier, seed)
    p = model.steps.filter(like="p_")
    assert np.allclose(p.sum(axis=1), 1.0)
    assert (model.phases["elasticity_low"] <= model.phases["elasticity"]).all()
    assert (model.phases["elasticity"] <= model.phases["elasticity_high"]).all()
    assert model.phases["start"].tolist()[1:] == model.phases["stop"].tolist()[:-1]
    assert len(model.joints) == len(model.phases) - 1
    assert (model.joints["low"] <= model.joints["level"]).all()
    assert (model.joints["level"] <= model.joints["high"]).all()
    assert len(model.step_labels) == model.n_levels - 1
    assert model.levels["n"].sum() == model.n_trials
    assert (model.levels["fitted_low"] <= model.levels["fitted_high"]).all()
