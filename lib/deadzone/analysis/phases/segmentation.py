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

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from deadzone.analysis.phases import priors
from deadzone.analysis.phases.noise import LevelTables, Parabolas, ValueGrid, look_up
from deadzone.analysis.phases.priors import BREAKTHROUGH, LINEAR, STATE_LABELS, SlopePrior
from deadzone.analysis.phases.thresholds import LABELS


@dataclass(frozen=True)
class PieceScores:
    """log density of the levels of each piece given its ends, its label and its slope's prior.

    joints: positions of the candidate joints among the levels, first and last included; shape (m,).
    straight: for each joint j > 0, shape (j, G, G): log likelihood of the levels after the start,
    up to and including j, on the straight line between the two values.
    labelled: for each joint j > 0, shape (j, 6, G, G): the same with bends integrated out, prior
        of the slope and grid width included.
    bends: for each joint j > 0, shape (j, 2, 2, G, G): mean and standard deviation of the bend of
        linear pieces and of breakthroughs.
    """

    joints: np.ndarray
    grid: ValueGrid
    first_likelihood: np.ndarray
    straight: list[np.ndarray]
    labelled: list[np.ndarray]
    bends: list[np.ndarray]

    @property
    def first(self) -> np.ndarray:
        """log likelihood of the first level at each of its grid values, grid width included."""
        return self.first_likelihood + self.grid.log_width[0]

    def bend(
        self, i: np.ndarray, j: np.ndarray, a: np.ndarray, b: np.ndarray, label: np.ndarray
    ) -> np.ndarray:
        """Mean and deviation of the bend of pieces from grid value a at joint i to b at j; (2,
        pieces)."""
        out = np.zeros((2, len(i)))
        for end in np.unique(j):
            for row, bending in enumerate((LINEAR, BREAKTHROUGH)):
                here = (j == end) & (label == bending)
                out[:, here] = self.bends[end - 1][i[here], row, :, a[here], b[here]].T
        return out


def bent_share(fraction: np.ndarray, bend: np.ndarray | float) -> np.ndarray:
    """Share of a piece's fall reached at `fraction` of its length on the log axis, both 0 ... 1."""
    return fraction + 0.5 * bend * fraction * (1 - fraction)


def score_pieces(
    x: np.ndarray,
    tables: LevelTables,
    grid: ValueGrid,
    slope: SlopePrior,
    joints: np.ndarray,
    parabolas: Parabolas | None = None,
) -> PieceScores:
    """Score all pieces between the candidate joints of a curve.

    x: shape (n,), ln(level). tables: of all n levels. grid: of the joints. joints: positions, (m,).
    parabolas: for a long sweep, the levels' likelihoods near a first fit; without, they are looked
    up.
    """
    along = partial(_parabolic, parabolas) if parabolas else partial(_looked_up, tables)
    at_joint = look_up(tables, joints[:, None], grid.value)
    straight, labelled, bends = [], [], []
    for j in range(1, len(joints)):
        path = _Paths.ending_at(x, joints, j)
        inner = np.stack([along(grid, path, bend) for bend in priors.BENDS], axis=1)
        inner += at_joint[j]
        line = inner[:, 0]
        span = (x[joints[j]] - x[joints[:j]])[:, None, None]
        fall = grid.value[:j, :, None] - grid.value[j][None, None, :]
        score = np.moveaxis(slope(fall / span), 0, 1)
        score += (line - np.log(span) + grid.log_width[j])[:, None]
        moments = np.zeros((j, 2, 2, *line.shape[1:]))
        several = joints[j] - joints[:j] > 1
        for row, label in enumerate((LINEAR, BREAKTHROUGH)):
            gain, moments[several, row] = _integrate_bends(inner[several], priors.BEND_PRIOR[label])
            score[several, label] += gain
        straight.append(line)
        labelled.append(score)
        bends.append(moments)
    return PieceScores(joints, grid, at_joint[0], straight, labelled, bends)


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


@dataclass(frozen=True)
class _Paths:
    """The levels strictly inside each piece that ends at one joint, one after the other.

    end: the joint. owner: the joint each piece starts from, level: position, fraction: of the
    piece's length, for each inner level. filled: joints whose piece has inner levels; first: where
    they begin.
    """

    end: int
    owner: np.ndarray
    level: np.ndarray
    fraction: np.ndarray
    filled: np.ndarray
    first: np.ndarray

    @classmethod
    def ending_at(cls, x: np.ndarray, joints: np.ndarray, j: int) -> _Paths:
        counts = joints[j] - joints[:j] - 1
        begin = np.cumsum(counts) - counts
        owner = np.repeat(np.arange(j), counts)
        level = joints[owner] + 1 + np.arange(len(owner)) - np.repeat(begin, counts)
        fraction = (x[level] - x[joints[owner]]) / (x[joints[j]] - x[joints[owner]])
        filled = np.flatnonzero(counts)
        return cls(j, owner, level, fraction, filled, begin[filled])

    def sums(self, terms: np.ndarray) -> np.ndarray:
        """Sum terms (inner levels first) over each piece; shape (end, ...)."""
        out = np.zeros((self.end, *terms.shape[1:]))
        if len(self.filled):
            out[self.filled] = np.add.reduceat(terms, self.first, axis=0)
        return out


def _looked_up(tables: LevelTables, grid: ValueGrid, path: _Paths, bend: float) -> np.ndarray:
    """log likelihood of the levels strictly inside each piece; (end, G, G)."""
    share = bent_share(path.fraction, bend)[:, None, None]
    value = (1 - share) * grid.value[path.owner][:, :, None] + share * grid.value[path.end][
        None, None, :
    ]
    return path.sums(look_up(tables, path.level[:, None, None], value))


def _parabolic(shape: Parabolas, grid: ValueGrid, path: _Paths, bend: float) -> np.ndarray:
    """The same as `_looked_up` from parabolas, in time that does not grow with the number of
    values."""
    share = bent_share(path.fraction, bend)
    centre, weight = shape.centre[path.level], shape.weight[path.level]
    low, high = grid.middle[: path.end], grid.middle[path.end]
    off = centre - (1 - share) * low[path.owner] - share * high
    terms = np.stack(
        [
            shape.height[path.level] - 0.5 * weight * off**2,
            weight * off * (1 - share),
            weight * off * share,
            weight * (1 - share) ** 2,
            weight * share**2,
            weight * share * (1 - share),
        ],
        axis=1,
    )
    sums = path.sums(terms)[:, :, None, None]
    left = (grid.value[: path.end] - low[:, None])[:, :, None]
    right = (grid.value[path.end] - high)[None, None, :]
    linear = sums[:, 1] * left + sums[:, 2] * right
    return (
        sums[:, 0]
        + linear
        - 0.5 * (sums[:, 3] * left**2 + sums[:, 4] * right**2)
        - sums[:, 5] * left * right
    )


NEGLIGIBLE = 1e-6
"""Pieces with less posterior mass than this are left out of the results."""

BENT = float(priors.BENDS[1])
"""Distance of the bends tried: a piece that is surely bent has its bend somewhere between two of
them, evenly."""

MOST_PHASES = 8
"""Numbers of phases that are compared with each other in the criteria table."""


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
    def joined(parts: Sequence[Pieces], share: np.ndarray) -> Pieces:
        """The pieces of several posteriors, each of which counts for its share."""
        weighed = [
            replace(part, weight=w * part.weight) for part, w in zip(parts, share, strict=True)
        ]
        return Pieces(
            *(np.concatenate([getattr(piece, f.name) for piece in weighed]) for f in fields(Pieces))
        )

    def widened(self, factor: float) -> Pieces:
        """The pieces with the values at their ends `factor` times as far from the mean of all with
        their ends and label."""
        group = (self.start * (self.stop.max() + 1) + self.stop) * (len(LABELS) + 1)
        group += np.where(self.is_law, len(LABELS), self.label)
        total = np.maximum(np.bincount(group, self.weight), 1e-300)

        def spread(value: np.ndarray) -> np.ndarray:
            mean = (np.bincount(group, self.weight * value) / total)[group]
            return mean + factor * (value - mean)

        return replace(self, left=spread(self.left), right=spread(self.right))


@dataclass(frozen=True)
class Segmentation:
    """log evidence of the curve, and the pieces with their posterior probabilities."""

    log_evidence: float
    pieces: Pieces


def log_sum_exp(a: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """log of the sum of exponentials along `axis`, without overflow; -inf where nothing is
    possible."""
    top = np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(top, axis=axis) + np.log(np.exp(a - top).sum(axis=axis))


@dataclass(frozen=True)
class Chain:
    """The prior of a chain of pieces over the joints; see `priors`.

    lasting, surviving: shape (6, joints, joints), log prior of a piece from joint i to joint j when
        another follows, and when it is the last.
    """

    lasting: np.ndarray
    follow: np.ndarray
    ends: np.ndarray


def chain(joints: np.ndarray) -> Chain:
    """Prior of pieces between any two of the candidate joints (positions of levels, increasing)."""
    pmf, at_least = priors.lengths(int(joints[-1]))
    steps = np.maximum(joints[None, :] - joints[:, None], 0)
    lasting = pmf[:, steps]
    lasting[:, :, -1] = at_least[:, steps[:, -1]]
    if steps[0, 1] == 1:
        lasting[[priors.LINEAR, priors.BREAKTHROUGH], 0, 1] += priors.first_alone(int(joints[-1]))
    return Chain(lasting, priors.transitions(), priors.endings())


def segment(scores: PieceScores) -> Segmentation:
    """Sum over all segmentations: evidence and the pieces' posterior probabilities."""
    prior = chain(scores.joints)
    enter, evidence = _forward(scores, prior)
    return Segmentation(evidence, _backward(scores, prior, enter, evidence))


def _forward(scores: PieceScores, prior: Chain) -> tuple[np.ndarray, float]:
    """enter[i]: log mass of all that lies left of joint i and starts a piece there; (m, 6, G)."""
    m, size = scores.grid.value.shape
    enter = np.full((m, len(STATE_LABELS), size), -np.inf)
    enter[0] = priors.START[:, None] + scores.first
    arrive = enter[0]
    for j in range(1, m):
        piece = (
            scores.labelled[j - 1] + np.moveaxis(prior.lasting[:, :j, j], 0, 1)[:, :, None, None]
        )
        arrive = log_sum_exp(piece + enter[:j, :, :, None], axis=(0, 2))
        enter[j] = log_sum_exp(arrive[:, None, :] + prior.follow[:, :, None], axis=0)
    return enter, float(log_sum_exp((arrive + prior.ends[:, None]).ravel(), axis=0))


def _backward(scores: PieceScores, prior: Chain, enter: np.ndarray, evidence: float) -> Pieces:
    """Walk from the last joint to the first; collect the pieces with posterior mass."""
    m, size = scores.grid.value.shape
    begin = np.full((m, len(STATE_LABELS), size), -np.inf)
    rows: list[np.ndarray] = []
    for j in range(m - 1, 0, -1):
        if j == m - 1:
            leave = np.broadcast_to(prior.ends[:, None], (len(STATE_LABELS), size))
        else:
            leave = log_sum_exp(begin[j][None, :, :] + prior.follow[:, :, None], axis=1)
        piece = (
            scores.labelled[j - 1] + np.moveaxis(prior.lasting[:, :j, j], 0, 1)[:, :, None, None]
        )
        onward = piece + leave[None, :, None, :]
        mass = onward + (enter[:j] - evidence)[:, :, :, None]
        i, k, a, b = np.nonzero(mass > np.log(NEGLIGIBLE))
        rows.append(np.column_stack([i, np.full_like(i, j), a, b, k, np.exp(mass[i, k, a, b])]))
        begin[:j] = np.logaddexp(begin[:j], log_sum_exp(onward, axis=3))
    return _collect(np.concatenate(rows), scores)


def _collect(rows: np.ndarray, scores: PieceScores) -> Pieces:
    """Pieces from their indices; an uncertain bend becomes two halves, one deviation either way."""
    i, j, a, b, k = rows[:, :5].astype(np.intp).T
    value = scores.grid.value
    mean, deviation = scores.bend(i, j, a, b, k)
    split = np.flatnonzero(deviation > 0)
    between = np.minimum(2 * np.abs(mean[split]) / BENT, 1.0) * BENT / np.sqrt(12)
    deviation[split] = np.hypot(deviation[split], between)
    weight = rows[:, 5].copy()
    weight[split] *= 0.5
    every = np.concatenate([np.arange(len(i)), split])
    bend = np.concatenate([mean + deviation, (mean - deviation)[split]])
    i, j, a, b, k = i[every], j[every], a[every], b[every], k[every]
    return Pieces(
        scores.joints[i],
        scores.joints[j],
        value[i, a],
        value[j, b],
        STATE_LABELS[k],
        bend,
        weight[every],
        every < 0,
    )


def by_number_of_phases(scores: PieceScores) -> tuple[np.ndarray, np.ndarray]:
    """Evidence of a curve with exactly 1 ... MOST_PHASES phases, and its best fit by as many
    straight pieces.

    Returns log evidence (with all priors; a change of slope within a label makes no new phase) and
    the log likelihood of the best chain of that many straight pieces on the grid (without priors);
    both of shape (phases,), phases <= steps.
    """
    prior = chain(scores.joints)
    is_same = STATE_LABELS[:, None] == STATE_LABELS
    same, other = (np.where(kind, prior.follow, -np.inf) for kind in (is_same, ~is_same))
    m, size = scores.grid.value.shape
    most = min(MOST_PHASES, m - 1)
    enter = np.full((m, most, len(STATE_LABELS), size), -np.inf)
    best = np.full((m, most + 1, size), -np.inf)
    enter[0, 0] = priors.START[:, None] + scores.first
    best[0, 0] = scores.first_likelihood
    arrive = enter[0]
    for j in range(1, m):
        piece = (
            scores.labelled[j - 1] + np.moveaxis(prior.lasting[:, :j, j], 0, 1)[:, :, None, None]
        )
        arrive = log_sum_exp(piece[:, None] + enter[:j, :, :, :, None], axis=(0, 3))
        enter[j] = log_sum_exp(arrive[:, :, None, :] + same[:, :, None], axis=1)
        changed = log_sum_exp(arrive[:-1, :, None, :] + other[:, :, None], axis=1)
        enter[j, 1:] = np.logaddexp(enter[j, 1:], changed)
        straight = scores.straight[j - 1]
        best[j, 1:] = (straight[:, None] + best[:j, :-1, :, None]).max(axis=(0, 2))
    return log_sum_exp(arrive + prior.ends[:, None], axis=(1, 2)), best[-1, 1:].max(axis=1)
