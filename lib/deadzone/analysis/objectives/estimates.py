"""The mean of the trials of each cell, how sure that is, and differences between cells.

A cell is all trials of one treatment. The scatter within a cell is drawn towards that of all cells
by as much as they agree (moderated variances: Smyth 2004, Statistical Applications in Genetics and
Molecular Biology 3, article 3); a difference has the degrees of freedom of Welch and Satterthwaite
(1946, Biometrics Bulletin 2, 110-114).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from deadzone.analysis.phases.level_estimates import level_noise, prior_degrees, prior_noise
from deadzone.analysis.phases.noise import FEWEST_REPEATS

LEAST_SCATTER = 1e-6
"""Scatter below which trials are exact in practice; it keeps every division defined."""


ONE_NOISE = 1.0
"""Cells whose common scatter counts for fewer degrees of freedom beside their own have none in
common: some scatter a hundred times as much as others, and alone would make the pooled one."""


@dataclass(frozen=True)
class Estimate:
    """A number, its standard error and the degrees of freedom of that; n: trials of the smallest
    cell behind it."""

    value: float
    error: float
    df: float
    n: int

    def p_above(self, bound: float) -> float:
        """p-value of the null that the number is at most the bound (Student's t)."""
        return float(stdtr(self.df, -self.distance(bound)))

    def p_below(self, bound: float) -> float:
        """p-value of the null that the number is at least the bound."""
        return (self * -1).p_above(-bound)

    def distance(self, bound: float) -> float:
        """How far the number is from a bound, in standard errors."""
        return (self.value - bound) / self.error

    def interval(self, coverage: float = 0.95) -> tuple[float, float]:
        """The ends of the number's interval."""
        half = float(stdtrit(self.df, (1 + coverage) / 2)) * self.error
        return self.value - half, self.value + half

    def __sub__(self, other: "Estimate") -> "Estimate":
        variances = np.array([self.error**2, other.error**2])
        total = float(variances.sum())
        df = total**2 / float((variances**2 / np.array([self.df, other.df])).sum())
        return Estimate(self.value - other.value, total**0.5, df, min(self.n, other.n))

    def __mul__(self, factor: float) -> "Estimate":
        return Estimate(self.value * factor, self.error * abs(factor), self.df, self.n)


def cell_means(
    groups: Sequence[np.ndarray], noise: tuple[float, float] | None = None
) -> list[Estimate] | None:
    """The mean of each cell; None where nothing tells how trials scatter.

    groups: for each cell its values, shape (n,), n >= 1, finite. noise: scatter of a trial and its
    degrees of freedom, used where no cell was repeated, or hardly any without scatter; None where
    that is not known either.
    """
    count = np.array([len(values) for values in groups])
    own = count - 1.0
    total = float(own.sum())
    # One or two repeats without any scatter tell the digits that were written.
    if total >= FEWEST_REPEATS or any(np.ptp(values) > 0 for values in groups):
        variance = np.array(
            [np.var(values, ddof=1) if len(values) > 1 else np.nan for values in groups]
        )
        common = float(np.nansum(own * variance) / total) ** 0.5
        prior = prior_degrees(variance, own)
        if prior is not None and prior < ONE_NOISE:
            common = prior_noise(variance, own, prior)
        scatter = level_noise(variance, own, max(common, LEAST_SCATTER))[0]
        df = np.full(len(groups), total) if prior is None else np.minimum(own + prior, total)
    elif noise is not None:
        scatter, df = (np.full(len(groups), value) for value in noise)
    else:
        return None
    errors = np.maximum(scatter, LEAST_SCATTER) / count**0.5
    return [
        Estimate(float(values.mean()), float(error), float(freedom), len(values))
        for values, error, freedom in zip(groups, errors, df, strict=True)
    ]
