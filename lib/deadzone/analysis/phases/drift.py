"""Change of the response over the order of the run: a machine that warms up, a neighbour that
wakes.

In a randomised design every level is measured early and late, so drift can be told from the knob:
ln(response) = level + block (or a straight line over the run order), the additive model of a
randomised complete block design (Montgomery, Design and Analysis of Experiments, chapter 4). Trials
far off are left out of this estimate, which must not be drawn by an outlier.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.phases.prepare import CurveTrials
from deadzone.analysis.phases.result import Drift

SIGNIFICANT = 0.01
"""Drift is removed below this p-value: a correction that is not needed costs little, but it should
be rare."""

SMALLEST_REMOVED = 0.002
"""Drift of less than 0.2 % over the run changes no conclusion and is left alone."""

FAR_OFF = 4.0
"""Residuals beyond this many robust standard deviations do not take part."""

LEAST_FREEDOM = 4
"""With fewer residual degrees of freedom the test says nothing."""


@dataclass(frozen=True)
class _Fit:
    """One additive model: coefficients of the drift columns, their covariance, the test's
    p-value."""

    effects: np.ndarray
    covariance: np.ndarray
    p_value: float
    freedom: int


@dataclass(frozen=True)
class _Columns:
    """Drift columns of which each trial is in one: a run of a thousand blocks has a hundred
    thousand trials.

    code: that column, shape (trials,). weight: what the trial has there, shape (trials,).
    """

    code: np.ndarray
    weight: np.ndarray

    def kept(self, keep: np.ndarray) -> "_Columns":
        """Of some of the trials."""
        return _Columns(self.code[keep], self.weight[keep])

    def times(self, effects: np.ndarray) -> np.ndarray:
        """What the columns do to each trial, shape (trials,)."""
        effect: np.ndarray = self.weight * effects[self.code]
        return effect

    def along(self, values: np.ndarray, count: int) -> np.ndarray:
        """Each column times values of the trials, shape (count,)."""
        return np.bincount(self.code, self.weight * values, count)

    def within(self, level: np.ndarray, count: int) -> np.ndarray:
        """Products of the columns less their level's mean, shape (count, count)."""
        trials = np.bincount(level)
        cells = np.bincount(level * count + self.code, self.weight, len(trials) * count)
        sums = cells.reshape(len(trials), count)
        return np.diag(self.along(self.weight, count)) - sums.T @ (
            sums / np.maximum(trials, 1)[:, None]
        )


def estimate_drift(sample: CurveTrials, certainty: float) -> tuple[Drift | None, np.ndarray]:
    """Drift over blocks or run order, and the correction to subtract from each trial's value.

    Returns (None, zeros) where no level was measured twice, or the design cannot tell drift from
    levels.
    """
    nothing = np.zeros(len(sample.value))
    fits = [(design, fit) for design in _designs(sample) if (fit := _additive(sample, design[1]))]
    if not fits:
        return None, nothing
    (kind, columns, names), fit = min(fits, key=lambda pair: pair[1].p_value)
    p = min(1.0, fit.p_value * len(fits))
    drift = _describe(sample, kind, names, fit, p, certainty)
    return drift, columns.times(fit.effects) if drift.removed else nothing


def _designs(sample: CurveTrials) -> list[tuple[str, _Columns, list]]:
    """Drift columns to try: (kind, columns, names); the run order is centred."""
    designs: list[tuple[str, _Columns, list]] = []
    if sample.block is not None:
        names, code = np.unique(sample.block, return_inverse=True)
        if 2 <= len(names) <= len(code) // 2:
            designs.append(("block", _Columns(code, np.ones(len(code))), list(names)))
    if sample.order is not None:
        order = sample.order - sample.order.mean()
        designs.append(("order", _Columns(np.zeros(len(order), int), order), [0.0, 1.0]))
    return designs


def _additive(sample: CurveTrials, columns: _Columns) -> _Fit | None:
    """Least squares of levels plus drift columns, twice: the second time without far-off trials."""
    keep = np.ones(len(sample.value), dtype=bool)
    fit = None
    for _ in range(2):
        fit, residual = _least_squares(sample, columns, keep)
        if fit is None:
            return None
        scale = 1.4826 * np.median(np.abs(residual[keep])) * np.sqrt(keep.sum() / fit.freedom)
        keep = np.abs(residual) <= FAR_OFF * max(scale, 1e-12)
    return fit


def _least_squares(
    sample: CurveTrials, columns: _Columns, keep: np.ndarray
) -> tuple[_Fit | None, np.ndarray]:
    from scipy.special import fdtrc

    target = _within_levels(sample.level, keep, sample.value)
    some, count = columns.kept(keep), int(columns.code.max()) + 1
    # The columns of all blocks add up to nothing within levels: what is left of their sum is
    # rounding, not a column.
    inverse, rank = _inverse(some.within(sample.level[keep], count), len(target) * np.spacing(1.0))
    freedom = int(keep.sum()) - len(np.unique(sample.level[keep])) - rank
    if rank == 0 or freedom < LEAST_FREEDOM:
        return None, target
    effects = inverse @ some.along(target[keep], count)
    residual = target - _within_levels(sample.level, keep, columns.times(effects))
    rest = float(residual[keep] @ residual[keep])
    explained = float(target[keep] @ target[keep]) - rest
    ratio = (explained / rank) / max(rest / freedom, 1e-300)
    fit = _Fit(effects, inverse * rest / freedom, float(fdtrc(rank, freedom, ratio)), freedom)
    return fit, residual


def _inverse(matrix: np.ndarray, rtol: float) -> tuple[np.ndarray, int]:
    """The pseudo-inverse of a symmetric matrix, and its rank: eigenvalues of less than so large a
    share of the largest are nothing."""
    values, vectors = np.linalg.eigh(matrix)
    is_some = np.abs(values) > rtol * np.abs(values).max()
    some = vectors[:, is_some]
    return (some / values[is_some]) @ some.T, int(is_some.sum())


def _within_levels(level: np.ndarray, keep: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values minus their level's mean over the kept trials, shape (trials,); a level without a kept
    trial gives 0."""
    counts = np.bincount(level[keep], minlength=int(level.max()) + 1)
    sums = np.bincount(level[keep], values[keep], len(counts))
    return np.where((counts > 0)[level], values - (sums / np.maximum(counts, 1))[level], 0.0)


def _describe(
    sample: CurveTrials, kind: str, names: list, fit: _Fit, p: float, certainty: float
) -> Drift:
    from scipy.special import stdtrit

    if kind == "block":
        effect, variance = fit.effects - fit.effects.mean(), np.diag(fit.covariance)
    else:
        ends = (
            np.array([0.0, 1.0]) - sample.order.mean() if sample.order is not None else np.zeros(2)
        )
        effect, variance = ends * fit.effects[0], ends**2 * fit.covariance[0, 0]
    sign = 1.0 if sample.higher_is_worse else -1.0
    effect = sign * effect
    half = stdtrit(fit.freedom, (1 + certainty) / 2) * np.sqrt(np.maximum(variance, 0.0))
    table = pd.DataFrame(
        {"effect": effect, "low": effect - half, "high": effect + half},
        index=pd.Index(names, name=kind),
    )
    change = float(np.expm1(np.ptp(effect)))
    return Drift(kind, table, change, p, removed=p < SIGNIFICANT and change > SMALLEST_REMOVED)
