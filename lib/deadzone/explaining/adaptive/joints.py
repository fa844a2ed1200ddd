"""Between which measured levels each phase begins."""

from collections.abc import Iterator

import numpy as np

from deadzone.explaining.phases.inference import Posterior
from deadzone.explaining.phases.labels import decode, runs, step_probabilities


def joints_of(posterior: Posterior, certainty: float) -> Iterator[tuple[int, int]]:
    """The first and last measured level (positions) at which each phase but the first may begin, with the certainty."""
    labels = decode(step_probabilities(posterior.pieces, len(posterior.x) - 1))
    for first, stop, label in runs(labels):
        if first:
            yield joint(posterior, first, stop, label, certainty)


def joint(posterior: Posterior, first: int, stop: int, label: int, certainty: float) -> tuple[int, int]:
    """Measured levels (positions) between which a phase begins, with the certainty; as a joint's interval is stated."""
    pieces = posterior.pieces
    here = (pieces.label == label) & (pieces.start < stop) & (pieces.stop > first) & (pieces.start > 0)
    mass = np.bincount(pieces.start[here], pieces.weight[here], minlength=stop + 1)
    if mass.sum() <= 0:
        return first, first
    below = np.cumsum(mass) / mass.sum()
    tail = (1 - certainty) / 2
    return int(np.searchsorted(below, tail)), int(np.searchsorted(below, 1 - tail))
