"""From the posterior of the steps' labels to one consistent sequence of phases.

Each step gets the label that makes the whole sequence as right as can be expected: the sum of the
steps' posterior probabilities is maximised over the sequences that the words allow (a dead zone is
followed by something that improves). This is posterior, or maximum expected accuracy, decoding
(Rabiner 1989, A tutorial on hidden Markov models, Proceedings of the IEEE 77).
"""

from itertools import pairwise

import numpy as np

from deadzone.analysis.phases import priors
from deadzone.analysis.phases.segmentation import (
    Pieces,
    curve_values,
    phase_elasticities,
    weighted_quantiles,
)
from deadzone.analysis.phases.thresholds import LABELS, LINEAR_ELASTICITY, PRACTICAL_TOLERANCE

HARM = float(np.log1p(PRACTICAL_TOLERANCE))
"""A stretch that adds up to a loss beyond this [ln] to the end of the range is a reversal, however
small its elasticity: a slow loss is harm. Below it nothing more is to gain."""

WORTH = LINEAR_ELASTICITY * float(np.log(2))
"""A curve without any joint that adds up to a gain beyond this [ln], what a doubling brings that
pays, is linear."""

SUM_PROOF = 0.9
"""What a phase adds up to gives it another name than its elasticity does only where a 90 % interval
would show it."""

FADED = 1 / 3
"""A slow gain has ended at the level behind which its elasticity is less than this share of that
before, and HARM is not reached."""

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
    """The allowed label sequence with the largest expected number of right steps, without harm that
    is not proven; shape (steps,)."""
    labels = _likeliest(probability)
    first, stop, label = runs(labels)[-1]
    flat, harm = probability[first:stop, [priors.PLATEAU, priors.REVERSAL]].sum(axis=0)
    if label == priors.REVERSAL and harm < REVERSAL_PROOF * (flat + harm):
        labels[first:] = priors.PLATEAU
    return labels


def _likeliest(probability: np.ndarray) -> np.ndarray:
    labels = len(LABELS)
    allowed = np.isfinite(priors.transitions()[:labels, :labels]) | np.eye(labels, dtype=bool)
    may_end = np.isfinite(priors.endings()[:labels])
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
    return np.array(path[::-1])


def by_sum(probability: np.ndarray, pieces: Pieces, x: np.ndarray) -> np.ndarray:
    """The steps' probabilities where the end of a curve is another thing by what it adds up to than
    by its elasticity.

    probability: shape (steps, 5). x: shape (n,), places of the levels. Returns shape (steps, 5). A
    plateau or a reversal that loses more than HARM is a reversal; a plateau that is the whole curve
    and gains more than WORTH is linear, until it has faded."""
    phases, moved = _last_as_one(probability), probability.copy()
    for first, stop, label in phases:
        if label not in (priors.PLATEAU, priors.REVERSAL):
            continue
        slope, weight = phase_elasticities(pieces, x, first, stop, priors.PLATEAU)
        gain = slope * (x[stop] - x[first])
        flat, harm = probability[first:stop, [priors.PLATEAU, priors.REVERSAL]].mean(axis=0)
        lost, gained = (
            weight @ those / max(weight.sum(), 1e-300) for those in (gain < -HARM, gain > WORTH)
        )
        if harm + lost * flat >= SUM_PROOF * (harm + flat):
            _move(moved, slice(first, stop), priors.REVERSAL, lost)
        elif len(phases) == 1 and gained >= SUM_PROOF:
            _move(moved, slice(_faded(pieces, x)), priors.LINEAR, gained)
    return moved


def _last_as_one(probability: np.ndarray) -> list[tuple[int, int, int]]:
    """The likeliest phases; the last one is longer where plateau and reversal, of which only the
    sum says which it is, are together likelier than what stands there before them."""
    phases, together = runs(_likeliest(probability)), probability.copy()
    together[:, priors.PLATEAU] += together[:, priors.REVERSAL]
    last = runs(_likeliest(together))[-1]
    if last[2] != priors.PLATEAU or any(
        label in (priors.PLATEAU, priors.REVERSAL) and first <= last[0]
        for first, _, label in phases
    ):
        return phases
    return [
        (first, min(stop, last[0]), label) for first, stop, label in phases if first < last[0]
    ] + [last]


def _move(probability: np.ndarray, steps: slice, label: int, share: float) -> None:
    """Give a label so much of the probability that steps are a plateau, in place."""
    probability[steps, label] += share * probability[steps, priors.PLATEAU]
    probability[steps, priors.PLATEAU] *= 1 - share


def _faded(pieces: Pieces, x: np.ndarray) -> int:
    """The level (position) at which a slow gain from the first level on has ended, or the last
    one."""
    value = [
        float(weighted_quantiles(*curve_values(pieces, x, m), (0.5,))[0]) for m in range(len(x))
    ]
    for m in range(1, len(x) - 1):
        before, left = (value[0] - value[m]) / (x[m] - x[0]), value[m] - value[-1]
        if left <= HARM and left / (x[-1] - x[m]) < FADED * before:
            return m
    return len(x) - 1


def runs(labels: np.ndarray) -> list[tuple[int, int, int]]:
    """Phases as (first step, one past the last step, label)."""
    edges = [0, *(int(i) + 1 for i in np.flatnonzero(np.diff(labels))), len(labels)]
    return [(a, b, int(labels[a])) for a, b in pairwise(edges)]
