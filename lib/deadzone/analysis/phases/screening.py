"""Which levels of a long sweep may be joints at all, so that the exact search need not try them
all.

At every level and on several scales, two lines (left and right) are compared with one line over
both sides; levels near the maxima of that statistic are kept, those of narrow windows first, and a
wider window that holds a joint already found says nothing new. Looking on many scales finds a joint
between long phases as well as a short breakthrough (after Baranowski, Chen and Fryzlewicz 2019,
Narrowest-over-threshold detection of multiple change points, JRSS B 81).
"""

from collections.abc import Sequence

import numpy as np

MOST_JOINTS = 48
"""Candidate joints kept; the exact search takes time in proportion to the square of their
number."""

SCALES = (2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233)
"""Levels on each side that are compared."""

NOTEWORTHY = (16.0, 9.0)
"""Least gain in squared deviations (in units of the noise) of a first and of a second round.
Without a change a gain beyond 16 is rarer than 1 in 2,000, beyond 9 than 1 in 90 (chi square, two
degrees of freedom)."""

AROUND = (0, -1, 1, -2, 2, -4, 4)
"""Levels around a maximum that are kept with it, relative to it, nearest first."""

CLIPPED = 5.0
"""A level further than this many robust deviations from the median of its neighbours is moved
there."""


def candidate_joints(x: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Positions of levels that may be joints, first and last included, increasing.

    x: shape (n,), ln(level). mean, spread: shape (n,), each level's value and standard deviation.
    """
    n = len(x)
    if n <= MOST_JOINTS:
        return np.arange(n)
    value = _clip(mean)
    gains = [(half, _gain(x, value, spread, half)) for half in SCALES if 2 * half + 1 <= n]
    chosen = {0, n - 1, *np.linspace(0, n - 1, 8).astype(int).tolist()}
    found: list[int] = []
    for least in NOTEWORTHY:
        for half, gain in gains:
            peaks = [m for m in _maxima(gain) if gain[m] >= least]
            for m in sorted(peaks, key=lambda m: -gain[m]):
                if all(abs(m - other) > half for other in found):
                    found.append(int(m))
                    stretch = 1 if half < 21 else 2
                    _keep(chosen, int(m), [stretch * offset for offset in AROUND], n)
    return np.array(sorted(chosen))


def _keep(chosen: set[int], m: int, offsets: Sequence[int], n: int) -> None:
    """Add a level and those around it, while there is room."""
    for offset in offsets:
        if len(chosen) < MOST_JOINTS and 0 < m + offset < n - 1:
            chosen.add(m + offset)


def around(joints: np.ndarray, weight: np.ndarray, n: int) -> np.ndarray:
    """Candidates for a second, finer pass: the probable joints of a first pass and the levels near
    them.

    joints: positions, weight: their posterior probability in the first pass; both of shape (m,).
    """
    chosen = {0, n - 1}
    for m in joints[np.argsort(-weight, kind="stable")]:
        _keep(chosen, int(m), (0, -1, 1, -2, 2, -3, 3), n)
    return np.array(sorted(chosen))


def _clip(mean: np.ndarray) -> np.ndarray:
    """Move levels that stick out of their neighbourhood to its median."""
    middle = running_median(mean)
    off = mean - middle
    scale = 1.4826 * np.median(np.abs(off)) + 1e-12
    return np.where(np.abs(off) > CLIPPED * scale, middle, mean)


def running_median(mean: np.ndarray) -> np.ndarray:
    """Median of each level and its two neighbours on either side; shape (n,)."""
    padded = np.pad(mean, 2, mode="reflect", reflect_type="odd")
    return np.median(np.stack([padded[k : k + len(mean)] for k in range(5)]), axis=0)


def _gain(x: np.ndarray, value: np.ndarray, spread: np.ndarray, half: int) -> np.ndarray:
    """Fall of the weighted squared deviations when the window around a level gets two lines; shape
    (n,)."""
    n = len(x)
    weight = 1.0 / spread**2
    centred = x - x.mean()
    parts = (1.0, centred, centred**2, value, value * centred, value**2)
    columns = np.stack([weight * part for part in parts])
    total = np.concatenate([np.zeros((6, 1)), np.cumsum(columns, axis=1)], axis=1)
    middle = np.arange(half, n - half)
    gain = np.zeros(n)
    left = _deviation(total[:, middle + 1] - total[:, middle - half])
    right = _deviation(total[:, middle + half + 1] - total[:, middle])
    both = _deviation(total[:, middle + half + 1] - total[:, middle - half])
    gain[middle] = both - left - right
    return gain


def _deviation(sums: np.ndarray) -> np.ndarray:
    """Weighted squared deviations from the best line, from sums of w, wx, wxx, wv, wvx, wvv."""
    w, wx, wxx, wv, wvx, wvv = sums
    sxx, sxv = wxx - wx**2 / w, wvx - wx * wv / w
    return wvv - wv**2 / w - sxv**2 / np.maximum(sxx, 1e-300)


def _maxima(gain: np.ndarray) -> np.ndarray:
    inner = gain[1:-1]
    return np.flatnonzero((inner >= gain[:-2]) & (inner >= gain[2:]) & (inner > 0)) + 1
