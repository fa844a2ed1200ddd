"""What the response may be in cells that were not measured: a Gaussian process over all cells, and
the trials that are expected to gain most.

A Matérn kernel (smoothness 5/2) with a length scale a column, and noise, fitted by marginal
likelihood (Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, ch. 5); expected
improvement (Jones, Schonlau and Welch 1998, Journal of Global Optimization 13, 455-492) on the mean
of the best measured cell, for single values flatter. The trials of a block are chosen one after the
other, each as if those before it had ended at their mean (the believer of Ginsbourger, Le Riche and
Carraro 2010, Computational Intelligence in Expensive Optimization Problems, 131-162).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

LENGTHS = (0.1, 30.0)
"""Bounds of a length scale; beyond the upper one a knob has no effect."""

NOISE_TIMES = 2.0
"""The variance of a trial is known to this factor from many repeats."""

LEAST_SPREAD = 1e-3
"""Responses that differ by less are equal [ln]."""


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A fitted process. x: shape (cells, columns). measured: the cell of each trial. value: shape
    (trials,), ln of the response, less is better. centre, spread: of the values. mean, deviation:
    of the true value of every cell, shape (cells,) [ln]."""

    x: np.ndarray
    measured: np.ndarray
    value: np.ndarray
    process: GaussianProcessRegressor
    centre: float
    spread: float
    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, measured: np.ndarray, value: np.ndarray) -> Surrogate:
        """The process of trials."""
        centre, spread = float(value.mean()), max(float(value.std()), LEAST_SPREAD)
        kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(
            np.ones(x.shape[1]), LENGTHS, nu=2.5
        ) + _noise(measured, value / spread)
        process = GaussianProcessRegressor(kernel, alpha=1e-8)
        with warnings.catch_warnings():
            # a knob without an effect has no longest length, and that is what it shows
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(x[measured], (value - centre) / spread)
        mean, deviation = _true(process, x)
        mean, deviation = centre + spread * mean, spread * deviation
        return cls(x, measured, value, process, centre, spread, mean, deviation)

    def joint(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the true values, shape (n,), and their covariance, shape (n, n) [ln]."""
        mean, covariance = self.process.predict(x, return_cov=True)
        noise = self.process.kernel_.k2.noise_level * np.eye(len(x))
        return self.centre + self.spread * mean, self.spread**2 * (covariance - noise)

    def ranked(self) -> list[int]:
        """The measured cells, the best first."""
        there = np.unique(self.measured)
        return [int(cell) for cell in there[np.argsort(self.mean[there], kind="stable")]]

    def most_promising(self, n: int, barred: np.ndarray) -> tuple[list[int], float]:
        """The cells of the next n trials, and what they are expected to gain at most [ln]. barred:
        cells that are not to be tried."""
        measured, value = [*self.measured], [*(self.value - self.centre) / self.spread]
        process, gained = self.process, 0.0
        for i in range(n):
            mean, deviation = _true(process, self.x)
            best = mean[np.unique(measured)].min()
            score = (best - mean) / deviation
            gain = (best - mean) * norm.cdf(score) + deviation * norm.pdf(score)
            gain[barred] = -1.0
            cell = int(np.argmax(gain))
            gained += float(gain[cell]) * self.spread
            measured.append(cell)
            value.append(mean[cell])
            if i < n - 1:
                process = GaussianProcessRegressor(process.kernel_, optimizer=None, alpha=1e-8)
                process.fit(self.x[measured], np.array(value))
                process.kernel_ = process.kernel
        return [int(cell) for cell in measured[len(self.measured) :]], gained


def _noise(measured: np.ndarray, value: np.ndarray) -> WhiteKernel:
    """The noise of a trial, by those that repeat a cell: without them a response that no knob
    explains far passes for noise."""
    repeated = pd.Series(value).groupby(measured)
    freedom = len(value) - repeated.ngroups
    if not freedom:
        return WhiteKernel(1e-2, (1e-6, 1.0))
    variance = max(float(((value - repeated.transform("mean")) ** 2).sum()) / freedom, 1e-5)
    about = NOISE_TIMES ** (1 + 2 / freedom)
    return WhiteKernel(variance, (variance / about, variance * about))


def _true(process: GaussianProcessRegressor, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation without the noise of a trial, shape (n,)."""
    mean, deviation = process.predict(x, return_std=True)
    noise = process.kernel_.k2.noise_level
    return mean, np.sqrt(np.maximum(deviation**2 - noise, 1e-12))
