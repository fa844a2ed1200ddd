"""Tests of normality of residuals, without scipy.stats, whose import takes as long as a whole fit.

Jarque and Bera (1987, International Statistical Review 55, 163-172) ask skewness and kurtosis; Shapiro and Wilk (1965,
Biometrika 52, 591-611) the correlation with normal scores, by Royston's approximations (1995, Algorithm AS R94, Applied
Statistics 44, 547-551), which scipy.stats uses too.
"""

from collections.abc import Sequence

import numpy as np

LEAST_VALUES = 8
"""Below this no test of normality says anything."""

MOST_SHAPIRO = 5000
"""Royston's p-value is not accurate beyond this."""

NORMALITY = ("skewness", "kurtosis", "jarque_bera", "jarque_bera_p", "shapiro", "shapiro_p")

LARGEST = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)
SECOND = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
"""What the weights of the two outermost values have beside their normal scores: polynomials in 1 / sqrt(n)."""

FEW = 11
FEW_BOUND = (-2.273, 0.459)
FEW_MEAN = (0.544, -0.39978, 0.025054, -6.714e-4)
FEW_LOG_SD = (1.3822, -0.77857, 0.062767, -0.0020322)
"""Up to FEW values -ln(bound - ln(1 - W)) is normal; bound, mean and ln(sd) are polynomials in n."""

MANY_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)
MANY_LOG_SD = (-0.4803, -0.082676, 0.0030302)
"""Beyond, ln(1 - W) is normal; mean and ln(sd) are polynomials in ln(n)."""


def normality(values: np.ndarray) -> dict[str, float]:
    """NORMALITY of values, shape (n,): skewness and kurtosis, 0 and 3 for a normal distribution, test statistics and their
    p-values; nan where there are too few, too many, or they are all alike."""
    tests = [np.nan] * len(NORMALITY)
    if len(values) >= LEAST_VALUES and np.ptp(values) >= 1e-12:
        tests[:4] = jarque_bera(values)
        if len(values) <= MOST_SHAPIRO:
            tests[4:] = shapiro_wilk(values)
    return dict(zip(NORMALITY, map(float, tests), strict=True))


def jarque_bera(values: np.ndarray) -> tuple[float, float, float, float]:
    """Skewness, kurtosis, test statistic and p-value (chi-squared with two degrees of freedom) of values, shape (n,)."""
    apart = values - values.mean()
    variance = np.mean(apart**2)
    skewness, kurtosis = np.mean(apart**3) / variance**1.5, np.mean(apart**4) / variance**2
    statistic = len(values) / 6 * (skewness**2 + (kurtosis - 3) ** 2 / 4)
    return skewness, kurtosis, statistic, np.exp(-statistic / 2)


def shapiro_wilk(values: np.ndarray) -> tuple[float, float]:
    """W and its p-value of values, shape (n,), LEAST_VALUES to MOST_SHAPIRO of them and not all alike."""
    from scipy.special import ndtr

    weights, apart = _weights(len(values)), np.sort(values) - np.mean(values)
    along, size = weights @ apart, np.sqrt((weights @ weights) * (apart @ apart))
    outside = (size - along) * (size + along) / size**2  # 1 - W without the loss of digits near W = 1
    if outside <= 0:
        return 1.0, 1.0
    n, deviation = len(values), np.log(outside)
    if n > FEW:
        mean, log_sd = (_polynomial(one, np.log(n)) for one in (MANY_MEAN, MANY_LOG_SD))
    else:
        bound, mean, log_sd = (_polynomial(one, n) for one in (FEW_BOUND, FEW_MEAN, FEW_LOG_SD))
        if deviation >= bound:
            return 1 - outside, 0.0
        deviation = -np.log(bound - deviation)
    return 1 - outside, ndtr((mean - deviation) / np.exp(log_sd))


def _weights(n: int) -> np.ndarray:
    """Weights of n ordered values, shape (n,): of length about 1, antisymmetric."""
    from scipy.special import ndtri

    scores = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    squares = scores @ scores
    outer = np.array([_polynomial(one, n**-0.5) for one in (SECOND, LARGEST)]) + scores[-2:] / np.sqrt(
        squares
    )
    inner = (squares - 2 * scores[-2:] @ scores[-2:]) / (1 - 2 * outer @ outer)
    weights = scores / np.sqrt(inner)
    weights[-2:], weights[:2] = outer, -outer[::-1]
    return weights


def _polynomial(coefficients: Sequence[float], at: float) -> float:
    """Value of a polynomial, the constant first."""
    return float(np.polynomial.polynomial.polyval(at, coefficients))
