"""Parabolas in place of tables: what makes sweeps of hundreds of levels quick.

A long piece crosses many levels; the sum of their parabolas is again a parabola in the values at
the piece's two ends, whatever the number of levels (the device of CPOP, see `segmentation`).
"""

from dataclasses import dataclass

import numpy as np

from deadzone.analysis.phases.noise import LevelTables, look_up


@dataclass(frozen=True)
class Parabolas:
    """Each level's log likelihood near a first fit: height - weight / 2 * (value - centre)**2.

    centre, weight, height: shape (n,). A spoiled level has hardly any weight: the weights are those
    of iteratively reweighted least squares (Holland and Welsch 1977) for its mixture likelihood.
    """

    centre: np.ndarray
    weight: np.ndarray
    height: np.ndarray


def parabolas(tables: LevelTables, fitted: np.ndarray) -> Parabolas:
    """Parabolas that agree with the tables at the fitted values, shape (n,), in height and
    slope."""
    centre, spread = tables.moments
    level = np.arange(len(fitted))
    off = fitted - centre
    nudge = np.where(np.abs(off) < spread, np.where(off < 0, -spread, spread), off)
    peak = look_up(tables, level, centre)
    here = look_up(tables, level, centre + nudge)
    weight = np.clip(2 * (peak - here) / nudge**2, 1e-6 / spread**2, 1.0 / spread**2)
    height = look_up(tables, level, fitted) + 0.5 * weight * off**2
    return Parabolas(centre, weight, height)
