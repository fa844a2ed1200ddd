"""Means and central intervals of anything that the pieces of a posterior say."""

import numpy as np

from deadzone.analysis.phases.segmentation import Pieces, bent_share

ONE_PIECE = 0.7
"""A phase whose pieces cover less of it than this on average is made of several pieces."""

END_VALUES = 31
"""Equally likely values of the curve taken at each end of such a phase."""


def weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, wanted: np.ndarray | tuple[float, ...]
) -> np.ndarray:
    """Quantiles of a weighted sample, linear between the middles of the steps; shape as
    `wanted`."""
    order = np.argsort(values, kind="stable")
    weight = weights[order]
    middle = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    return np.interp(np.asarray(wanted), middle, values[order])


def central(certainty: float) -> tuple[float, float, float]:
    """Lower end, middle and upper end of the central interval, as quantiles."""
    return (1 - certainty) / 2, 0.5, (1 + certainty) / 2


def wider(bounds: np.ndarray, spread: np.ndarray, certainty: float) -> np.ndarray:
    """Intervals, shape (n, 3), of values that scatter by so much besides, shape (n,), a standard
    deviation of a normal."""
    from scipy.special import ndtri

    middle, normal = bounds[:, [1]], ndtri(central(certainty))
    return np.asarray(
        middle + np.copysign(np.hypot(bounds - middle, spread[:, None] * normal), normal)
    )


def values_at(pieces: Pieces, x: np.ndarray, place: float, here: np.ndarray) -> np.ndarray:
    """Value at a place on the axis of each of the pieces chosen by `here`, which span it."""
    start, stop, left = pieces.start[here], pieces.stop[here], pieces.left[here]
    share = bent_share((place - x[start]) / (x[stop] - x[start]), pieces.bend[here])
    return left + share * (pieces.right[here] - left)


def curve_values(pieces: Pieces, x: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Possible values of the curve at level m and their posterior weights."""
    last = len(x) - 1
    here = (pieces.start <= m) & (pieces.stop > m) if m < last else pieces.stop == last
    return values_at(pieces, x, x[m], here), pieces.weight[here]


def step_elasticities(pieces: Pieces, x: np.ndarray, s: int) -> tuple[np.ndarray, np.ndarray]:
    """Possible elasticities of the step from level s to s + 1 and their posterior weights."""
    here = (pieces.start <= s) & (pieces.stop > s)
    start, stop = pieces.start[here], pieces.stop[here]
    span = x[stop] - x[start]
    share = [bent_share((x[m] - x[start]) / span, pieces.bend[here]) for m in (s, s + 1)]
    fall = pieces.left[here] - pieces.right[here]
    return fall * (share[1] - share[0]) / (x[s + 1] - x[s]), pieces.weight[here]


def phase_elasticities(
    pieces: Pieces, x: np.ndarray, first: int, stop: int, label: int
) -> tuple[np.ndarray, np.ndarray]:
    """Possible elasticities of a phase over the steps first ... stop - 1 and their weights.

    Pieces of the phase's label count by how much of the phase they cover. Where the phase is made
    of several pieces (scaling that fades in two stages) its elasticity is that from end to end.
    """
    overlap = np.minimum(pieces.stop, stop) - np.maximum(pieces.start, first)
    counted = pieces.weight * overlap * ((overlap > 0) & (pieces.label == label))
    here = (counted > 0) & ~pieces.is_law
    weight, steps = (
        counted[here],
        (pieces.is_law & (overlap > 0)).nonzero()[0].reshape(-1, stop - first),
    )
    if (weight * overlap[here]).sum() < ONE_PIECE * (stop - first) * weight.sum():
        slope, even = _from_end_to_end(pieces, x, first, stop)
        weight = even * weight.sum() / even.sum()
    else:
        slope = (pieces.left[here] - pieces.right[here]) / (
            x[pieces.stop[here]] - x[pieces.start[here]]
        )
    along = (pieces.left[steps[:, 0]] - pieces.right[steps[:, -1]]) / (x[stop] - x[first])
    return np.concatenate([slope, along]), np.concatenate([weight, counted[steps].sum(axis=1)])


def joint_interval(
    pieces: Pieces, first: int, stop: int, label: int, certainty: float
) -> np.ndarray:
    """Levels (positions) between which the phase over the steps first ... stop - 1 begins: whole
    levels that hold the certainty; shape (2,)."""
    here = (pieces.label == label) & (pieces.start < stop) & (pieces.stop > first) & pieces.opens
    mass = np.bincount(pieces.start[here], pieces.weight[here], minlength=stop + 1)
    if mass.sum() <= 0:
        return np.array([first, first])
    tail = (1 - certainty) / 2
    return np.searchsorted(np.cumsum(mass) / mass.sum(), [tail, 1 - tail])


def _from_end_to_end(
    pieces: Pieces, x: np.ndarray, first: int, stop: int
) -> tuple[np.ndarray, np.ndarray]:
    """Elasticities between two levels; their values are taken as independent, which joints make
    them."""
    even = (np.arange(END_VALUES) + 0.5) / END_VALUES
    left, right = (weighted_quantiles(*curve_values(pieces, x, m), even) for m in (first, stop))
    slope = (left[:, None] - right[None, :]) / (x[stop] - x[first])
    return slope.ravel(), np.ones(slope.size)
