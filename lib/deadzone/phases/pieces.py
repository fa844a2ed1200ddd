"""How well every possible piece of the curve explains the levels it spans.

A piece runs from one joint to another, is pinned to a value at each, falls between them along a
straight line on log-log axes or bends a little, and carries one of the five labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadzone.phases import priors
from deadzone.phases.noise import LevelTables
from deadzone.phases.priors import BREAKTHROUGH, LINEAR, SlopePrior

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


@dataclass(frozen=True)
class PieceScores:
    """log density of the levels of each piece given its ends, its label and its slope's prior.

    joints: positions of the candidate joints among the levels, first and last included; shape (m,).
    straight: for each joint j > 0, shape (j, G, G): log likelihood of the levels after the start, up to
        and including j, on the straight line between the two values.
    labelled: for each joint j > 0, shape (j, 5, G, G): the same with bends integrated out, prior
        of the slope and grid width included.
    bends: for each joint j > 0, shape (j, 2, 2, G, G): mean and standard deviation of the bend of
        linear pieces and of breakthroughs.
    """

    joints: np.ndarray
    grid: ValueGrid
    first_likelihood: np.ndarray
    straight: list[np.ndarray]
    labelled: list[np.ndarray]
    bends: list[np.ndarray]

    @property
    def first(self) -> np.ndarray:
        """log likelihood of the first level at each of its grid values, grid width included."""
        return self.first_likelihood + self.grid.log_width[0]

    def ending_at(self, j: int) -> np.ndarray:
        return self.labelled[j - 1]

    def likelihood_ending_at(self, j: int) -> np.ndarray:
        return self.straight[j - 1]

    def bend(self, i: np.ndarray, j: np.ndarray, a: np.ndarray, b: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Mean and deviation of the bend of pieces from grid value a at joint i to b at j; (2, pieces)."""
        out = np.zeros((2, len(i)))
        for end in np.unique(j):
            for row, bending in enumerate((LINEAR, BREAKTHROUGH)):
                here = (j == end) & (label == bending)
                out[:, here] = self.bends[end - 1][i[here], row, :, a[here], b[here]].T
        return out


def bent_share(fraction: np.ndarray, bend: np.ndarray | float) -> np.ndarray:
    """Share of a piece's fall reached at `fraction` of its length on the log axis, both 0 ... 1."""
    return fraction + 0.5 * bend * fraction * (1 - fraction)


def look_up(tables: LevelTables, level: np.ndarray, value: np.ndarray) -> np.ndarray:
    """log likelihood of `value` at `level`, broadcast together; the nearest table point."""
    points = tables.log_likelihood.shape[1]
    position = (value - tables.origin[level]) * (1.0 / tables.step)[level] + 0.5
    index = np.clip(position, 0, points - 1).astype(np.intp)
    index += level * points
    return tables.log_likelihood.ravel().take(index)


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


def score_pieces(
    x: np.ndarray, tables: LevelTables, grid: ValueGrid, slope: SlopePrior, joints: np.ndarray
) -> PieceScores:
    """Score all pieces between the candidate joints of a curve.

    x: shape (n,), ln(level). tables: of all n levels. grid: of the joints. joints: positions, (m,).
    """
    at_joint = look_up(tables, joints[:, None], grid.value)
    straight, labelled, bends = [], [], []
    for j in range(1, len(joints)):
        inner = np.stack([_inner(x, tables, grid, joints, j, bend) for bend in priors.BENDS], axis=1)
        inner += at_joint[j]
        line = inner[:, 0]
        span = (x[joints[j]] - x[joints[:j]])[:, None, None]
        fall = grid.value[:j, :, None] - grid.value[j][None, None, :]
        score = np.moveaxis(slope(fall / span), 0, 1)
        score += (line - np.log(span) + grid.log_width[j])[:, None]
        expected = np.zeros((j, 2, 2, *line.shape[1:]))
        several = joints[j] - joints[:j] > 1
        for row, label in enumerate((LINEAR, BREAKTHROUGH)):
            gain, expected[several, row] = _integrate_bends(inner[several], priors.BEND_PRIOR[label])
            score[several, label] += gain
        straight.append(line)
        labelled.append(score)
        bends.append(expected)
    return PieceScores(joints, grid, at_joint[0], straight, labelled, bends)


def _integrate_bends(inner: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log of the mean likelihood over bends, relative to no bend; mean and deviation of the bend."""
    top = inner.max(axis=1, keepdims=True)
    weight = np.exp(inner - top) * prior[None, :, None, None]
    total = weight.sum(axis=1)
    mean = np.einsum("jbuw,b->juw", weight, priors.BENDS) / total
    square = np.einsum("jbuw,b->juw", weight, priors.BENDS**2) / total
    moments = np.stack([mean, np.sqrt(np.maximum(square - mean**2, 0.0))], axis=1)
    return np.log(total) + top[:, 0] - inner[:, 0], moments


def _inner(
    x: np.ndarray, tables: LevelTables, grid: ValueGrid, joints: np.ndarray, j: int, bend: float
) -> np.ndarray:
    """log likelihood of the levels strictly inside each piece that ends at joint j; (j, G, G)."""
    size = grid.value.shape[1]
    counts = joints[j] - joints[:j] - 1
    out = np.zeros((j, size, size))
    if counts.sum() == 0:
        return out
    owner = np.repeat(np.arange(j), counts)
    level = joints[owner] + 1 + np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    fraction = (x[level] - x[joints[owner]]) / (x[joints[j]] - x[joints[owner]])
    share = bent_share(fraction, bend)[:, None, None]
    value = (1 - share) * grid.value[owner][:, :, None] + share * grid.value[j][None, None, :]
    likelihood = look_up(tables, level[:, None, None], value)
    filled = np.flatnonzero(counts)
    out[filled] = np.add.reduceat(likelihood, (np.cumsum(counts) - counts)[filled], axis=0)
    return out
