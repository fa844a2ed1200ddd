"""The parts of the phase model, each against an answer worked out another way."""

import numpy as np
import pytest

from deadzone.analysis.phases import noise, priors
from deadzone.analysis.phases.grids import value_grid
from deadzone.analysis.phases.intervals import weighted_quantiles
from deadzone.analysis.phases.labels import decode, runs, step_probabilities
from deadzone.analysis.phases.parabolas import parabolas
from deadzone.analysis.phases.pieces import bent_share, score_pieces
from deadzone.analysis.phases.priors import slope_prior
from deadzone.analysis.phases.screening import candidate_joints
from deadzone.analysis.phases.segmentation import segment
from deadzone.analysis.phases.thresholds import LABELS, Thresholds


def level_tables(value, level, n, scale=0.02, misfit=0.0):
    trials = noise.group(value, level, n)
    frame, by_scale = noise.tabulate(trials, scale, scale, noise.OUTLIER_RATE)
    return noise.combine(frame, by_scale, noise.scale_weights(0.0, 0.25), misfit)


def test_each_slope_density_integrates_to_one_and_peaks_in_its_own_range():
    e = np.linspace(-30, 59, 200_001)
    density = np.exp(slope_prior(Thresholds())(e))
    assert np.allclose(np.trapezoid(density, e, axis=1), 1.0, atol=0.01)
    likeliest = {LABELS[k]: e[density[k].argmax()] for k in range(5)}
    assert 0.25 < likeliest["linear"] < 1.3
    assert -1.0 < likeliest["dead_zone"] < 0.25
    assert likeliest["breakthrough"] > 2.0
    assert abs(likeliest["plateau"]) < 0.05
    assert likeliest["reversal"] < -0.2


def test_the_lengths_of_phases_are_probabilities():
    pmf, at_least = priors.lengths(15)
    assert (np.exp(pmf).sum(axis=1) <= 1 + 1e-9).all()
    assert (np.diff(at_least[:, 2:], axis=1) <= 0).all()


def test_a_levels_table_is_gaussian_where_its_trials_agree():
    rng = np.random.default_rng(0)
    value = 1.0 + 0.02 * rng.standard_normal(400)
    mean, spread = level_tables(value, np.zeros(400, int), 1).moments
    assert mean[0] == pytest.approx(value.mean(), abs=2e-4)
    assert spread[0] == pytest.approx(0.02 / 20, rel=0.3)


def test_an_outlier_hardly_moves_a_level_and_misfit_widens_it():
    clean = level_tables(np.array([1.0, 1.01, 0.99, 1.0]), np.zeros(4, int), 1).moments
    spoiled = level_tables(np.array([1.0, 1.01, 0.99, 2.0]), np.zeros(4, int), 1).moments
    loose = level_tables(np.array([1.0, 1.01, 0.99, 1.0]), np.zeros(4, int), 1, misfit=0.05).moments
    assert spoiled[0][0] == pytest.approx(clean[0][0], abs=0.005)
    assert loose[1][0] == pytest.approx(np.hypot(clean[1][0], 0.05), rel=0.1)


def test_roughness_of_a_noisy_straight_line_is_its_noise():
    x = np.log(np.arange(1.0, 400.0))
    value = -0.8 * x + 0.03 * np.random.default_rng(1).standard_normal(len(x))
    assert noise.roughness(x, value) == pytest.approx(0.03, rel=0.15)


def test_the_posterior_of_two_levels_is_the_sum_over_all_states_done_by_hand():
    x = np.log([1.0, 2.0, 4.0])
    tables = level_tables(np.array([1.0, 0.5, 0.5]), np.arange(3), 3)
    grid = value_grid(x, tables, np.zeros(3, bool))
    scores = score_pieces(x, tables, grid, slope_prior(Thresholds()), np.arange(3))
    result = segment(scores)
    pmf, at_least = priors.lengths(2)
    follow, ends = priors.transitions(), priors.endings()
    whole = (
        scores.first[:, None]
        + scores.labelled[1][0]
        + (priors.START + at_least[:, 2] + ends)[:, None, None]
    )
    alone = priors.first_alone(2)
    first = (
        scores.first[:, None]
        + scores.labelled[0][0]
        + (priors.START + pmf[:, 1] + alone)[:, None, None]
    )
    second = scores.labelled[1][1] + (at_least[:, 1] + ends)[:, None, None]
    with np.errstate(divide="ignore"):
        arrive = np.log(np.exp(first).sum(axis=1))
        leave = np.log(np.exp(second).sum(axis=2))
    two = arrive[:, None, :] + follow[:, :, None] + leave[None, :, :]
    by_hand = np.log(np.exp(whole).sum() + np.exp(two).sum())
    assert result.log_evidence == pytest.approx(by_hand, abs=1e-9)
    probability = step_probabilities(result.pieces, 2)
    share = np.exp(two).sum(axis=(1, 2)) + np.exp(whole).sum(axis=(1, 2))
    of_label = np.bincount(priors.STATE_LABELS, weights=share)
    assert np.allclose(probability[0], of_label / of_label.sum(), atol=1e-4)


def test_parabolas_score_long_pieces_like_the_tables_near_the_fit():
    levels = 12
    x = np.log(np.arange(1.0, levels + 1))
    value = 3.0 - 0.8 * x + 0.01 * np.random.default_rng(3).standard_normal(levels)
    tables = level_tables(value, np.arange(levels), levels)
    fitted = 3.0 - 0.8 * x
    grid = value_grid(x, tables, np.zeros(levels, bool))
    slope = slope_prior(Thresholds())
    exact = score_pieces(x, tables, grid, slope, np.arange(levels)).straight[levels - 2][0]
    near = score_pieces(x, tables, grid, slope, np.arange(levels), parabolas(tables, fitted))
    middle = slice(2, 6)
    assert np.allclose(
        near.straight[levels - 2][0][middle, middle], exact[middle, middle], atol=2.5
    )


def test_a_bent_piece_still_ends_where_it_ends_and_fades():
    share = bent_share(np.linspace(0, 1, 5), 0.7)
    assert share[0] == 0 and share[-1] == 1
    assert (np.diff(share)[:-1] > np.diff(share)[1:]).all()


def test_decoding_never_ends_in_a_dead_zone():
    probability = np.tile([0.1, 0.6, 0.0, 0.3, 0.0], (4, 1))
    labels = decode(probability)
    assert LABELS[labels[-1]] in ("linear", "plateau", "reversal")


def test_an_unproven_reversal_is_a_plateau():
    steps = np.array([[1.0, 0, 0, 0, 0], [0, 0, 0, 0.3, 0.7], [0, 0, 0, 0.3, 0.7]])
    assert [LABELS[k] for k in decode(steps)] == ["linear", "plateau", "plateau"]
    steps[1:] = [0, 0, 0, 0.1, 0.9]
    assert [LABELS[k] for k in decode(steps)] == ["linear", "reversal", "reversal"]


def test_runs_are_phases():
    assert runs(np.array([0, 0, 1, 1, 1, 0])) == [(0, 2, 0), (2, 5, 1), (5, 6, 0)]


def test_weighted_quantiles_of_a_fine_uniform_sample():
    values = np.linspace(0, 1, 1001)
    assert weighted_quantiles(values, np.ones(1001), (0.05, 0.5, 0.95)) == pytest.approx(
        [0.05, 0.5, 0.95], abs=2e-3
    )


def test_screening_keeps_the_joints_of_a_long_sweep():
    n = 400
    x = np.log(np.arange(1.0, n + 1))
    value = np.interp(x, x[[0, 100, 250, 254, n - 1]], [5.0, 2.0, 2.2, 1.0, 1.0])
    joints = candidate_joints(
        x, value + 0.02 * np.random.default_rng(2).standard_normal(n), np.full(n, 0.02)
    )
    assert len(joints) <= 64
    for joint in (100, 250, 254):
        assert np.abs(joints - joint).min() <= 3
