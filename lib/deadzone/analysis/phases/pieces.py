"""How well every possible piece of the curve explains the levels it spans.

A piece runs from one joint to another, is pinned to a value at each, falls between them along a
straight line on log-log axes or bends a little, and carries one of the five labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from deadzone.analysis.phases import priors
from deadzone.analysis.phases.grids import ValueGrid
from deadzone.analysis.phases.noise import LevelTables, look_up
from deadzone.analysis.phases.parabolas import Parabolas
from deadzone.analysis.phases.priors import BREAKTHROUGH, LINEAR, SlopePrior


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
