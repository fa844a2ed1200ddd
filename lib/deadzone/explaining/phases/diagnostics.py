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
    means = np.array([residual[level == value].mean() for value in np.unique(level)])
    skewness, kurtosis, jb, jb_p = _jarque_bera(residual)
    shapiro, shapiro_p = _shapiro(residual)
    return Diagnostics(
        durbin_watson_run=durbin_watson(residual[np.argsort(order, kind="stable")]),
        durbin_watson_knob=durbin_watson(means),
        skewness=skewness,
        kurtosis=kurtosis,
        jarque_bera=jb,
        jarque_bera_p=jb_p,
        shapiro=shapiro,
        shapiro_p=shapiro_p,
        count=len(residual),
    )


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


def _jarque_bera(residual: np.ndarray) -> tuple[float, float, float, float]:
    from scipy import stats

    if len(residual) < LEAST_RESIDUALS or np.ptp(residual) < 1e-12:
        return np.nan, np.nan, np.nan, np.nan
    test = stats.jarque_bera(residual)
    kurtosis = float(stats.kurtosis(residual, fisher=False))
    return float(stats.skew(residual)), kurtosis, float(test.statistic), float(test.pvalue)


def _shapiro(residual: np.ndarray) -> tuple[float, float]:
    from scipy import stats

    if not LEAST_RESIDUALS <= len(residual) <= MOST_SHAPIRO or np.ptp(residual) < 1e-12:
        return np.nan, np.nan
    test = stats.shapiro(residual)
    return float(test.statistic), float(test.pvalue)
