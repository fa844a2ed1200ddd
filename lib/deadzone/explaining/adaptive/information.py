"""What a further trial is expected to tell: mutual information of its outcome and an open question.

The information of Lindley (1956, On a measure of the information provided by an experiment, Annals of Mathematical
Statistics 27, 986-1005), which Chaloner and Verdinelli (1995, Bayesian experimental design: a review, Statistical
Science 10, 273-304) and MacKay (1992, Information-based objective functions for active data selection, Neural
Computation 4, 590-604) choose trials by: I(y; z) = H(y) - E[H(y | z)], the expected fall of the entropy of z.
"""

import numpy as np

POINTS = 192
"""Outcomes at which the density of a trial is tabulated."""

REACH = 5.0
"""The table ends so many standard deviations of the noise beyond the possible values."""

NEGLIGIBLE = 1e-3
"""Possible values beyond these quantiles count as the quantile: a rival far out must not make the table coarse."""


def information(value: np.ndarray, weight: np.ndarray, answers: np.ndarray, noise: float) -> np.ndarray:
    """What one trial is expected to tell about which answer is right, for each of several questions [nats].

    value: shape (k,), possible true values at the trial's level. weight: shape (k,), their probabilities, not all 0.
    answers: shape (questions, k), whole numbers: the answer that goes with each value. noise: standard deviation of a
    trial around the true value, > 0. Returns shape (questions,), never negative, never more than the entropy of the
    answers.
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
    return np.array([_told(place, weight / weight.sum(), answer, kernel) for answer in answers])


def _told(place: np.ndarray, weight: np.ndarray, answer: np.ndarray, kernel: np.ndarray) -> float:
    """place: shape (k,), of each value among the outcomes; one between two of them is shared by both."""
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
