"""The families of surfaces that are weighed against each other, each with its exact evidence.

On log-log axes, smaller is better, over the levels i of the first knob and j of the second:

- `minimum`: the scarcer of two limits decides, v = f(i) on one side of a staircase and g(j) on the
  other: the law of the minimum, whose isoquants have a right angle (Paris 1992, American Journal of
  Agricultural Economics 74, 1019-1028; of the limits of a processor the roofline of Williams,
  Waterman and Patterson 2009, Communications of the ACM 52(4), 65-76).
- `additive`: v = f(i) + g(j); either knob pays by itself, wherever the other stands.
- `free`: additive with an interaction, a deviation of each cell that neighbours share; the others
  may have a small one.

f, g and the interaction are Gaussian processes with the Matern covariance of order 3/2, whose slope
may change everywhere, but does not jump, and which carry over cells that are missing (Rasmussen and
Williams 2006, Gaussian Processes for Machine Learning, chapters 2 and 4.2). All are linear in their
parameters, so their evidence is exact (ibid., equation 2.30); models are weighed by it (Kass and
Raftery 1995, Journal of the American Statistical Association 90, 773-795).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadzone.analysis.surfaces.grid import Grid

MINIMUM, ADDITIVE, FREE = "minimum", "additive", "free"
FAMILIES = (MINIMUM, ADDITIVE, FREE)

REACHES = (0.5, 1.5)
"""How far levels are alike, over the range measured, alike likely: curves with a bend or two, and
nearly straight ones."""

INTERACTIONS = {MINIMUM: (0.0, 0.1, 0.2), ADDITIVE: (0.0, 0.1), FREE: (0.3, 1.0)}
"""Spread of the interaction over that of the surface, by family, alike likely within it: neither
two limits nor two shares are quite sharp, and with a larger one a surface is neither."""

JITTER = 1e-9
"""Of the variance, on the diagonal of its covariance: it keeps levels that lie close together from
being singular."""


@dataclass(frozen=True, eq=False)
class LinearSurface:
    """A linear model: every cell is a sum of parameters that have a Gaussian prior around 0.

    design: shape (cells, parameters). prior: their covariance. log_prior: of the surface within its
    family.
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


@dataclass(frozen=True, eq=False)
class Prior:
    """What is believed of the surfaces of a grid before any data. reach: one of REACHES."""

    grid: Grid
    reach: float

    @cached_property
    def alike(self) -> list[np.ndarray]:
        """Covariance between the levels of either knob."""
        far = [
            np.sqrt(3) * np.abs(np.subtract.outer(x, x)) / (self.reach * np.ptp(x))
            for x in self.grid.x
        ]
        return [self.grid.size**2 * (1 + distance) * np.exp(-distance) for distance in far]

    def sharp(self, stairs: np.ndarray | None = None, log_prior: float = 0.0) -> LinearSurface:
        """Two curves that add up; or of which one decides at each cell, on either side of a
        staircase.

        stairs: shape (levels of the first knob,), the level of the second from which on the first
        decides. log_prior: of it.
        """
        first, second = self.grid.at
        decides = np.full(len(first), True) if stairs is None else second >= stairs[first]
        others = decides if stairs is None else ~decides
        rows, columns = (np.eye(n) for n in self.grid.shape)
        design = np.hstack([rows[first] * decides[:, None], columns[second] * others[:, None]])
        prior = np.zeros((design.shape[1],) * 2)
        prior[: len(rows), : len(rows)], prior[len(rows) :, len(rows) :] = self.alike
        return LinearSurface(ADDITIVE if stairs is None else MINIMUM, design, prior, log_prior)

    def with_interaction(self, surface: LinearSurface) -> Iterator[LinearSurface]:
        """The surface with an interaction of each size, which may make it one of another family;
        each cell has a parameter of its own."""
        first, second = self.grid.at
        product = self.alike[0][np.ix_(first, first)] * self.alike[1][np.ix_(second, second)]
        base = surface.design @ surface.prior @ surface.design.T
        for family in (MINIMUM,) if surface.family == MINIMUM else (ADDITIVE, FREE):
            for share in filter(None, INTERACTIONS[family]):
                prior = base + (share / self.grid.size) ** 2 * product
                yield LinearSurface(family, np.eye(len(first)), prior, surface.log_prior)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A surface beside the cells, under one assumption on their noise.

    value: shape (cells,); variance: shape (cells,), of these around the surface. log_evidence: of
    surface and assumption.
    """

    surface: LinearSurface
    value: np.ndarray
    variance: np.ndarray
    log_evidence: float

    def posterior(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The surface's mean at the cells, shape (cells,); a matrix, shape (cells, parameters),
        whose product with its transpose is its covariance; and how far each cell lies from what all
        others say of it, in standard deviations.

        The last are leave-one-out residuals (Rasmussen and Williams 2006, equations 5.10 to 5.12).
        Made anew for the few that are drawn from: those of all surfaces would take a gigabyte.
        """
        y, root, _ = _solved(self.surface, self.value, self.variance)
        scale, mean = np.sqrt(self.variance), (root @ y) @ root
        surprise = (y - mean) / np.sqrt(np.maximum(1 - (root**2).sum(axis=0), JITTER))
        return self.value - scale * (y - mean), (root * scale).T, surprise


def fit(
    surface: LinearSurface, value: np.ndarray, variance: np.ndarray, log_prior: float
) -> Fitted:
    """A surface with its evidence. value, variance: as of `Fitted`; log_prior: of the
    assumption."""
    y, root, log_shrinkage = _solved(surface, value, variance)
    misses = 0.5 * float(y @ y - ((root @ y) ** 2).sum() + np.log(2 * np.pi * variance).sum())
    return Fitted(surface, value, variance, surface.log_prior + log_prior - misses - log_shrinkage)


def _solved(
    surface: LinearSurface, value: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The cells in standard deviations from their centre, a root of the posterior covariance in
    these, and by how much (ln) the posterior is narrower than the prior."""
    y = (value - np.average(value, weights=1 / variance)) / np.sqrt(variance)
    seen = surface.design @ surface.lower / np.sqrt(variance)[:, None]
    inner = np.linalg.cholesky(np.eye(seen.shape[1]) + seen.T @ seen)
    return y, np.linalg.solve(inner, seen.T), float(np.log(np.diag(inner)).sum())
