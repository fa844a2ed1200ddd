from functools import cache

import numpy as np
import pandas as pd
import pytest

import deadzone as dz
from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.errors import PhaseError


def chain(levels, joints, elasticities):
    """True response of a chain of pieces with these elasticities between these joints."""
    x = np.log(joints)
    log_y = 4.0 - np.concatenate([[0.0], np.cumsum(np.array(elasticities) * np.diff(x))])
    return np.exp(np.interp(np.log(levels), x, log_y))


def trials(levels, truth, replicates, noise, seed=0):
    rng = np.random.default_rng(seed)
    x, y = np.tile(levels, replicates), np.tile(truth, replicates)
    block = np.repeat(np.arange(replicates), len(levels))
    wall_s = y * np.exp(noise * rng.standard_normal(len(x)))
    return pd.DataFrame({"cores": x, "wall_s": wall_s, "block": block})


LEVELS = np.arange(1.0, 17.0)
FIVE = ([1, 4, 6, 10, 12, 16], [0.7, -0.2, 0.9, 7.0, 0.0])


@pytest.fixture(scope="module")
def five_phases():
    return trials(LEVELS, chain(LEVELS, *FIVE), 5, 0.02)


@pytest.fixture(scope="module")
def model(five_phases):
    return fit_phases(five_phases, "cores", "wall_s")


def test_five_phases_are_found_with_intervals_that_hold_their_elasticities(model):
    labels = ["linear", "dead_zone", "linear", "breakthrough", "plateau"]
    assert model.phases["label"].tolist() == labels
    assert model.joints["level"].tolist() == [4, 6, 10, 12]
    assert (model.phases["elasticity_low"] - 0.03 <= FIVE[1]).all()
    assert (FIVE[1] <= model.phases["elasticity_high"] + 0.03).all()
    assert (model.phases["probability"] > 0.95).all()


def test_the_noise_is_what_was_put_in(model):
    noise = model.noise
    assert noise.estimable
    assert noise.replicate == pytest.approx(0.02, rel=0.2)
    assert noise.degrees_of_freedom == 80 - 16
    assert model.drift is not None and not model.drift.removed


@cache
def knee_at_8(replicates):
    """Trials of a curve that pays up to 8, and their fit."""
    frame = trials(LEVELS, chain(LEVELS, [1, 8, 16], [0.8, 0.0]), replicates, 0.01, seed=3)
    return frame, fit_phases(frame, "cores", "wall_s")


@pytest.mark.parametrize(("replicates", "level"), [(1, 1.0), (1, 5.0), (1, 16.0), (4, 5.0)])
def test_one_gross_outlier_makes_no_phase_wherever_it_is(level, replicates):
    frame, clean = knee_at_8(replicates)
    spoiled = frame.copy()
    spoiled.loc[frame.index[frame["cores"] == level][0], "wall_s"] *= 3.0
    model = fit_phases(spoiled, "cores", "wall_s")
    assert model.step_labels == clean.step_labels
    assert model.outliers["knob"].tolist() == [level]
    assert model.trials["weight"].min() < 0.5


UNEVEN = np.array([1, 2, 3, 4, 6, 8, 12, 13, 16, 24, 32, 48.0])
FALL_AND_STAY = ([1, 8, 16], [0.8, 0.0])


@pytest.mark.parametrize(
    ("frame", "found"),
    [(trials(LEVELS, chain(LEVELS, [1, 5, 7, 16], [0.8, -0.3, 0.8]), 1, 0.01),
      [(1, 5, "linear"), (5, 7, "dead_zone"), (7, 16, "linear")]),
     (trials(UNEVEN, chain(UNEVEN, [1, 8, 48], [0.8, 0.0]), 3, 0.02),
      [(1, 8, "linear"), (8, 48, "plateau")]),
     (trials(np.array([1.0, 2.0, 4.0]), np.array([10.0, 5.0, 5.0]), 1000, 0.1),
      [(1, 2, "linear"), (2, 4, "plateau")]),
     (pd.concat([trials(LEVELS, chain(LEVELS, *FALL_AND_STAY), 1, 0.03)] * 5),
      [(1, 9, "linear"), (9, 16, "plateau")])],
    ids=["two steps without replicates", "uneven levels", "a thousand replicates", "repeated rows"],
)  # fmt: skip
def test_phases_are_those_that_were_put_in(frame, found):
    model = fit_phases(frame, "cores", "wall_s")
    assert [(row.start, row.stop, row.label) for row in model.phases.itertuples()] == found
    assert len(model.outliers) <= 0.01 * len(frame)


def test_noise_alone_is_not_called_a_phase():
    for seed in range(3):
        model = fit_phases(trials(LEVELS, np.full(16, 50.0), 1, 0.03, seed), "cores", "wall_s")
        assert model.step_labels == ("plateau",) * 15


def test_a_slope_that_cannot_be_told_from_zero_is_a_plateau():
    frame = trials(LEVELS, chain(LEVELS, [1, 10, 16], [0.8, -0.1]), 2, 0.05)
    assert fit_phases(frame, "cores", "wall_s").step_labels[-1] == "plateau"


def test_drift_over_blocks_is_reported_and_removed():
    frame = trials(LEVELS, chain(LEVELS, *FIVE), 5, 0.01)
    frame["wall_s"] *= 1 + 0.04 * frame["block"]
    model = fit_phases(frame, "cores", "wall_s")
    assert model.drift is not None and model.drift.removed
    assert model.drift.change == pytest.approx(0.16, abs=0.02)
    assert model.noise.replicate < 0.015
    assert any("drift" in warning for warning in model.warnings)
    columns = np.hstack([np.eye(17)[frame["cores"].astype(int)], np.eye(5)[frame["block"]]])
    effects = np.linalg.lstsq(columns, np.log(frame["wall_s"]))[0][-5:]
    told = model.drift.effects["effect"].to_numpy()
    assert told == pytest.approx(effects - effects.mean(), abs=1e-9), "that of least squares"
    kept = fit_phases(frame, "cores", "wall_s", correct_drift=False)
    assert kept.noise.replicate > 0.03


def test_drift_over_the_run_order_is_seen_in_the_clock():
    frame = trials(LEVELS, chain(LEVELS, *FIVE), 4, 0.01).drop(columns="block")
    frame = frame.sample(frac=1, random_state=1)
    minutes = pd.date_range("2026-01-01", periods=len(frame), freq="min", tz="UTC")
    frame["started_at"] = minutes.astype(str)
    frame["wall_s"] *= np.linspace(1.0, 1.1, len(frame))
    drift = fit_phases(frame, "cores", "wall_s").drift
    assert drift is not None and drift.kind == "order"
    assert drift.change == pytest.approx(0.1, abs=0.02)


def test_what_happens_within_levels_measured_one_after_the_other_is_no_drift_of_the_run():
    """The first trial of each level is a warm-up of it."""
    truth = {1: 8, 2: 4, 4: 2, 8: 1.0, 16: 0.92, 32: 0.85}
    rows = [(n, s * warm) for n, s in truth.items() for warm in (1.1, 1.03, 1.0, 1.001, 0.999)]
    frame = pd.DataFrame(rows, columns=["threads", "wall_s"])
    frame["started_at"] = pd.date_range("2026-01-01", periods=len(rows), freq="min").astype(str)
    model = dz.fit_phases(frame, "threads", "wall_s")
    assert model.drift is None or not model.drift.removed
    assert model.recommend().setting == 32


@pytest.mark.parametrize(("climb", "is_told"), [(0.06, True), (0.02, False)])
def test_a_climb_over_the_rounds_is_told_by_the_column_that_counts_them(climb, is_told):
    frame = trials(LEVELS, chain(LEVELS, *FIVE), 5, 0.01).drop(columns="block")
    frame["Round"] = frame.groupby("cores").cumcount() + 1
    frame["wall_s"] *= 1 + climb * frame["Round"]
    drift = fit_phases(frame, "cores", "wall_s").drift
    assert (drift is not None) == is_told
    assert drift is None or (drift.removed and drift.change == pytest.approx(0.226, abs=0.03))


@pytest.mark.parametrize("replicates", [1, 2])
def test_neighbours_that_agree_that_it_is_far_worse_are_a_reversal_and_no_outliers(replicates):
    levels = [7, 15, 22, 27, 30, 31, 32, 33, 34]
    first = [0.2216, 0.2210, 0.2222, 0.2346, 0.2349, 0.2388, 20.03, 40.93, 22.46]
    second = [0.2242, 0.2253, 0.2222, 0.2306, 0.2367, 0.2360, 19.72, 40.90, 22.42]
    wall_s = (first + second)[: len(levels) * replicates]
    frame = pd.DataFrame({"n": levels * replicates, "wall_s": wall_s})
    model = fit_phases(frame, "n", "wall_s")
    assert model.phases["label"].tolist() == ["plateau", "reversal"] and model.outliers.empty
    assert model.phases["start"].tolist() == [7, 31]
    assert model.recommend().setting == 7


def test_a_response_to_maximise_has_positive_elasticity_where_it_pays():
    frame = trials(LEVELS, chain(LEVELS, [1, 8, 16], [0.9, 0.0]), 3, 0.01)
    frame["frames_per_s"] = 1000 / frame["wall_s"]
    model = fit_phases(frame, "cores", "frames_per_s", goal="max")
    assert model.phases["label"].tolist() == ["linear", "plateau"]
    assert model.phases["elasticity"].iloc[0] == pytest.approx(0.9, abs=0.05)
    assert (model.levels["fitted_low"] <= model.levels["fitted_high"]).all()


@pytest.mark.night
@pytest.mark.parametrize(("step", "replicates"), [(2.0, 1), (1.0, 3)])
def test_five_hundred_levels_and_half_as_many_of_one_trial_each(step, replicates):
    levels = np.arange(1.0, 501.0, step)
    truth = chain(levels, [1, 50, 125, 250, 255, 500], [0.8, -0.1, 0.9, 8.0, 0.0])
    model = fit_phases(trials(levels, truth, replicates, 0.03), "cores", "wall_s")
    major = model.phases[model.phases["stop"] - model.phases["start"] > 30]
    assert major["label"].tolist() == ["linear", "dead_zone", "linear", "plateau"]
    # sixty-four levels of one trial each know a slope less well than those of three
    off = np.abs(major["elasticity"] - [0.8, -0.1, 0.9, 0.0])
    assert (off < (0.06 if replicates > 1 else 0.1)).all()


def test_slices_by_a_second_factor_come_back_together_and_one_that_has_no_curve_is_a_warning():
    parts = [
        trials(LEVELS, chain(LEVELS, [1, joint, 16], [0.8, 0.0]), 3, 0.01).assign(limit=limit)
        for limit, joint in ((2.0, 4), (4.0, 8))
    ]
    few = parts[0].head(2).assign(limit=9.0)
    models = dz.fit_phases(pd.concat([*parts, few]), "cores", "wall_s", "min", by="limit")
    assert list(models) == [2.0, 4.0]
    assert models[4.0].joints["level"].tolist() == [8]
    assert models.table.columns[0] == "limit"
    assert len(models.table) == 32
    assert 3.0 not in models
    with pytest.raises(PhaseError, match="Its values are"):
        models[3.0]
    assert any("9" in said and "no curve is fitted" in said for said in models.warnings)


def test_thresholds_are_parameters_of_the_call():
    frame = trials(LEVELS, chain(LEVELS, [1, 8, 16], [0.8, 0.33]), 5, 0.005)
    usual = fit_phases(frame, "cores", "wall_s")
    strict = fit_phases(frame, "cores", "wall_s", thresholds=Thresholds(linear=0.45))
    assert usual.step_labels[-1] == "linear"
    # end to end over both slopes
    assert usual.phases["elasticity"].iloc[0] == pytest.approx(0.68, abs=0.03)
    assert strict.step_labels[-1] == "plateau"


def test_a_wider_certainty_gives_wider_intervals(model, five_phases):
    less = fit_phases(five_phases, "cores", "wall_s", certainty=0.6)
    ends = [fit.phases.iloc[0][["elasticity_low", "elasticity_high"]] for fit in (less, model)]
    assert np.ptp(ends[0]) < np.ptp(ends[1])
