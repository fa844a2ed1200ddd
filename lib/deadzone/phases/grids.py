"""Values of the curve tried at each level that may be a joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadzone.phases.noise import LevelTables

SPACING = 0.7
"""Distance of neighbouring grid values in standard deviations of a level: sums over a Gaussian on such
a grid are exact to 1e-6 even when the posterior is 2.5 times narrower than the level's own likelihood
(Poisson summation)."""

VALUES = 8
"""Values tried around each level's own trials: they reach 2.45 standard deviations either way."""

RIVAL_VALUES = 5
"""Values tried around what the neighbours predict for a level whose few trials may be spoiled."""

RIVAL_DISTANCE = 4.0
"""A prediction is tried beside the level's own value when it lies more than this many deviations off."""


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
    mean, spread = tables.moments()
    offsets = (np.arange(VALUES) - (VALUES - 1) / 2) * SPACING
    value = mean[:, None] + spread[:, None] * offsets
    log_width = np.broadcast_to(np.log(spread * SPACING)[:, None], value.shape)
    centre, reach = _rivals(x, mean, spread)
    rival = few & (np.abs(centre - mean) > RIVAL_DISTANCE * spread + reach)
    if not rival.any():
        return ValueGrid(value, log_width)
    steps = np.linspace(-1, 1, RIVAL_VALUES)
    extra = centre[:, None] + reach[:, None] * steps
    width = np.where(rival, np.log(reach * (steps[1] - steps[0])), -np.inf)
    extra_width = np.broadcast_to(width[:, None], extra.shape)
    return ValueGrid(np.hstack([value, extra]), np.hstack([log_width, extra_width]))


def _rivals(x: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the neighbours of each level predict for it, and how far they may be off; each (n,).

    Inside, a line between the two neighbours; at an end, the line through the next two levels, which
    is off by what its slope may change.
    """
    n = len(x)
    if n < 3:
        return mean, 2 * spread
    centre, reach = np.empty(n), np.empty(n)
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    centre[1:-1] = mean[:-2] + share * (mean[2:] - mean[:-2])
    reach[1:-1] = 2.0 * spread[1:-1]
    for end, near, far in ((0, 1, 2), (n - 1, n - 2, n - 3)):
        distance = x[end] - x[near]
        slope = np.clip((mean[near] - mean[far]) / (x[near] - x[far]), -1.3, 1.3)
        centre[end] = mean[near] + slope * distance
        reach[end] = 2.0 * spread[end] + 0.5 * abs(distance)
    return centre, reach


def graded_grid(centre: np.ndarray, fine: np.ndarray, coarse: np.ndarray) -> ValueGrid:
    """Values close together where a long phase pins the curve, and further apart out to a level's own noise.

    centre: shape (m,), the curve of a first fit. fine: its standard deviation, coarse: a level's own.
    """
    reach = np.maximum(coarse * SPACING * VALUES / 2, 4.0 * fine)
    inner = np.array([0.35, 1.05, 1.75])
    growth = (reach / (inner[-1] * fine))[:, None] ** (np.arange(1, 4) / 3)
    half = fine[:, None] * np.concatenate([np.tile(inner, (len(fine), 1)), inner[-1] * growth], axis=1)
    value = centre[:, None] + np.concatenate([-half[:, ::-1], half], axis=1)
    return ValueGrid(value, np.log(np.gradient(value, axis=1)))
