"""The staircases between the part of a grid where one limit decides and the part where the other
does.

With more of the first knob the second one decides over more levels, so the border rises with both.
The sum over all such staircases is exact by dynamic programming over the levels of the first knob,
where the levels of a curve are taken as independent (after Fearnhead 2006, Exact and efficient
Bayesian inference for multiple changepoint problems, Statistics and Computing 16, 203-213).
Staircases drawn from it are the ones worth weighing by the evidence of their surface.
"""

import numpy as np

from deadzone.analysis.surfaces.grid import Grid

DRAWN = 8
"""Staircases drawn under each assumption on the noise: where one is likely it is among them, where
many are, these stand for all."""


def log_number(shape: tuple[int, int]) -> float:
    """ln of the number of staircases through a grid, a binomial coefficient; all are alike likely
    before any data."""
    from scipy.special import gammaln

    m, n = shape
    return float(gammaln(m + n + 1) - gammaln(m + 1) - gammaln(n + 1))


def staircases(grid: Grid, variances: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Staircases worth weighing, shape (staircases, levels of the first knob); see
    `families.minimum`.

    variances: of the cells around the surface, one array for each assumption on the noise.
    """
    drawn = [_drawn(*_summed(grid, variance), rng) for variance in variances]
    return np.unique(np.concatenate(drawn), axis=0)


def _summed(grid: Grid, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ln of the evidence of all staircases so far, at each level of the first knob, by where they
    stand; and ln of that of the levels of the second that are left to the second knob from there
    on. Each of shape (levels, levels of the second + 1).
    """
    centred = grid.value - np.average(grid.value, weights=1 / variance)
    weight, pull = grid.spread(1 / variance), grid.spread(centred / variance)
    rows = _shared(_to_the_end(weight, 1), _to_the_end(pull, 1), grid.size)
    columns = _shared(_to_the_end(weight, 0), _to_the_end(pull, 0), grid.size)
    left = np.cumsum(np.pad(columns, ((0, 0), (1, 0))), axis=1)
    summed = np.empty(rows.shape)
    for i, row in enumerate(rows):
        before = summed[i - 1] - left[i] if i else np.where(np.arange(len(row)) == 0, 0.0, -np.inf)
        summed[i] = row + left[i] + np.logaddexp.accumulate(before)
    return summed, left


def _to_the_end(values: np.ndarray, axis: int) -> np.ndarray:
    """Sums from each place to the end of an axis, and at last the empty one."""
    sums = np.flip(np.cumsum(np.flip(values, axis), axis), axis)
    return np.pad(sums, [(0, 1 - abs(side - axis)) for side in (0, 1)])


def _shared(weight: np.ndarray, pull: np.ndarray, size: float) -> np.ndarray:
    """ln evidence of cells that share one value, without what does not depend on which cells share
    one."""
    return 0.5 * (pull**2 / (weight + size**-2) - np.log1p(weight * size**2))


def _drawn(summed: np.ndarray, left: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Staircases from their posterior, from the last level of the first knob back to the first."""
    m, width = summed.shape
    stairs = np.full((DRAWN, m + 1), width - 1)
    for i in range(m - 1, -1, -1):
        score = summed[i] - (left[i + 1] if i < m - 1 else 0.0)
        score = np.where(np.arange(width) <= stairs[:, i + 1, None], score, -np.inf)
        gumbel = rng.gumbel(
            size=score.shape
        )  # the largest sum falls on each place in proportion to its weight
        stairs[:, i] = np.argmax(score + gumbel, axis=1)
    return stairs[:, :m]
