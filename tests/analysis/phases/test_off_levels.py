import re

import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases


def named(model):
    return {one.levels[0]: one for one in model.findings if one.key == "one_level_off"}


def sweep(factors, replicates, noise=0.01, seed=3):
    """A response that halves at each doubling up to 8 and is flat then, times a factor a level."""
    rng = np.random.default_rng(seed)
    levels = np.repeat(list(factors), replicates)
    value = 80 / np.minimum(levels, 8) * np.repeat(list(factors.values()), replicates)
    value = value * np.exp(noise * rng.standard_normal(len(levels)))
    return pd.DataFrame({"threads": levels, "wall_s": value})


SOUND = dict.fromkeys((1, 2, 3, 4, 6, 8, 12, 16, 24, 32), 1.0)


@pytest.mark.parametrize("replicates", [1, 4])
def test_a_worse_level_is_named_with_its_factor_and_is_not_tied(replicates):
    model = fit_phases(sweep(SOUND | {12: 1.8}, replicates), "threads", "wall_s")
    assert list(named(model)) == [12]
    said = named(model)[12].sentence
    measured, times = map(float, re.findall(r"off: (\S+) s, (\S+) times worse", said)[0])
    assert measured == pytest.approx(18, rel=0.03) and times == pytest.approx(1.8, rel=0.03)
    assert 12 not in model.recommend().tied


def test_trials_that_agree_are_the_value_of_their_level_and_no_outliers():
    """GFLOPS of a matrix product by its size: 256 falls off by a factor of twelve, thrice."""
    value = {192: 136, 256: 12, 512: 143, 544: 143, 576: 143}
    rows = [(k, v * f) for k, v in value.items() for f in (1, 1.01, 0.99)]
    trials = pd.DataFrame(rows, columns=["k", "mflops"])
    model = fit_phases(trials, "k", "mflops", "max")
    assert model.outliers.empty and list(named(model)) == [256]
    assert 256 not in model.recommend(anyway=True).tied


def test_a_better_level_of_three_agreeing_trials_is_recommended_on_them():
    model = fit_phases(sweep(SOUND | {12: 0.6}, 3), "threads", "wall_s")
    assert "better" in named(model)[12].sentence
    assert model.recommend().setting == 12 and model.recommend().tied == (12,)


@pytest.mark.parametrize("replicates", [2, 4])
def test_two_trials_that_agree_are_no_outliers_whatever_the_curve_says(replicates):
    model = fit_phases(sweep(SOUND | {12: 1.3}, replicates), "threads", "wall_s")
    assert model.outliers.empty and list(named(model)) == [12]


def test_at_the_end_two_trials_that_agree_are_no_outliers_and_the_level_is_named():
    model = fit_phases(sweep(SOUND | {32: 40.0}, 2), "threads", "wall_s")
    assert model.outliers.empty and "a factor of 40" in named(model)[32].sentence
    assert 32 not in model.recommend().tied


def test_a_better_level_of_one_trial_is_named_and_doubted():
    """conc-map-bench, ReadHeavy, flurry: millions of operations a second by threads."""
    rate = [
        *(6.505, 12.08, 26.55, 43.23, 50.2, 52.31, 72.92),
        *(69.45, 114.2, 73.41, 73.94, 75.33, 74.91),
    ]
    threads = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]
    model = fit_phases(pd.DataFrame({"threads": threads, "mops": rate}), "threads", "mops", "max")
    assert named(model)[48].severity == "doubts"
    assert 48 in model.recommend().tied


def test_one_level_does_not_hide_another():
    model = fit_phases(sweep(SOUND | {4: 2.0, 16: 0.5}, 1), "threads", "wall_s")
    assert set(named(model)) == {4, 16}


@pytest.mark.parametrize(
    "off",
    [{24: 100.0, 32: 100.0}, {6: 1.5, 8: 1.5}, {2: 0.7, 6: 0.7, 16: 0.7, 32: 0.7},
     {2: 1.5, 4: 1.5, 8: 1.5, 16: 1.5, 32: 1.5}],
    ids=["cliff", "two neighbours", "better teeth", "worse teeth"],
)  # fmt: skip
def test_what_neighbours_or_repetition_confirm_is_no_level_off(off):
    assert not named(fit_phases(sweep(SOUND | off, 3), "threads", "wall_s"))


@pytest.mark.night
def test_sound_levels_of_noisy_single_trials_are_left_in_peace():
    tables = [sweep(SOUND, 1, noise=0.05, seed=seed) for seed in range(10)]
    alarms = sum(len(named(fit_phases(table, "threads", "wall_s"))) for table in tables)
    assert alarms <= 0.02 * 10 * len(SOUND)
