"""What the residuals of a fit say about its assumptions.

Durbin and Watson (1951, Biometrika 38, 159-177): 2 without correlation of neighbours, below 2 where they
agree. Taken along the run it shows drift, along the knob a curve that the straight pieces do not follow.
Normality: Jarque and Bera (1987, International Statistical Review 55, 163-172) and, up to 5,000 residuals,
Shapiro and Wilk (1965, Biometrika 52, 591-611), which needs fewer of them.
"""

from dataclasses import dataclass

import numpy as np

LEAST_RESIDUALS = 8
"""Below this no test of normality says anything."""

MOST_SHAPIRO = 5000
"""Shapiro and Wilk's p-value is not accurate beyond this (scipy's own limit)."""


@dataclass(frozen=True)
class Diagnostics:
    """Figures about residuals; nan where there are too few of them.

    durbin_watson_run, durbin_watson_knob: along the run and along the knob, 0 ... 4. skewness, kurtosis:
    0 and 3 for a normal distribution. jarque_bera, shapiro: test statistics with their p-values. count:
    residuals used, flagged trials left out.
    """

    durbin_watson_run: float
    durbin_watson_knob: float
    skewness: float
    kurtosis: float
    jarque_bera: float
    jarque_bera_p: float
    shapiro: float
    shapiro_p: float
    count: int


def diagnose(residual: np.ndarray, order: np.ndarray, level: np.ndarray) -> Diagnostics:
    """Diagnostics of the residuals of the unflagged trials.

    residual: shape (m,), ln(response / fitted). order: shape (m,), place in the run. level: shape (m,).
    """
    from scipy import stats

    means = np.array([residual[level == value].mean() for value in np.unique(level)])
    tests: list[float] = [np.nan] * 6
    if len(residual) >= LEAST_RESIDUALS and np.ptp(residual) >= 1e-12:
        tests[:4] = stats.skew(residual), stats.kurtosis(residual, fisher=False), *stats.jarque_bera(residual)
        if len(residual) <= MOST_SHAPIRO:
            tests[4:] = stats.shapiro(residual)
    skewness, kurtosis, bera, bera_p, shapiro, shapiro_p = map(float, tests)
    run, knob = durbin_watson(residual[np.argsort(order, kind="stable")]), durbin_watson(means)
    return Diagnostics(run, knob, skewness, kurtosis, bera, bera_p, shapiro, shapiro_p, len(residual))


def durbin_watson(residual: np.ndarray) -> float:
    """The Durbin-Watson statistic of residuals in order, shape (m,); nan for fewer than three."""
    squares = float(np.sum(residual**2))
    return float(np.sum(np.diff(residual) ** 2)) / squares if len(residual) > 2 and squares > 0 else np.nan


def r_squared(
    log_y: np.ndarray, residual: np.ndarray, weight: np.ndarray, n_parameters: int
) -> tuple[float, float]:
    """Share of the variance of ln(response) that the curve explains, plain and adjusted for its parameters.

    log_y, residual, weight: shape (m,). n_parameters: of the curve, the mean included. Both nan for a
    constant response; the adjusted one also where no degrees of freedom are left.
    """
    count = float(weight.sum())
    total = float(np.sum(weight * (log_y - np.average(log_y, weights=weight)) ** 2))
    if total <= 0:
        return np.nan, np.nan
    plain = 1 - float(np.sum(weight * residual**2)) / total
    df = count - n_parameters
    return plain, (1 - (1 - plain) * (count - 1) / df if df > 0 else np.nan)


LEAST_VARIANCE = 1e-24
"""Residuals of exact arithmetic data are rounding errors; below this their logarithm means nothing."""


def weighted_gaussian(
    residual: np.ndarray, weight: np.ndarray, n_mean_parameters: int
) -> tuple[float, float, float]:
    """Log-likelihood, AIC and BIC of residuals of ln(response) with one noise level.

    residual, weight: shape (m,). n_mean_parameters: parameters of the curve; the noise level is added.
    A trial with weight w counts as w of a trial; the noise level is that of highest likelihood. All three
    are nan where there are no more trials than parameters: the curve then passes through every point.
    """
    count = float(weight.sum())
    if count < n_mean_parameters + 1:
        return np.nan, np.nan, np.nan
    variance = max(float(np.sum(weight * residual**2)) / count, LEAST_VARIANCE)
    log_likelihood = float(-0.5 * count * (np.log(2 * np.pi * variance) + 1))
    k = n_mean_parameters + 1
    return log_likelihood, 2 * k - 2 * log_likelihood, float(k * np.log(count)) - 2 * log_likelihood
