"""Levels that are off as a whole: they stand out from both neighbours, beyond the shape of the
curve and its noise.

A level is compared with the line between its neighbours, whose distance a trend leaves alone
(Gasser, Sroka and Jennen-Steinmetz 1986, Biometrika 73, 625-633), and the scale is the median of
these distances of the other levels (Hampel 1974, JASA 69, 383-393). One level off hides another, so
levels are set aside one after the other, and all that were set aside before the last one that
stands out are off as well (Rosner 1983, Technometrics 25, 165-172)."""

import numpy as np

from deadzone.analysis.phases.level_estimates import STANDARD_ERRORS

STANDS_OUT = float(np.log(1.15))
"""A level that is off differs from both neighbours by more than this [ln], the same way."""

BEYOND_SHAPE = float(np.log(1.05))
"""It lies beyond the lines through its neighbours and theirs by more than this [ln]; else it is a
corner of the curve."""

NOISE_PROOF = 3.45
"""Distance from the line between the neighbours, over the median of the others: of normal noise
2 % lies beyond."""

WORSE_PROOF, BETTER_PROOF = 2.25, 3.0
"""The same on few levels, whose distances are the bend of the curve: no curve with one optimum has
a level that is worse than both neighbours, and every such curve has one that is better."""

FEWEST_WORSE, FEWEST_BETTER = 4, 6
"""Levels of a curve on which one can be off to either side: of fewer the others say nothing."""

MANY = 8
"""On so many levels the distances of the others are their noise; on fewer they may be the bend of
the curve."""

MOST_SHARE = 0.2
"""Where more of the levels stand out than this, that is how the curve is: saw teeth, or noise."""


def off_levels(x: np.ndarray, value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """By how much each level is off the line between its neighbours [ln], above 0 where it is
    worse; 0 of a level that is not off.

    x: shape (n,), places of the levels, increasing. value: shape (n,), ln(response) of each,
    smaller is better. error: shape (n,), standard error of each, 0 where its trials do not tell.
    Returns shape (n,). Of those that stand out the level is set aside first whose loss makes those
    left smoothest."""
    out, left, set_aside = np.zeros(len(x)), np.arange(len(x)), np.zeros(len(x))
    for _ in range(len(x) // 3):
        if len(left) < FEWEST_WORSE:
            break
        stands, off, beyond = _standing(x[left], value[left], error[left])
        without = {i: np.delete(left, i + 1) for i in np.flatnonzero(np.abs(stands) > STANDS_OUT)}
        if not without:
            break
        distances = {i: np.abs(_distances(x[rest], value[rest])) for i, rest in without.items()}
        i = min(distances, key=lambda level: float(distances[level].sum()))
        rough, is_noise = float(np.median(distances[i])), len(left) > MANY - 1
        if beyond[i] > BEYOND_SHAPE:
            set_aside[left[i + 1]] = off[i]
            proof = NOISE_PROOF if is_noise else WORSE_PROOF if off[i] > 0 else BETTER_PROOF
            is_usual = is_noise and rough > STANDS_OUT
            if not is_usual and abs(off[i]) > proof * rough:
                out = set_aside.copy()
        left = without[i]
    return _alone(out)


def _alone(off: np.ndarray) -> np.ndarray:
    """Without what confirms each other: neighbours that are off the same way are a regime, and
    several better levels a structure."""
    side = np.sign(off)
    same = (side[1:] == side[:-1]) & (side[1:] != 0)
    off = np.where(np.append(same, False) | np.insert(same, 0, False), 0.0, off)
    if (off < 0).sum() > 1 or len(off) < FEWEST_BETTER:
        off = np.where(off < 0, 0.0, off)
    return off if (off != 0).sum() <= max(1, MOST_SHARE * len(off)) else np.zeros(len(off))


def _distances(x: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Distance of each inner level from the line between its neighbours, shape (n - 2,)."""
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    return value[1:-1] - (1 - share) * value[:-2] - share * value[2:]


def _standing(
    x: np.ndarray, value: np.ndarray, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each inner level: how far it stands out from the nearer neighbour, 0 where it lies between
    them or its own scatter explains it; its distance from the line between them; and from all lines
    that its neighbours give, the nearest. Each of shape (n - 2,)."""
    step = value[1:] - value[:-1]
    before, after = step[:-1], -step[1:]
    room = STANDARD_ERRORS * np.maximum(
        np.hypot(error[1:-1], error[:-2]), np.hypot(error[1:-1], error[2:])
    )
    is_out = (before * after > 0) & (np.minimum(np.abs(before), np.abs(after)) > room)
    side = np.sign(before)
    out = np.where(is_out, side * np.minimum(np.abs(before), np.abs(after)), 0.0)
    off = _distances(x, value)
    slope = step / np.diff(x)
    from_left = np.append(np.nan, before[1:] - slope[:-2] * np.diff(x)[1:-1])
    from_right = np.append(after[:-1] + slope[2:] * np.diff(x)[1:-1], np.nan)
    beyond = np.nanmin(side * np.stack([out, off, from_left, from_right]), axis=0)
    return out, off, beyond
