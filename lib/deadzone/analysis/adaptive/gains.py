"""What a trial at each listed level would tell about the curve, and what it would take.

A trial tells about the phases on both sides of its level (which piece of the broken power law lies
there: its ends and its label), and about whether the level is as good as the best. Where a level
was not measured yet, the joint that was placed at one of its measured neighbours may as well lie
between them: then the level is not on the line between the two but on the one that comes from the
left, or from the right.

What a further trial is expected to tell: mutual information of its outcome and an open question.

The information of Lindley (1956, On a measure of the information provided by an experiment, Annals
of Mathematical Statistics 27, 986-1005), which Chaloner and Verdinelli (1995, Bayesian experimental
design: a review, Statistical Science 10, 273-304) and MacKay (1992, Information-based objective
functions for active data selection, Neural Computation 4, 590-604) choose trials by: I(y; z) = H(y)
- E[H(y | z)], the expected fall of the entropy of z.
"""

from dataclasses import dataclass

import numpy as np

from deadzone.analysis.phases.inference import Posterior
from deadzone.analysis.phases.segmentation import Pieces, values_at
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE

POINTS = 192
"""Outcomes at which the density of a trial is tabulated."""

REACH = 5.0
"""The table ends so many standard deviations of the noise beyond the possible values."""

NEGLIGIBLE = 1e-3
"""Possible values beyond these quantiles count as the quantile: a rival far out must not make the
table coarse."""

FROM_LEFT, FROM_RIGHT = -1, -2
"""Answers beside the pieces: the level lies on the line from the left, or from the right."""

MOST_CORNERED = 2 / 3
"""However sure it is that a joint is near, the straight line between the two measured levels stays
as likely as each of the others: a short phase between two joints looks like one corner."""


def information(
    value: np.ndarray, weight: np.ndarray, answers: np.ndarray, noise: float
) -> np.ndarray:
    """What one trial is expected to tell about which answer is right, for each of several questions
    [nats].

    value: shape (k,), possible true values at the trial's level. weight: shape (k,), their
    probabilities, not all 0. answers: shape (questions, k), whole numbers: the answer that goes
    with each value. noise: standard deviation of a trial around the true value, > 0. Returns shape
    (questions,), never negative, never more than the entropy of the answers.
    """
    order = np.argsort(value)
    share = np.cumsum(weight[order]) / weight.sum()
    ends = np.searchsorted(share, (NEGLIGIBLE, 1 - NEGLIGIBLE))
    inner = value[order][np.minimum(ends, len(value) - 1)]
    outcome = np.linspace(inner[0] - REACH * noise, inner[1] + REACH * noise, POINTS)
    step = outcome[1] - outcome[0]
    place = np.clip((value - outcome[0]) / step, 0, POINTS - 1.001)
    kernel = np.exp(-0.5 * ((outcome[:, None] - outcome[None, :]) / max(noise, step)) ** 2)
    kernel /= kernel.sum(axis=1, keepdims=True)
    return np.array(
        [_information(place, weight / weight.sum(), answer, kernel) for answer in answers]
    )


def _information(
    place: np.ndarray, weight: np.ndarray, answer: np.ndarray, kernel: np.ndarray
) -> float:
    """place: shape (k,), of each value among the outcomes; one between two of them is shared by
    both."""
    _, which = np.unique(answer, return_inverse=True)
    cell = place.astype(np.intp)
    mass = np.zeros((int(which.max()) + 1, len(kernel)))
    np.add.at(mass, (which, cell), weight * (1 - place + cell))
    np.add.at(mass, (which, cell + 1), weight * (place - cell))
    joint = mass @ kernel
    return max(entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint), 0.0)


def entropy(probability: np.ndarray) -> float:
    """Entropy of a discrete distribution of any shape [nats]."""
    some = probability[probability > 0]
    return float(-(some * np.log(some)).sum())


@dataclass(frozen=True)
class Coverage:
    """What was measured of the listed levels.

    x: shape (n,), the listed levels on the axis of the fit. measured: shape (m,), positions among
    them of the levels with sound trials, as the posterior has them. counts: shape (n,), sound
    trials of each.
    """

    x: np.ndarray
    measured: np.ndarray
    counts: np.ndarray


def gains_of(posterior: Posterior, coverage: Coverage) -> np.ndarray:
    """What one more trial at each listed level tells [nats]: about the phases beside it, and about
    whether it is as good as the best; shape (2, n)."""
    pieces, known = posterior.pieces, posterior.x
    piece = (pieces.label * len(known) + pieces.start) * len(known) + pieces.stop
    steps = np.clip(np.searchsorted(known, coverage.x, side="right") - 1, 0, len(known) - 2)
    after = [
        _on_pieces(pieces, known, at, piece, (pieces.start <= step) & (pieces.stop > step))
        for at, step in zip(coverage.x, steps, strict=True)
    ]
    mean = np.array([np.average(value, weights=weight) for value, weight, _ in after])
    good = mean[coverage.measured].min() + np.log1p(PRACTICAL_TOLERANCE)
    gains = np.zeros((2, len(mean)))
    for i, (at, step, here) in enumerate(zip(coverage.x, steps, after, strict=True)):
        noise = trial_noise(posterior, int(coverage.counts[i]))
        value, weight, on = here if coverage.counts[i] else _between(posterior, at, int(step), here)
        phase, setting = information(value, weight, np.array([on, value < good]), noise)
        if coverage.counts[i] and step > 0 and at == known[step]:  # between two pieces
            before = (pieces.start < step) & (pieces.stop >= step)
            value, weight, on = _on_pieces(pieces, known, at, piece, before)
            phase = (phase + information(value, weight, on[None], noise)[0]) / 2
        gains[:, i] = phase, setting
    return gains


def trial_noise(posterior: Posterior, count: int) -> float:
    """Noise of one more trial of a level with `count` of them, about the curve, as a standard
    deviation of ln(response).

    What a level is off the curve, its trials share: the more there are of them, the less a further
    one tells. No more of it is counted than the noise itself: a larger misfit is as often a spoiled
    trial, which a further one would show.
    """
    noise = max(posterior.noise, 1e-6) ** 2
    misfit = min(posterior.misfit**2, noise)
    after = noise / (count + 1) + misfit
    before = noise / count + misfit if count else np.inf
    return float(np.sqrt(1.0 / (1.0 / after - 1.0 / before)))


def _on_pieces(
    pieces: Pieces, known: np.ndarray, at: float, piece: np.ndarray, which: np.ndarray
) -> np.ndarray:
    """Possible true values at a level, their probabilities, and the piece that each lies on; shape
    (3, k)."""
    return np.array([values_at(pieces, known, at, which), pieces.weight[which], piece[which]])


def _between(posterior: Posterior, at: float, step: int, straight: np.ndarray) -> np.ndarray:
    """The same of a level without trials, with the values of a joint between its measured
    neighbours."""
    pieces, known = posterior.pieces, posterior.x
    starts = np.bincount(pieces.start, pieces.weight * pieces.opens, minlength=len(known))
    chance = min(MOST_CORNERED, float(starts[step] + starts[step + 1]))
    value, weight, on = straight
    parts = [np.array([value, weight / weight.sum() * (1 - chance), on])]
    for ends, near, corner, code in (
        (pieces.stop == step, pieces.right, known[step], FROM_LEFT),
        (pieces.start == step + 1, pieces.left, known[step + 1], FROM_RIGHT),
    ):
        if ends.any():
            length = known[pieces.stop[ends]] - known[pieces.start[ends]]
            slope = (pieces.right[ends] - pieces.left[ends]) / length
            weight = chance / 2 * pieces.weight[ends] / pieces.weight[ends].sum()
            parts.append(
                np.array([near[ends] + slope * (at - corner), weight, np.full(ends.sum(), code)])
            )
    return np.concatenate(parts, axis=1)
