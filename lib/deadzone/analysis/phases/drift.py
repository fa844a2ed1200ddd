"""Change of the response over the order of the run: a machine that warms up, a neighbour that wakes.

In a randomised design every level is measured early and late, so drift can be told from the knob:
ln(response) = level + block (or a straight line over the run order), the additive model of a
randomised complete block design (Montgomery, Design and Analysis of Experiments, chapter 4). Trials
far off are left out of this estimate, which must not be drawn by an outlier.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.prepare import Sample
from deadzone.analysis.phases.result import Drift

SIGNIFICANT = 0.01
"""Drift is removed below this p-value: a correction that is not needed costs little, but it should be rare."""

SMALLEST_REMOVED = 0.002
"""Drift of less than 0.2 % over the run changes no conclusion and is left alone."""

FAR_OFF = 4.0
"""Residuals beyond this many robust standard deviations do not take part."""

LEAST_FREEDOM = 4
"""With fewer residual degrees of freedom the test says nothing."""


@dataclass(frozen=True)
class _Fit:
    """One additive model: coefficients of the drift columns, their covariance, the test's p-value."""

    effects: np.ndarray
    covariance: np.ndarray
    p_value: float
    freedom: int


def estimate_drift(sample: Sample, certainty: float) -> tuple[Drift | None, np.ndarray]:
    """Drift over blocks or run order, and the correction to subtract from each trial's value.

    Returns (None, zeros) where no level was measured twice, or the design cannot tell drift from levels.
    """
    nothing = np.zeros(len(sample.value))
    fits = [(one, fit) for one in _designs(sample) if (fit := _additive(sample, one[1]))]
    if not fits:
        return None, nothing
    (kind, columns, names), fit = min(fits, key=lambda pair: pair[1].p_value)
    p = min(1.0, fit.p_value * len(fits))
    drift = _describe(sample, kind, names, fit, p, certainty)
    return drift, columns @ fit.effects if drift.removed else nothing


def _designs(sample: Sample) -> list[tuple[str, Any, list]]:
    """Drift columns to try, each centred over the run: (kind, (trials, columns), names). Those of blocks are sparse: a run of a thousand
    blocks has a hundred thousand trials."""
    from scipy.sparse import csr_array

    designs: list[tuple[str, Any, list]] = []
    if sample.block is not None:
        names, code = np.unique(sample.block, return_inverse=True)
        if 2 <= len(names) <= len(code) // 2:
            here = csr_array((np.ones(len(code)), (np.arange(len(code)), code)))
            designs.append(("block", here, list(names)))
    if sample.order is not None:
        designs.append(("order", (sample.order - sample.order.mean())[:, None], [0.0, 1.0]))
    return designs


def _additive(sample: Sample, columns: Any) -> _Fit | None:
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


def _least_squares(sample: Sample, columns: Any, keep: np.ndarray) -> tuple[_Fit | None, np.ndarray]:
    from scipy.linalg import pinvh
    from scipy.special import fdtrc

    target = _within_levels(sample.level, keep, sample.value)
    # The columns of all blocks add up to nothing within levels: what is left of their sum is rounding, not a column.
    products = _products_within(sample.level[keep], columns[keep])
    inverse, rank = pinvh(products, rtol=len(target) * np.spacing(1.0), return_rank=True)
    freedom = int(keep.sum()) - len(np.unique(sample.level[keep])) - rank
    if rank == 0 or freedom < LEAST_FREEDOM:
        return None, target
    effects = inverse @ (columns[keep].T @ target[keep])
    residual = target - _within_levels(sample.level, keep, columns @ effects)
    rest = float(residual[keep] @ residual[keep])
    explained = float(target[keep] @ target[keep]) - rest
    ratio = (explained / rank) / max(rest / freedom, 1e-300)
    fit = _Fit(effects, inverse * rest / freedom, float(fdtrc(rank, freedom, ratio)), freedom)
    return fit, residual


def _products_within(level: np.ndarray, columns: Any) -> np.ndarray:
    """Products of columns less their level's mean, shape (columns, columns); of those of blocks none is made dense."""
    from scipy.sparse import csr_array

    member = csr_array((np.ones(len(level)), (np.arange(len(level)), level)))
    sums = member.T @ columns
    products = columns.T @ columns - sums.T @ (sums / np.maximum(np.bincount(level), 1)[:, None])
    return products if isinstance(products, np.ndarray) else products.toarray()


def _within_levels(level: np.ndarray, keep: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values minus their level's mean over the kept trials, shape (trials,); a level without a kept trial gives 0."""
    counts = np.bincount(level[keep], minlength=int(level.max()) + 1)
    sums = np.bincount(level[keep], values[keep], len(counts))
    return np.where((counts > 0)[level], values - (sums / np.maximum(counts, 1))[level], 0.0)


def _describe(sample: Sample, kind: str, names: list, fit: _Fit, p: float, certainty: float) -> Drift:
    from scipy.special import stdtrit

    if kind == "block":
        effect, variance = fit.effects - fit.effects.mean(), np.diag(fit.covariance)
    else:
        ends = np.array([0.0, 1.0]) - sample.order.mean() if sample.order is not None else np.zeros(2)
        effect, variance = ends * fit.effects[0], ends**2 * fit.covariance[0, 0]
    sign = 1.0 if sample.higher_is_worse else -1.0
    effect = sign * effect
    half = stdtrit(fit.freedom, (1 + certainty) / 2) * np.sqrt(np.maximum(variance, 0.0))
    table = pd.DataFrame(
        {"effect": effect, "low": effect - half, "high": effect + half}, index=pd.Index(names, name=kind)
    )
    change = float(np.expm1(np.ptp(effect)))
    return Drift(kind, table, change, p, removed=p < SIGNIFICANT and change > SMALLEST_REMOVED)
