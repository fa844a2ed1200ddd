"""The parts of the phase model, each against an answer worked out another way."""

import numpy as np
import pytest

from deadzone.analysis.phases import noise, priors
from deadzone.analysis.phases.labels import decode, step_probabilities
from deadzone.analysis.phases.noise import value_grid
from deadzone.analysis.phases.priors import slope_prior
from deadzone.analysis.phases.segmentation import score_pieces, segment
from deadzone.analysis.phases.thresholds import LABELS, Thresholds


def level_tables(value, level, n, scale=0.02, misfit=0.0):
    trials = noise.group(value, level, n)
    frame, by_scale = noise.tabulate(trials, scale, scale)
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


def test_an_outlier_hardly_moves_a_level_and_misfit_widens_it():
    clean = level_tables(np.array([1.0, 1.01, 0.99, 1.0]), np.zeros(4, int), 1).moments
    spoiled = level_tables(np.array([1.0, 1.01, 0.99, 2.0]), np.zeros(4, int), 1).moments
    loose = level_tables(np.array([1.0, 1.01, 0.99, 1.0]), np.zeros(4, int), 1, misfit=0.05).moments
    assert spoiled[0][0] == pytest.approx(clean[0][0], abs=0.005)
    assert loose[1][0] == pytest.approx(np.hypot(clean[1][0], 0.05), rel=0.1)


def test_the_posterior_of_two_levels_is_the_sum_over_all_states_done_by_hand():
    x = np.log([1.0, 2.0, 4.0])
    tables = level_tables(np.array([1.0, 0.5, 0.5]), np.arange(3), 3)
    grid = value_grid(x, tables, np.zeros(3, bool))
    scores = score_pieces(x, tables, grid, slope_prior(Thresholds()))
    evidence, pieces = segment(scores)
    pmf, at_least = priors.lengths(2)
    follow, ends = priors.transitions(), priors.endings()
    begun, of_all = scores.first[:, None], priors.START + at_least[:, 2] + ends
    whole = begun + scores.labelled[1][0] + of_all[:, None, None]
    of_one = priors.START + pmf[:, 1]  # of two steps a single one is usual
    first = begun + scores.labelled[0][0] + of_one[:, None, None]
    second = scores.labelled[1][1] + (at_least[:, 1] + ends)[:, None, None]
    with np.errstate(divide="ignore"):
        arrive = np.log(np.exp(first).sum(axis=1))
        leave = np.log(np.exp(second).sum(axis=2))
    two = arrive[:, None, :] + follow[:, :, None] + leave[None, :, :]
    by_hand = np.log(np.exp(whole).sum() + np.exp(two).sum())
    assert evidence == pytest.approx(by_hand, abs=1e-9)
    probability = step_probabilities(pieces, 2)
    share = np.exp(two).sum(axis=(1, 2)) + np.exp(whole).sum(axis=(1, 2))
    of_label = np.bincount(priors.STATE_LABELS, weights=share)
    assert np.allclose(probability[0], of_label / of_label.sum(), atol=1e-4)


def test_decoding_never_ends_in_a_dead_zone():
    probability = np.tile([0.1, 0.6, 0.0, 0.3, 0.0], (4, 1))
    labels = decode(probability)
    assert LABELS[labels[-1]] in ("linear", "plateau", "reversal")


def test_an_unproven_reversal_is_a_plateau():
    steps = np.array([[1.0, 0, 0, 0, 0], [0, 0, 0, 0.3, 0.7], [0, 0, 0, 0.3, 0.7]])
    assert [LABELS[k] for k in decode(steps)] == ["linear", "plateau", "plateau"]
    steps[1:] = [0, 0, 0, 0.1, 0.9]
    assert [LABELS[k] for k in decode(steps)] == ["linear", "reversal", "reversal"]
