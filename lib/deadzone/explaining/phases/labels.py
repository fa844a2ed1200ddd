"""From the posterior of the steps' labels to one consistent sequence of phases.

Each step gets the label that makes the whole sequence as right as can be expected: the sum of the
steps' posterior probabilities is maximised over the sequences that the words allow (a dead zone is
followed by something that improves). This is posterior, or maximum expected accuracy, decoding
(Rabiner 1989, A tutorial on hidden Markov models, Proceedings of the IEEE 77).
"""

from itertools import pairwise

import numpy as np

from deadzone.explaining.phases import priors
from deadzone.explaining.phases.intervals import phase_elasticities
from deadzone.explaining.phases.segmentation import Pieces
from deadzone.explaining.phases.thresholds import LABELS, LINEAR_ELASTICITY

HARM = float(np.log(1.03))
"""A plateau that adds up to a loss beyond this [ln] is a reversal, however small its elasticity: a slow loss is harm."""

WORTH = LINEAR_ELASTICITY * float(np.log(2))
"""A curve without any joint that adds up to a gain beyond this [ln], what a doubling brings that pays, is linear."""

SUM_PROOF = 0.9
"""What a phase adds up to gives it another name than its elasticity does only where a 90 % interval would show it."""

REVERSAL_PROOF = 0.8
"""A last stretch is called a reversal when, of reversal and plateau, the reversal has at least this
probability. To warn of harm needs proof; a slope that cannot be told from zero is a plateau."""


def step_probabilities(pieces: Pieces, steps: int) -> np.ndarray:
    """Posterior probability of each label on each step; shape (steps, 5), rows sum to 1."""
    change = np.zeros((steps + 1, len(LABELS)))
    np.add.at(change, (pieces.start, pieces.label), pieces.weight)
    np.add.at(change, (pieces.stop, pieces.label), -pieces.weight)
    out = np.clip(np.cumsum(change[:-1], axis=0), 0.0, None)
    return out / out.sum(axis=1, keepdims=True)


def decode(probability: np.ndarray) -> np.ndarray:
    """The allowed label sequence with the largest expected number of right steps; shape (steps,)."""
    allowed = np.isfinite(priors.transitions()) | np.eye(len(LABELS), dtype=bool)
    may_end = np.isfinite(priors.endings())
    total = probability[0].copy()
    came_from = []
    for row in probability[1:]:
        options = np.where(allowed, total[:, None], -np.inf)
        came_from.append(options.argmax(axis=0))
        total = options.max(axis=0) + row
    label = int(np.where(may_end, total, -np.inf).argmax())
    path = [label]
    for back in reversed(came_from):
        label = int(back[label])
        path.append(label)
    return _unproven_is_plateau(np.array(path[::-1]), probability)


def _unproven_is_plateau(labels: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Call the last phase a plateau if it was a reversal that the data do not prove."""
    first, stop, label = runs(labels)[-1]
    if label != priors.REVERSAL:
        return labels
    flat, harm = probability[first:stop, [priors.PLATEAU, priors.REVERSAL]].sum(axis=0)
    if harm >= REVERSAL_PROOF * (flat + harm):
        return labels
    return np.where(np.arange(len(labels)) >= first, priors.PLATEAU, labels)


def by_sum(probability: np.ndarray, pieces: Pieces, x: np.ndarray) -> np.ndarray:
    """The steps' probabilities where the last phase, a plateau by its elasticity, is none by what it adds up to; shape (steps, 5).

    probability: shape (steps, 5). x: shape (n,), places of the levels. A plateau that loses more than HARM from its first
    level to its last is a reversal; one that is the whole curve and gains more than WORTH is linear.
    """
    found = runs(decode(probability))
    first, stop, label = found[-1]
    if label != priors.PLATEAU:
        return probability
    slope, weight = phase_elasticities(pieces, x, first, stop, label)
    gain = slope * (x[stop] - x[first])
    for other, share, may in (
        (priors.REVERSAL, np.average(gain < -HARM, weights=weight), True),
        (priors.LINEAR, np.average(gain > WORTH, weights=weight), len(found) == 1),
    ):
        if may and share >= SUM_PROOF:
            moved = probability.copy()
            moved[first:stop, other] += share * probability[first:stop, label]
            moved[first:stop, label] *= 1 - share
            return moved
    return probability


def runs(labels: np.ndarray) -> list[tuple[int, int, int]]:
    """Phases as (first step, one past the last step, label)."""
    edges = [0, *(int(i) + 1 for i in np.flatnonzero(np.diff(labels))), len(labels)]
    return [(a, b, int(labels[a])) for a, b in pairwise(edges)]
