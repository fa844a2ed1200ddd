"""The families of surfaces that are weighed against each other, each with its exact evidence.

On log-log axes, smaller is better, over the levels i of the first knob and j of the second:

- `minimum`: the scarcer of two limits decides, v = f(i) on one side of a staircase and g(j) on the other: the law of the
  minimum, whose isoquants have a right angle (Paris 1992, American Journal of Agricultural Economics 74, 1019-1028; of the
  limits of a processor the roofline of Williams, Waterman and Patterson 2009, Communications of the ACM 52(4), 65-76).
- `additive`: v = f(i) + g(j); either knob pays by itself, wherever the other stands.
- `free`: additive with an interaction, a deviation of each cell that neighbours share. `minimum` may have a small one: no limit is quite
  sharp.

f, g and the interaction are Gaussian processes with the Matern covariance of order 3/2, whose slope may change everywhere, but does
not jump, and which carry over cells that are missing (Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, chapters 2
and 4.2). All are linear in their parameters, so their evidence is exact (ibid., equation 2.30); models are weighed
by it (Kass and Raftery 1995, Journal of the American Statistical Association 90, 773-795).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

MINIMUM, ADDITIVE, FREE = "minimum", "additive", "free"
FAMILIES = (MINIMUM, ADDITIVE, FREE)

REACHES = (0.5, 1.5)
"""How far levels are alike, over the range measured, alike likely: curves with a bend or two, and nearly straight ones."""

INTERACTIONS = {MINIMUM: (0.1, 0.2), FREE: (0.1, 0.3, 1.0)}
"""Spread of the interaction over that of the surface, by family, alike likely: two limits are seldom sharp, and seldom nothing else
at all; between that and no interaction is a free surface."""

JITTER = 1e-9
"""Of the variance, on the diagonal of its covariance: it keeps levels that lie close together from being singular."""

LEAST_SIZE = 1e-6
"""A surface that never changes is taken to vary by this much, which keeps every division defined."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The measured cells of a grid of two knobs.

    x: places of the levels of either knob on its axis, increasing. first, second: shape (cells,), the level of each
    knob by its position. value: shape (cells,), ln(response), smaller is better.
    """

    x: tuple[np.ndarray, np.ndarray]
    first: np.ndarray
    second: np.ndarray
    value: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """How many levels either knob has."""
        return len(self.x[0]), len(self.x[1])

    @property
    def size(self) -> float:
        """How much the cells vary, a standard deviation: what is believed of a surface before any data is on its scale."""
        return max(float(np.std(self.value)), LEAST_SIZE)

    def spread(self, values: np.ndarray, elsewhere: float = 0.0) -> np.ndarray:
        """Values of the cells as a grid, shape (levels, levels). elsewhere: where nothing was measured."""
        grid = np.full(self.shape, elsewhere)
        grid[self.first, self.second] = values
        return grid

    @cached_property
    def levels_of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Which level of either knob a cell has, each of shape (cells, levels of the knob)."""
        return np.eye(self.shape[0])[self.first], np.eye(self.shape[1])[self.second]

    def alike(self, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """Correlation between the levels of either knob, before any data."""
        first, second = (np.sqrt(3) * np.abs(np.subtract.outer(x, x)) / (reach * np.ptp(x)) for x in self.x)
        return (1 + first) * np.exp(-first), (1 + second) * np.exp(-second)


@dataclass(frozen=True, eq=False)
class Surface:
    """A linear model: every cell is a sum of parameters that have a Gaussian prior around 0.

    design: shape (cells, parameters). prior: their covariance. log_prior: of the surface within its family.
    """

    family: str
    design: np.ndarray
    prior: np.ndarray
    log_prior: float = 0.0

    @cached_property
    def lower(self) -> np.ndarray:
        """A root of the prior covariance."""
        jitter = JITTER * float(np.trace(self.prior)) / len(self.prior)
        return np.linalg.cholesky(self.prior + jitter * np.eye(len(self.prior)))


def additive(cells: Cells, reach: float) -> Surface:
    """Two curves that add up."""
    return Surface(ADDITIVE, np.concatenate(cells.levels_of_cells, axis=1), _curves(cells, reach))


def minimum(cells: Cells, reach: float, stairs: np.ndarray, log_prior: float) -> Surface:
    """The scarcer of two limits. stairs: shape (levels of the first knob,), the level of the second from which on the first
    decides. log_prior: of the staircase."""
    rows, columns = cells.levels_of_cells
    decides = (cells.second >= stairs[cells.first])[:, None]
    design = np.concatenate([rows * decides, columns * ~decides], axis=1)
    return Surface(MINIMUM, design, _curves(cells, reach), log_prior)


def with_interaction(surface: Surface, cells: Cells, reach: float, family: str) -> list[Surface]:
    """A surface with an interaction of each size that its family may have; each cell has a parameter of its own."""
    first, second = cells.alike(reach)
    i, j = np.ix_(cells.first, cells.first), np.ix_(cells.second, cells.second)
    product = cells.size**2 * first[i] * second[j]
    prior, own = surface.design @ surface.prior @ surface.design.T, np.eye(len(cells.value))
    return [
        Surface(family, own, prior + share**2 * product, surface.log_prior) for share in INTERACTIONS[family]
    ]


def _curves(cells: Cells, reach: float) -> np.ndarray:
    """Covariance of a curve over each knob, which know nothing of each other."""
    (m, n), (first, second) = cells.shape, cells.alike(reach)
    return cells.size**2 * np.block([[first, np.zeros((m, n))], [np.zeros((n, m)), second]])


@dataclass(frozen=True, eq=False)
class Fitted:
    """A surface beside the cells, under one assumption on their noise.

    log_evidence: of surface and assumption. variance: shape (cells,), of the cells around it. centre: added to what the
    parameters say. mean: of the parameters. inner: a root of their posterior precision, in units of the root of their prior.
    """

    surface: Surface
    log_evidence: float
    variance: np.ndarray
    centre: float
    mean: np.ndarray
    inner: np.ndarray

    @cached_property
    def root(self) -> np.ndarray:
        """A matrix whose product with its transpose is the posterior covariance of the parameters."""
        return np.linalg.solve(self.inner, self.surface.lower.T).T

    def draws(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Surfaces from the posterior, shape (n, cells)."""
        parameters = self.mean + rng.standard_normal((n, len(self.mean))) @ self.root.T
        return self.centre + parameters @ self.surface.design.T

    def surprise(self, cells: Cells) -> np.ndarray:
        """How far each cell lies from what all others say of it, in standard deviations; shape (cells,).

        Leave-one-out residuals of a Gaussian model (Rasmussen and Williams 2006, equations 5.10 to 5.12).
        """
        design = self.surface.design
        known = ((design @ self.root) ** 2).sum(axis=1)
        off = cells.value - self.centre - design @ self.mean
        return off / np.sqrt(np.maximum(self.variance - known, JITTER * self.variance))


def fit(surface: Surface, cells: Cells, variance: np.ndarray, log_prior: float) -> Fitted:
    """The posterior of a surface. variance: shape (cells,), of the cells around it; log_prior: of this assumption."""
    centre = float(np.average(cells.value, weights=1 / variance))
    y = (cells.value - centre) / np.sqrt(variance)
    lower = surface.lower
    seen = surface.design @ lower / np.sqrt(variance)[:, None]
    inner = np.linalg.cholesky(np.eye(len(lower)) + seen.T @ seen)
    half = np.linalg.solve(inner, seen.T @ y)
    fits = -0.5 * float(y @ y - half @ half + np.log(2 * np.pi * variance).sum())
    evidence = fits - float(np.log(np.diag(inner)).sum()) + surface.log_prior + log_prior
    mean = lower @ np.linalg.solve(inner.T, half)
    return Fitted(surface, evidence, variance, centre, mean, inner)
