"""Change of the response over the order of the run: a machine that warms up, a neighbour that
wakes.

In a randomised design every level is measured early and late, so drift can be told from the knob:
ln(response) = level + block (or a straight line over the run order), the additive model of a
randomised complete block design (Montgomery, Design and Analysis of Experiments, chapter 4). Trials
far off are left out of this estimate, which must not be drawn by an outlier.

The node is a blocking factor too, where trials of one curve ran on several machines of a cluster
(incomplete blocks are told apart as long as levels and nodes hang together). What a node is faster
or slower by is taken off its trials before the curve is fitted.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import fdtrc, stdtrit

from deadzone.analysis.phases.result import CurveTrials, Drift
from deadzone.language.messages import Message, _

SIGNIFICANT = 0.01
"""Drift is removed below this p-value: a correction that is not needed costs little, but it should
be rare."""

SMALLEST_REMOVED = 0.002
"""Drift of less than 0.2 % over the run changes no conclusion and is left alone."""

SMALLEST_OF_ROUNDS = 0.15
"""A column that counts rounds need not say when they were; a climb over them of less is left
alone."""

FAR_OFF = 4.0
"""Residuals beyond this many robust standard deviations do not take part."""

LEAST_FREEDOM = 4
"""With fewer residual degrees of freedom the test says nothing."""

MOST_NAMED = 4
"""So many nodes are named in a sentence."""


@dataclass(frozen=True)
class _Fit:
    """One additive model: coefficients of the drift columns, their covariance and number, what they
    do to each trial, the test's p-value."""

    effects: np.ndarray
    covariance: np.ndarray
    rank: int
    on_trials: np.ndarray
    p_value: float
    freedom: int


LEAST_WITHIN = 0.1
"""Where levels explain all but this share of the run order, they were measured one after the other:
what happens within each says nothing of the whole run."""


def estimate_drift(sample: CurveTrials, certainty: float) -> tuple[Drift | None, np.ndarray]:
    """Drift over blocks or run order, and the correction to subtract from each trial's value.

    Returns (None, zeros) where no level was measured twice, or the design cannot tell drift from
    levels.
    """
    fits: list[tuple[str, list, np.ndarray, _Fit]] = []
    trials, of = len(sample.value), (sample.level, sample.value)
    if sample.block is not None:
        blocks, code = np.unique(sample.block, return_inverse=True)
        if 2 <= len(blocks) <= trials // 2 and (fit := _additive(*of, code, np.ones(trials))):
            fits.append(("block", list(blocks), np.eye(len(blocks)), fit))
    if sample.order is not None:
        order = sample.order - sample.order.mean()
        own = _within_levels(order, sample.level, np.ones(trials, dtype=bool))
        is_told = own @ own > LEAST_WITHIN * (order @ order)
        if is_told and (fit := _additive(*of, np.zeros(trials, int), order)):
            ends = np.array([[0.0], [1.0]]) - sample.order.mean()
            fits.append(("order", [0.0, 1.0], ends, fit))
    if not fits:
        return None, np.zeros(trials)
    kind, names, weights, fit = min(fits, key=lambda one: one[-1].p_value)
    p = min(1.0, fit.p_value * len(fits))
    effect = weights @ fit.effects * (1 if sample.higher_is_worse else -1)
    variance = np.diag(weights @ fit.covariance @ weights.T)
    half = stdtrit(fit.freedom, (1 + certainty) / 2) * np.sqrt(np.maximum(variance, 0.0))
    table = pd.DataFrame(
        {"effect": effect, "low": effect - half, "high": effect + half},
        index=pd.Index(names, name=kind),
    )
    change = float(np.expm1(np.ptp(effect)))
    least = SMALLEST_OF_ROUNDS if sample.by_round else SMALLEST_REMOVED
    removed = p < SIGNIFICANT and change > least
    if sample.by_round and not removed:
        return None, np.zeros(trials)
    return Drift(kind, table, change, p, removed), fit.on_trials * removed


def _additive(
    level: np.ndarray, value: np.ndarray, code: np.ndarray, weight: np.ndarray
) -> _Fit | None:
    """Least squares of levels plus columns of which each trial is in one, twice: the second time
    without far-off trials. None where the design cannot tell them from levels.

    code: shape (trials,), the column of each trial; weight: what it has there. A run of a thousand
    blocks has a hundred thousand trials, so that no column is written out.
    """
    count, n = int(code.max()) + 1, int(level.max()) + 1
    keep = np.ones(len(value), dtype=bool)
    for _pass in range(2):
        here, some, own = level[keep], code[keep], weight[keep]
        trials = np.maximum(np.bincount(here, minlength=n), 1)
        target = _within_levels(value, level, keep)
        sums = np.bincount(here * count + some, own, n * count).reshape(n, count)
        products = np.diag(np.bincount(some, own**2, count)) - sums.T @ (sums / trials[:, None])
        # The columns of all blocks add up to nothing within levels: what is left of their sum is
        # rounding, not a column.
        nothing = len(value) * np.spacing(1.0)
        rank = int(np.linalg.matrix_rank(products, hermitian=True, rtol=nothing))
        freedom = int(keep.sum()) - len(np.unique(here)) - rank
        if rank == 0 or freedom < LEAST_FREEDOM:
            return None
        inverse = np.linalg.pinv(products, hermitian=True, rcond=nothing)
        effects = inverse @ np.bincount(some, own * target[keep], count)
        on_trials = weight * effects[code]
        residual = target - _within_levels(on_trials, level, keep)
        rest = float(residual[keep] @ residual[keep])
        explained = float(target[keep] @ target[keep]) - rest
        ratio = (explained / rank) / max(rest / freedom, 1e-300)
        p = float(fdtrc(rank, freedom, ratio))
        fit = _Fit(effects, inverse * rest / freedom, rank, on_trials, p, freedom)
        scale = 1.4826 * np.median(np.abs(residual[keep])) * np.sqrt(keep.sum() / freedom)
        keep = np.abs(residual) <= FAR_OFF * max(scale, 1e-12)
    return fit


def _within_levels(values: np.ndarray, level: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Values less their level's mean over the kept trials, shape (trials,)."""
    counts = np.maximum(np.bincount(level[keep], minlength=int(level.max()) + 1), 1)
    return values - (np.bincount(level[keep], values[keep], len(counts)) / counts)[level]


def without_nodes(
    table: pd.DataFrame, level: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, list[Message]]:
    """Take what the nodes of a cluster differ by off the trials, where they ran on several. level,
    value: of each trial, shape (trials,)."""
    if "node" not in table or table["node"].isna().any() or table["node"].nunique() < 2:
        return value, []
    names, code = np.unique(table["node"].to_numpy().astype(str), return_inverse=True)
    shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
    fit = _additive(level, value, code, np.ones(len(value)))
    if fit is None or fit.rank < len(names) - 1:
        return value, [
            _(
                "The trials ran on {n} nodes ({names}), with too few trials of the same levels on "
                "several: what a node does cannot be told from what the knob does.",
                n=len(names),
                names=shown,
            )
        ]
    sentence = _(
        "The trials ran on {n} nodes ({names}) that differ by {spread:percent}; that difference is "
        "taken off each trial before the fit.",
        n=len(names),
        names=shown,
        spread=float(np.expm1(np.ptp(fit.effects))),
    )
    return value - fit.on_trials + fit.on_trials.mean(), [sentence]
