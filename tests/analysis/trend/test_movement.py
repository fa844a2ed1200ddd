import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.trend.movement import LEAST_CHANGE, movement

LEVELS = np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16], dtype=float)


def fitted(
    seed: int, end: float, *, factor: float = 1.0, noise: float = 0.02, levels: np.ndarray = LEVELS
):
    """A run whose response pays up to a level, then brings nothing more."""
    rng = np.random.default_rng(seed)
    x = np.tile(levels, 4)
    y = factor * 10 / np.minimum(x, end) * np.exp(noise * rng.standard_normal(x.size))
    return fit_phases(pd.DataFrame({"cores": x, "wall_s": y}), "cores", "wall_s")


@pytest.mark.parametrize("seed", range(3))
def test_two_runs_of_one_truth_have_not_moved(seed):
    found = movement(fitted(seed, 4), fitted(seed + 100, 4, factor=1.1))
    assert len(found) and not found["moved"].any()


def test_a_plateau_that_begins_later_is_found_on_the_steps_that_changed():
    found = movement(fitted(1, 4), fitted(2, 8))
    moved = found[found["moved"]]
    assert set(zip(moved["start"], moved["stop"], strict=True)) == {(4.0, 6.0), (6.0, 8.0)}
    assert set(moved["label_before"]) == {"plateau"} and set(moved["label_after"]) == {"linear"}
    back = movement(fitted(2, 8), fitted(1, 4))
    assert found["moved"].tolist() == back["moved"].tolist()
    assert np.allclose(found["p_differs"], back["p_differs"])


def test_a_label_that_changes_with_its_threshold_alone_has_not_moved():
    rng = np.random.default_rng(3)
    models = []
    for slope in (0.15, 0.15 + 0.8 * LEAST_CHANGE):
        y = LEVELS**-slope * np.exp(0.0005 * rng.standard_normal((30, LEVELS.size)))
        frame = pd.DataFrame({"cores": np.tile(LEVELS, 30), "wall_s": y.ravel()})
        models.append(fit_phases(frame, "cores", "wall_s"))
    assert not movement(*models)["moved"].any()


def test_only_steps_that_both_runs_measured_are_compared():
    before = fitted(1, 4)
    steps = movement(before, fitted(2, 4, levels=np.array([1, 1.5, 2, 3, 5, 7, 9.0])))
    assert steps["start"].tolist() == [1.0, 1.5, 2.0]
    assert steps["stop"].tolist() == [1.5, 2.0, 3.0]
    assert movement(before, fitted(2, 4, levels=np.array([1.1, 2.1, 5, 7, 9]))).empty


def test_elasticities_of_other_ranges_are_not_compared():
    def slope(top):
        x = np.repeat([-top, -5.0, 0.0, 5.0, top], 5)
        y = 10 + 0.2 * x + np.tile([-0.02, -0.01, 0.0, 0.01, 0.02], 5)
        return fit_phases(pd.DataFrame({"offset": x, "wall_s": y}), "offset", "wall_s")

    assert movement(slope(10.0), slope(20.0)).empty
    assert len(movement(slope(10.0), slope(10.0)))
