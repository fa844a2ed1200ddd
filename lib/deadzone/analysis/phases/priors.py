"""What is believed about phases before any data: elasticities, lengths, order, curvature.

Each label brings a density on its elasticity with soft edges, so that the label of a piece follows
from its slope and the slope's uncertainty together. The densities are broad on purpose: they are
made from the meaning of the labels, not from any set of curves. Bayesian segmentation with
informative segments: Fearnhead (2006), Exact and efficient Bayesian inference for multiple
changepoint problems, Statistics and Computing 16.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from deadzone.analysis.phases.thresholds import LABELS, Thresholds

LINEAR, DEAD_ZONE, BREAKTHROUGH, PLATEAU, REVERSAL = range(len(LABELS))

AFTERMATH = len(LABELS)
"""A state of the chain beside the labels: what is flat behind harm. It stays as bad to the end of
the range, so its label is that of a reversal; rates fall like that from one thread to two, where a
lock is fought for, and from a buffer that fits no more."""

STATE_LABELS = np.array([*range(len(LABELS)), REVERSAL])
"""The label of each state."""

TAIL = 0.08
"""Share of each density that is spread far beyond its core, so that no slope is impossible."""

EDGE = 0.03
"""Softness of an edge near zero elasticity (logistic scale): doubling the knob then moves the
response by 2 %, which is hardly felt in practice."""

START = np.append(np.log([0.50, 0.25, 0.05, 0.12, 0.08]), -np.inf)
"""State of the first phase: most sweeps begin where the knob still pays."""

FOLLOWS = {
    LINEAR: {DEAD_ZONE: 0.25, BREAKTHROUGH: 0.25, PLATEAU: 0.30, REVERSAL: 0.20, LINEAR: 0.08},
    DEAD_ZONE: {LINEAR: 0.50, BREAKTHROUGH: 0.50, DEAD_ZONE: 0.02},
    BREAKTHROUGH: {LINEAR: 0.25, DEAD_ZONE: 0.25, PLATEAU: 0.30, REVERSAL: 0.20},
    PLATEAU: {REVERSAL: 0.05},
    REVERSAL: {REVERSAL: 0.02, AFTERMATH: 0.05},
    AFTERMATH: {REVERSAL: 0.02},
}
"""Which label may follow which. A plateau or a reversal gains nothing to the end of the range, a
dead zone or a breakthrough is followed by something; a flat stretch may still end in a reversal. A
change of slope within a label is possible (scaling that fades in two stages) and makes no new
phase."""

ENDS = {LINEAR: 0.4, PLATEAU: 1.0, REVERSAL: 1.0, AFTERMATH: 1.0}
"""Labels a curve may end with, and how readily: a linear end is a range too short to see the
plateau."""

SHORT = np.array([0.04, 0.03, 0.0, 0.08, 0.12, 0.08])
"""Prior probability that a phase lasts a single step, by state (a breakthrough has a law of its
own): one level apart is what an accident looks like, except for the harm that begins at the last
level."""

BENDS = np.array([0.0, 0.35, 0.7, 1.2, -0.4, -0.9])
"""Curvatures tried: the elasticity changes by this fraction of itself from start to end of a
piece."""

BEND_PRIOR = {
    LINEAR: np.array([0.40, 0.25, 0.16, 0.06, 0.12, 0.01]),
    BREAKTHROUGH: np.array([0.30, 0.15, 0.15, 0.10, 0.15, 0.15]),
}
"""Scaling fades more often than it grows; a threshold that is crossed has no reason to be
straight."""


def _box(e: np.ndarray, low: float, high: float, soft_low: float, soft_high: float) -> np.ndarray:
    """A density-shaped plateau between two soft edges, height 1 inside."""
    rising, falling = np.tanh(0.5 * (e - low) / soft_low), np.tanh(0.5 * (high - e) / soft_high)
    return 0.25 * (1.0 + rising) * (1.0 + falling)


SlopePrior = Callable[[np.ndarray], np.ndarray]
"""log p(elasticity | state) of elasticities; shape (6, *elasticity.shape)."""

WARP = 0.1
"""Elasticities are tabulated finely below this size and by ratio above it."""

POINTS = 4096
SPAN = 60.0
"""Largest elasticity in the table; a response does not change faster than its knob's 60th power."""


@lru_cache(maxsize=16)
def slope_prior(thresholds: Thresholds) -> SlopePrior:
    """The densities of the elasticity for the five labels, with edges at the thresholds."""
    warped = np.linspace(-np.arcsinh(SPAN / WARP), np.arcsinh(SPAN / WARP), POINTS)
    e = WARP * np.sinh(warped)
    pay, jump, harm = thresholds.linear, thresholds.breakthrough, thresholds.reversal
    near_zero = 1.0 / (1.0 + (e / 0.08) ** 2) ** 1.5
    up = np.maximum(e, 1e-9)
    down = np.maximum(-e, 1e-9)
    cores = np.array(
        [
            _box(e, pay + 0.05, 1.3, 2 * EDGE, 0.12),
            _box(e, -0.75, pay - 0.12, 0.12, EDGE),
            np.where(e > 0, up**-0.7, 0) * _box(e, jump + 0.5, 12.0, 0.3, 1.0),
            near_zero * _box(e, harm, pay, 2 * EDGE, EDGE),
            _box(e, -1.5, harm - 0.08, 0.2, EDGE),
        ]
    )
    tails = np.array(
        [
            _box(e, pay - 0.05, jump, EDGE, 0.3),
            np.exp(-np.abs(e) / 0.5) * _box(e, -8.0, pay, 1.0, EDGE),
            np.where(e > 0, 1 / up, 0) * _box(e, jump, 40.0, 0.2, 4.0),
            _box(e, harm, pay, EDGE, EDGE),
            np.where(e < 0, 1 / down, 0) * _box(e, -20.0, harm, 4.0, EDGE),
        ]
    )
    cores, tails = (shapes / np.trapezoid(shapes, e, axis=1)[:, None] for shapes in (cores, tails))
    density = (1 - TAIL) * cores + TAIL * tails
    density = density[[*range(len(LABELS)), PLATEAU]]
    # Tabulated over asinh(e / WARP), equally spaced.
    table, low, step = np.log(np.maximum(density, 1e-12)), warped[0], warped[1] - warped[0]

    def log_density(elasticity: np.ndarray) -> np.ndarray:
        index = np.clip((np.arcsinh(elasticity / WARP) - low) / step, 0, POINTS - 1)
        return np.asarray(table[:, index.astype(np.intp)])

    return log_density


def transitions() -> np.ndarray:
    """log P(next state | state), shape (6, 6), -inf where a state cannot follow."""
    matrix = np.full((len(STATE_LABELS), len(STATE_LABELS)), -np.inf)
    for label, following in FOLLOWS.items():
        for after, probability in following.items():
            matrix[label, after] = np.log(probability)
    return matrix


def endings() -> np.ndarray:
    """log weight of each state as the last one, shape (6,)."""
    return np.array([np.log(ENDS[k]) if k in ENDS else -np.inf for k in range(len(STATE_LABELS))])


ALONE = 0.03
"""How much less readily a gain lasts only from the first level to the second: that is also what a
first trial looks like that started cold."""


def lengths(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """log P(a phase lasts L steps) and log P(it lasts at least L), each of shape (6, steps + 1).

    Index 0 is unused. A breakthrough is short; the others last about a third of the range.
    """
    count = np.arange(steps + 1, dtype=float)
    stay = 1.0 - 1.0 / max(3.0, steps / 3.0)
    # On three steps (four settings, each twice the last) a phase of one step is as likely as not;
    # on a dozen steps the rise is gone.
    short = np.maximum(SHORT, min(0.35, (2.0 / steps) ** 2))
    usual = (1 - stay) * stay ** np.maximum(count - 2, 0)
    pmf = np.where(count >= 2, (1 - short)[:, None] * usual, short[:, None])
    jump = 1.0 / np.maximum(count, 1.0) ** 1.6
    pmf[BREAKTHROUGH] = jump / jump[1:].sum()
    pmf[:, 0] = 0.0
    at_least = (1 - short)[:, None] * stay ** np.maximum(count - 2, 0)
    survive = np.where(count >= 2, at_least, 2 * short[:, None])
    with np.errstate(divide="ignore"):
        return np.log(pmf), np.log(survive)
