"""How well every possible piece of the curve explains the levels it spans.

A piece runs from one joint to another, is pinned to a value at each, falls between them along a
straight line on log-log axes or bends a little, and carries one of the five labels.

The exact posterior of all segmentations of a curve, by dynamic programming.

A state is (joint level, value of the curve there, what the piece is: see `priors`). Because a piece
is pinned at both its ends, the pieces to the left and to the right of a joint are independent given
the joint's value, so a forward and a backward pass over the states sum over every segmentation,
every label sequence and every value on the grid. The same pinning makes changes in slope tractable
in CPOP (Fearnhead, Maidstone and Letchford 2019, Detecting changes in slope with an L0 penalty,
Journal of Computational and Graphical Statistics 28); here values lie on a grid instead of
quadratics being minimised, so that likelihoods of any shape are allowed, and sums replace minima
(Fearnhead 2006). The models fitted are those of segmented regression (Muggeo 2003, Estimating
regression models with unknown break-points, Statistics in Medicine 22).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from deadzone.analysis.phases import priors
from deadzone.analysis.phases.noise import LevelTables, ValueGrid, look_up
from deadzone.analysis.phases.priors import STATE_LABELS, SlopePrior
from deadzone.analysis.phases.thresholds import LABELS


@dataclass(frozen=True)
class PieceScores:
    """log density of the levels of each piece given its ends, its label and its slope's prior.

    first: log likelihood of the first level at each of its grid values, grid width included.
    labelled: for each level j > 0, shape (j, 6, G, G): log likelihood of the levels after the
        start, up to and including j, bends integrated out, prior of the slope and grid width
        included.
    bends: for each level j > 0, shape (j, 6, 2, G, G): mean and standard deviation of the bend, 0
        of labels that do not bend.
    """

    grid: ValueGrid
    first: np.ndarray
    labelled: list[np.ndarray]
    bends: list[np.ndarray]


def bent_share(fraction: np.ndarray, bend: np.ndarray | float) -> np.ndarray:
    """Share of a piece's fall reached at `fraction` of its length on the log axis, both 0 ... 1."""
    return fraction + 0.5 * bend * fraction * (1 - fraction)


def score_pieces(
    x: np.ndarray, tables: LevelTables, grid: ValueGrid, slope: SlopePrior
) -> PieceScores:
    """Score all pieces between the levels of a curve, each of which may be a joint.

    x: shape (n,), ln(level). tables, grid: of all n levels.
    """
    at_level = look_up(tables, np.arange(len(x))[:, None], grid.value)
    labelled, bends = [], []
    for j in range(1, len(x)):
        inner = _inside(x, tables, grid, j) + at_level[j]
        line = inner[:, 0]
        span = (x[j] - x[:j])[:, None, None]
        fall = grid.value[:j, :, None] - grid.value[j][None, None, :]
        score = np.moveaxis(slope(fall / span), 0, 1)
        score += (line - np.log(span) + grid.log_width[j])[:, None]
        moments = np.zeros((j, len(STATE_LABELS), 2, *line.shape[1:]))
        for label, bend_prior in priors.BEND_PRIOR.items():
            # The last piece is a single step, which has no bend.
            gain, moments[:-1, label] = _integrate_bends(inner[:-1], bend_prior)
            score[:-1, label] += gain
        labelled.append(score)
        bends.append(moments)
    return PieceScores(grid, at_level[0] + grid.log_width[0], labelled, bends)


def _inside(x: np.ndarray, tables: LevelTables, grid: ValueGrid, j: int) -> np.ndarray:
    """log likelihood of the levels strictly inside each piece that ends at level j, for each of
    BENDS; (j, bends, G, G)."""
    out = np.zeros((j, len(priors.BENDS), *grid.value.shape[1:] * 2))
    owner, level = np.triu_indices(j, 1)
    first = np.searchsorted(owner, np.arange(j - 1))
    fraction = (x[level] - x[owner]) / (x[j] - x[owner])
    for k, bend in enumerate(priors.BENDS):
        share = bent_share(fraction, bend)[:, None, None]
        value = (1 - share) * grid.value[owner][:, :, None] + share * grid.value[j]
        out[:-1, k] = np.add.reduceat(look_up(tables, level[:, None, None], value), first, axis=0)
    return out


def _integrate_bends(inner: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log of the mean likelihood over bends, relative to no bend; mean and deviation of the
    bend."""
    top = inner.max(axis=1, keepdims=True)
    weight = np.exp(inner - top) * prior[None, :, None, None]
    total = weight.sum(axis=1)
    mean = np.einsum("jbuw,b->juw", weight, priors.BENDS) / total
    square = np.einsum("jbuw,b->juw", weight, priors.BENDS**2) / total
    moments = np.stack([mean, np.sqrt(np.maximum(square - mean**2, 0.0))], axis=1)
    return np.log(total) + top[:, 0] - inner[:, 0], moments


NEGLIGIBLE = 1e-6
"""Pieces with less posterior mass than this are left out of the results."""

BENT = float(priors.BENDS[1])
"""Distance of the bends tried: a piece that is surely bent has its bend somewhere between two of
them, evenly."""


@dataclass(frozen=True)
class Pieces:
    """Pieces that carry posterior mass; every array has the shape (pieces,).

    start, stop: levels (positions) of the ends. left, right: value of the curve there,
    ln(response). label: position in LABELS. bend: its expected curvature. weight: posterior
    probability.
    """

    start: np.ndarray
    stop: np.ndarray
    left: np.ndarray
    right: np.ndarray
    label: np.ndarray
    bend: np.ndarray
    weight: np.ndarray
    is_law: np.ndarray

    @property
    def opens(self) -> np.ndarray:
        """Whether a joint lies at each piece's start, shape (pieces,): steps of a law with the
        label of the step before have none."""
        return (self.start > 0) & (~self.is_law | (self.label != np.roll(self.label, 1)))

    @staticmethod
    def joined(parts: "Sequence[Pieces]", share: np.ndarray) -> "Pieces":
        """The pieces of several posteriors, each of which counts for its share."""
        weighed = [
            replace(part, weight=w * part.weight) for part, w in zip(parts, share, strict=True)
        ]
        return Pieces(
            *(np.concatenate([getattr(piece, f.name) for piece in weighed]) for f in fields(Pieces))
        )

    def widened(self, factor: float) -> "Pieces":
        """The pieces with the values at their ends `factor` times as far from the mean of all with
        their ends and label."""
        group = (self.start * (self.stop.max() + 1) + self.stop) * (len(LABELS) + 1)
        group += np.where(self.is_law, len(LABELS), self.label)
        total = np.maximum(np.bincount(group, self.weight), 1e-300)

        def spread(value: np.ndarray) -> np.ndarray:
            mean = (np.bincount(group, self.weight * value) / total)[group]
            return mean + factor * (value - mean)

        return replace(self, left=spread(self.left), right=spread(self.right))


Segmentation = tuple[float, Pieces]
"""log evidence of the curve, and the pieces with their posterior probabilities."""


def log_sum_exp(a: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """log of the sum of exponentials along `axis`, without overflow; -inf where nothing is
    possible."""
    top = np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(top, axis=axis) + np.log(np.exp(a - top).sum(axis=axis))


def lasting(n: int) -> np.ndarray:
    """log prior that a piece lasts from level i to level j; shape (6, n, n)."""
    pmf, at_least = priors.lengths(n - 1)
    steps = np.maximum(np.arange(n) - np.arange(n)[:, None], 0)
    out = pmf[:, steps]
    out[:, :, -1] = at_least[:, steps[:, -1]]
    # A first gain of a single step is usual on a range of few steps.
    alone = np.clip(3 * (2.0 / (n - 1)) ** 2, priors.ALONE, 1.0)
    out[[priors.LINEAR, priors.BREAKTHROUGH], 0, 1] += np.log(alone)
    return out


def segment(scores: PieceScores) -> Segmentation:
    """Sum over all segmentations."""
    follow, ends = priors.transitions(), priors.endings()[:, None]
    n, size = scores.grid.value.shape
    lasts = np.moveaxis(lasting(n), 0, 1)[..., None, None]
    pieces = [score + lasts[: j + 1, :, j + 1] for j, score in enumerate(scores.labelled)]
    # enter[i]: log mass of all that lies left of level i and starts a piece there.
    enter = np.full((n, len(STATE_LABELS), size), -np.inf)
    enter[0] = arrive = priors.START[:, None] + scores.first
    for j in range(1, n):
        arrive = log_sum_exp(pieces[j - 1] + enter[:j, :, :, None], axis=(0, 2))
        enter[j] = log_sum_exp(arrive[:, None, :] + follow[:, :, None], axis=0)
    evidence = float(log_sum_exp((arrive + ends).ravel(), axis=0))
    begin, found = np.full((n, len(STATE_LABELS), size), -np.inf), []
    leave = np.broadcast_to(ends, (len(STATE_LABELS), size))
    for j in range(n - 1, 0, -1):
        if j < n - 1:
            leave = log_sum_exp(begin[j][None, :, :] + follow[:, :, None], axis=1)
        onward = pieces[j - 1] + leave[None, :, None, :]
        mass = onward + (enter[:j] - evidence)[:, :, :, None]
        i, k, a, b = here = np.nonzero(mass > np.log(NEGLIGIBLE))
        bend = scores.bends[j - 1][i, k, :, a, b]
        found.append(np.column_stack([i, np.full_like(i, j), a, b, k, mass[here], bend]))
        begin[:j] = np.logaddexp(begin[:j], log_sum_exp(onward, axis=3))
    return evidence, _collect(np.concatenate(found), scores.grid.value)


def _collect(found: np.ndarray, value: np.ndarray) -> Pieces:
    """Pieces from what was found of each: its place among the scores, the logarithm of its
    probability, and mean and deviation of its bend. An uncertain bend becomes two halves, one
    deviation either way. value: of the grid."""
    i, j, a, b, k = found[:, :5].astype(np.intp).T
    mass, mean, deviation = found[:, 5:].T
    between = np.minimum(2 * np.abs(mean) / BENT, 1.0) * BENT / np.sqrt(12)
    is_split = deviation > 0
    spread = np.where(is_split, np.hypot(deviation, between), 0.0)
    weight = np.exp(mass) * np.where(is_split, 0.5, 1.0)
    every = np.concatenate([np.arange(len(i)), np.flatnonzero(is_split)])
    bend = np.concatenate([mean + spread, (mean - spread)[is_split]])
    i, j, a, b, k = i[every], j[every], a[every], b[every], k[every]
    ends = value[i, a], value[j, b]
    return Pieces(i, j, *ends, STATE_LABELS[k], bend, weight[every], every < 0)


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
        slope = _from_end_to_end(pieces, x, first, stop)
        weight = np.full(len(slope), weight.sum() / len(slope))
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
    return np.searchsorted(np.cumsum(mass) / mass.sum(), central(certainty)[::2])


def _from_end_to_end(pieces: Pieces, x: np.ndarray, first: int, stop: int) -> np.ndarray:
    """Elasticities between two levels, equally likely; their values are taken as
    independent, which joints make them."""
    even = (np.arange(END_VALUES) + 0.5) / END_VALUES
    left, right = (weighted_quantiles(*curve_values(pieces, x, m), even) for m in (first, stop))
    return ((left[:, None] - right[None, :]) / (x[stop] - x[first])).ravel()
