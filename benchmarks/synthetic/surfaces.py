"""Surfaces of two knobs whose truth is known: the scarcer of two limits, two curves that add up,
and neither of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

LEVELS = (
    (1, 2, 4, 8, 16),
    (1, 2, 3, 4, 6, 8),
    (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4),
    tuple(range(1, 13)),
)
"""Sets of levels as people choose them."""

SPOILED = 0.02
"""Share of trials that something makes 1.2 to 4 times slower."""


@dataclass(frozen=True)
class TrueSurface:
    """A surface without noise. levels: of either knob. log_y: shape (levels, levels), ln of a
    time."""

    kind: str
    levels: tuple[np.ndarray, np.ndarray]
    log_y: np.ndarray

    def trials(self, rng: np.random.Generator, noise: float, replicates: int) -> pd.DataFrame:
        """A sweep of the whole grid: columns a, b, wall_s. noise: standard deviation of
        ln(time)."""
        i, j = (np.repeat(at.ravel(), replicates) for at in np.indices(self.log_y.shape))
        off = noise * rng.standard_normal(len(i))
        off += np.where(rng.random(len(i)) < SPOILED, np.log(rng.uniform(1.2, 4, len(i))), 0.0)
        wall = np.exp(self.log_y[i, j] + off)
        return pd.DataFrame({"a": self.levels[0][i], "b": self.levels[1][j], "wall_s": wall})


def curve(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """ln of a time that falls by an elasticity up to a level, and stays there from then on."""
    return -rng.uniform(0.6, 1.2) * np.minimum(x - x[0], rng.uniform(0.3, 1.2) * np.ptp(x))


def minimum(rng: np.random.Generator, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The scarcer of two limits decides."""
    return np.maximum(curve(rng, a)[:, None], curve(rng, b)[None] + rng.uniform(-0.7, 0.7))


def additive(rng: np.random.Generator, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Either knob brings its share wherever the other stands."""
    return curve(rng, a)[:, None] + curve(rng, b)[None]


def serial(rng: np.random.Generator, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Two parts of a job, one after the other, each with its own knob: the times add up."""
    return np.logaddexp(curve(rng, a)[:, None], curve(rng, b)[None] + rng.uniform(-0.7, 0.7))


def crowded(rng: np.random.Generator, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The scarcer of two limits, and harm where there is more of the second than of the first."""
    over = np.maximum(b[None] - a[:, None] - rng.uniform(-0.3, 0.7), 0.0)
    return minimum(rng, a, b) + rng.uniform(0.3, 0.8) * over


KINDS: dict[str, Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]] = {
    "minimum": minimum,
    "additive": additive,
    "serial": serial,
    "crowded": crowded,
}


def draw(kind: str, rng: np.random.Generator) -> TrueSurface:
    """A surface of a kind over levels drawn at random."""
    first, second = (np.array(LEVELS[k], float) for k in rng.integers(len(LEVELS), size=2))
    return TrueSurface(kind, (first, second), KINDS[kind](rng, np.log(first), np.log(second)))
