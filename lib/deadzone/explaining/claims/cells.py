"""What the trials of a setting say of a column: its mean, how sure that is, and differences between settings.

A cell is all trials of one treatment. Means are of ln(response) where every value is positive, so that a difference is a
ratio, and of the values themselves elsewhere (shares of errors, which may be none). The scatter within a cell is drawn
towards that of all cells by as much as they agree (moderated variances: Smyth 2004, Statistical Applications in Genetics
and Molecular Biology 3, article 3); a difference has the degrees of freedom of Welch and Satterthwaite (1946,
Biometrics Bulletin 2, 110-114).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.explaining.phases.level_estimates import level_noise, prior_degrees
from deadzone.study.claims import same_level
from deadzone.study.levels import Level

LEAST_SCATTER = 1e-6
"""Scatter below which trials are exact in practice; it keeps every division defined."""


@dataclass(frozen=True)
class Estimate:
    """A number, its standard error and the degrees of freedom of that; n: trials of the smallest cell behind it."""

    value: float
    error: float
    df: float
    n: int

    def p_above(self, bound: float) -> float:
        """p-value of the null that the number is at most the bound (Student's t)."""
        from scipy.special import stdtr

        return float(stdtr(self.df, (bound - self.value) / self.error))

    def p_below(self, bound: float) -> float:
        """p-value of the null that the number is at least the bound."""
        return 1.0 - self.p_above(bound)

    def distance(self, bound: float) -> float:
        """How far the number is from a bound, in standard errors."""
        return (self.value - bound) / self.error

    def __sub__(self, other: Estimate) -> Estimate:
        variances = np.array([self.error**2, other.error**2])
        total = float(variances.sum())
        df = total**2 / float((variances**2 / np.array([self.df, other.df])).sum())
        return Estimate(self.value - other.value, total**0.5, df, min(self.n, other.n))

    def __mul__(self, factor: float) -> Estimate:
        return Estimate(self.value * factor, self.error * abs(factor), self.df, self.n)


def rows_at(trials: pd.DataFrame, levels: Mapping[str, Level]) -> np.ndarray:
    """Which trials were made at all of these levels, shape (trials,)."""
    chosen = np.ones(len(trials), dtype=bool)
    for factor, level in levels.items():
        chosen &= np.array([same_level(value, level) for value in trials[factor]], dtype=bool)
    return chosen


@dataclass(frozen=True, eq=False)
class Cells:
    """One column of the trials, treatment by treatment. is_log: whether values are logarithms.

    trials: the sound ones. values: shape (trials,). scatter, df: of a trial of each treatment, by its label.
    """

    trials: pd.DataFrame
    values: np.ndarray
    is_log: bool
    treatment: np.ndarray
    scatter: Mapping[str, float]
    df: Mapping[str, float]

    def at(self, levels: Mapping[str, Level]) -> Estimate | None:
        """The mean at a setting; None without a trial there, or where nothing tells how trials scatter.

        A setting that leaves a factor open is the mean over its treatments.
        """
        chosen = rows_at(self.trials, levels)
        names = list(dict.fromkeys(self.treatment[chosen]))
        if not names or any(name not in self.scatter for name in names):
            return None
        parts = []
        for name in names:
            values = self.values[chosen & (self.treatment == name)]
            parts.append(
                Estimate(
                    float(values.mean()), self.scatter[name] / len(values) ** 0.5, self.df[name], len(values)
                )
            )
        mean = parts[0]
        for part in parts[1:]:
            mean = mean - part * -1
        return mean * (1 / len(parts))


def cells_of(
    trials: pd.DataFrame,
    values: np.ndarray,
    factors: Sequence[str],
    noise: tuple[float, float] | None = None,
    *,
    linear: bool = False,
) -> Cells:
    """The cells of a column. values: shape (trials,), finite.

    noise: scatter of a trial on the scale of logarithms and its degrees of freedom, used where no treatment was repeated.
    linear: take no logarithms, whatever the values.
    """
    is_log = not linear and bool((values > 0).all())
    scaled = np.log(values) if is_log else values
    treatment = np.array(
        ["\n".join(str(trials[name].iloc[i]) for name in factors) for i in range(len(trials))], dtype=object
    )
    names, index = np.unique(treatment, return_inverse=True)
    count = np.bincount(index)
    mean = np.bincount(index, scaled) / count
    squares = np.bincount(index, (scaled - mean[index]) ** 2)
    own = count - 1.0
    total = float(own.sum())
    if total <= 0:
        if noise is None or not is_log:
            return Cells(trials, scaled, is_log, treatment, {}, {})
        scatter, df = np.full(len(names), noise[0]), np.full(len(names), noise[1])
    else:
        common = max(float(squares.sum() / total) ** 0.5, LEAST_SCATTER)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(own > 0, squares / own, np.nan)
        scatter = level_noise(variance, own, common)
        prior = prior_degrees(variance, own)
        df = np.full(len(names), total) if prior is None else np.minimum(own + prior, total)
    scatter = np.maximum(scatter, LEAST_SCATTER)
    return Cells(
        trials,
        scaled,
        is_log,
        treatment,
        dict(zip(names, scatter.tolist(), strict=True)),
        dict(zip(names, df.tolist(), strict=True)),
    )
