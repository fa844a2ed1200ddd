"""Values of the curve tried at each level that may be a joint."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadzone.analysis.phases.noise import LevelTables

SPACING = 0.7
"""Distance of neighbouring grid values in standard deviations of a level: sums over a Gaussian on
such a grid are exact to 1e-6 even when the posterior is 2.5 times narrower than the level's own
likelihood (Poisson summation)."""

VALUES = 8
"""Values tried around each level's own trials: they reach 2.45 standard deviations either way."""

RIVALS = np.array([0.4, 1.2, 2.2])
"""Values tried on either side of what the neighbours predict for a level whose few trials may be
spoiled, in standard deviations of that prediction; one more on either side stands much further out.
"""

RIVAL_DISTANCE = (3.0, 1.5)
"""A prediction is tried beside the level's own value when it lies further off than this many
deviations of the level and of the prediction together."""

PREDICTING = 4
"""An end level is predicted by the line through this many levels next to it."""


@dataclass(frozen=True)
class ValueGrid:
    """Values of the curve tried at each candidate joint; arrays of shape (joints, G), ln(response).

    log_width: logarithm of the interval a value stands for; -inf where a value is padding.
    """

    value: np.ndarray
    log_width: np.ndarray

    @cached_property
    def middle(self) -> np.ndarray:
        """Mean of each joint's values, shape (joints,)."""
        return self.value.mean(axis=1)


def value_grid(x: np.ndarray, tables: LevelTables, few: np.ndarray) -> ValueGrid:
    """Values around each level's trials and, where `few` trials could all be spoiled, rival values.

    x: shape (n,), ln(level). few: shape (n,), bool.
    """
    mean, spread = tables.moments
    offsets = (np.arange(VALUES) - (VALUES - 1) / 2) * SPACING
    value = mean[:, None] + spread[:, None] * offsets
    log_width = np.broadcast_to(np.log(spread * SPACING)[:, None], value.shape)
    centre, fine, reach = _rivals(x, mean, spread)
    rival = few & (np.abs(centre - mean) > RIVAL_DISTANCE[0] * spread + RIVAL_DISTANCE[1] * fine)
    if not rival.any():
        return ValueGrid(value, log_width)
    half = np.concatenate([fine[:, None] * RIVALS, np.maximum(reach, 4.0 * fine)[:, None]], axis=1)
    extra = centre[:, None] + np.concatenate([-half[:, ::-1], half], axis=1)
    apart = np.abs(extra - mean[:, None]) > (VALUES / 2) * SPACING * spread[:, None]
    extra_width = np.where(rival[:, None] & apart, np.log(np.gradient(extra, axis=1)), -np.inf)
    return ValueGrid(np.hstack([value, extra]), np.hstack([log_width, extra_width]))


def _rivals(
    x: np.ndarray, mean: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the neighbours predict for each level, how well, and how far off a change of slope may
    put it.

    Inside, a line between the two neighbours; at an end, the line through the next few levels,
    whose slope may change by half. Each of shape (n,).
    """
    n = len(x)
    centre, fine, reach = mean.copy(), 1.0 * spread, 4.0 * spread
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    centre[1:-1] = mean[:-2] + share * (mean[2:] - mean[:-2])
    for end, near in (
        (0, np.arange(1, n)[:PREDICTING]),
        (n - 1, np.arange(n - 2, -1, -1)[:PREDICTING]),
    ):
        middle = x[near].mean()
        square = ((x[near] - middle) ** 2).sum()
        slope = ((x[near] - middle) * mean[near]).sum() / square
        lever = (x[end] - middle) ** 2 / square + 1 / len(near)
        centre[end] = mean[near].mean() + slope * (x[end] - middle)
        fine[end] = np.sqrt(lever) * spread[near].mean()
        reach[end] = 0.5 * abs(x[end] - x[near[0]])
    return centre, fine, reach


def graded_grid(centre: np.ndarray, fine: np.ndarray, coarse: np.ndarray) -> ValueGrid:
    """Values close together where a long phase pins the curve, and further apart out to a level's
    own noise.

    centre: shape (m,), the curve of a first fit. fine: its standard deviation, coarse: a level's
    own.
    """
    reach = np.maximum(coarse * SPACING * VALUES / 2, 4.0 * fine)
    inner = np.array([0.35, 1.05, 1.75])
    growth = (reach / (inner[-1] * fine))[:, None] ** (np.arange(1, 4) / 3)
    half = fine[:, None] * np.concatenate(
        [np.tile(inner, (len(fine), 1)), inner[-1] * growth], axis=1
    )
    value = centre[:, None] + np.concatenate([-half[:, ::-1], half], axis=1)
    return ValueGrid(value, np.log(np.gradient(value, axis=1)))
