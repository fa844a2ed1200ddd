"""The tools a user would otherwise reach for, in their best sensible settings.

Each gets the median of every level on log-log axes (which takes care of most outliers) and returns
the joints it finds; the pieces between them are labelled by the slope of a least-squares line, with
the same thresholds as the phase model.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from deadzone.analysis.phases.thresholds import Thresholds

MOST_JOINTS = 5
RUPTURES_PENALTY = 10.0
RUPTURES_POINTS = 3
"""Penalty of a joint, times ln(levels) and the noise variance, and points of the uniform grid a
level: the best of 4 and 10, and of 1, 3 and no grid, on curves of another seed. Its continuous cost
knows no positions, so uneven steps of ln(level) need a grid."""


def medians(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ln(level) and ln(median response) of each level."""
    levels, level = np.unique(x, return_inverse=True)
    return np.log(levels), np.log([np.median(y[level == m]) for m in range(len(levels))])


def labels_from(x: np.ndarray, v: np.ndarray, joints: list[int]) -> list[str]:
    """Labels of the steps from the slopes between joints (positions of inner levels)."""
    limits, edges, out = Thresholds(), [0, *sorted(set(joints)), len(x) - 1], []
    for a, b in pairwise(edges):
        e = -np.polyfit(x[a : b + 1], v[a : b + 1], 1)[0]
        last = b == len(x) - 1
        if e >= limits.breakthrough:
            label = "breakthrough"
        elif e >= limits.linear:
            label = "linear"
        elif last:
            label = "reversal" if e < limits.reversal else "plateau"
        else:
            label = "dead_zone"
        out += [label] * (b - a)
    return out


def roughness(v: np.ndarray) -> float:
    """Noise of the medians, from their second differences."""
    return max(float(np.median(np.abs(np.diff(v, 2)))) / 0.6745 / np.sqrt(6), 1e-4)


def by_ruptures(x: np.ndarray, y: np.ndarray) -> list[str]:
    """ruptures: exact search with its continuous linear cost, on a uniform grid of ln(level)."""
    import ruptures

    lx, v = medians(x, y)
    grid = np.linspace(lx[0], lx[-1], RUPTURES_POINTS * len(lx))
    signal = np.interp(grid, lx, v)
    penalty = RUPTURES_PENALTY * np.log(len(v)) * roughness(v) ** 2
    best, chosen = np.inf, []
    search = ruptures.Dynp(model="clinear", min_size=2, jump=1).fit(signal[:, None])
    for count in range(MOST_JOINTS + 1):
        try:
            breaks = search.predict(n_bkps=count) if count else [len(signal)]
        except ruptures.exceptions.BadSegmentationParameters:
            break
        cost = search.cost.sum_of_costs(breaks) / RUPTURES_POINTS + penalty * count
        if cost < best:
            best, chosen = cost, breaks[:-1]
    joints = [int(np.argmin(np.abs(lx - grid[min(b, len(grid) - 1)]))) for b in chosen]
    return labels_from(lx, v, [j for j in joints if 0 < j < len(lx) - 1])


def by_pwlf(x: np.ndarray, y: np.ndarray) -> list[str]:
    """pwlf: continuous pieces by multi-start gradient search, their number by BIC."""
    import pwlf

    lx, v = medians(x, y)
    best, chosen = np.inf, []
    for pieces in range(1, MOST_JOINTS + 2):
        if 2 * pieces + 1 >= len(lx):
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pwlf.PiecewiseLinFit(lx, v, seed=1)
            breaks = model.fitfast(pieces, pop=5)
        bic = len(lx) * np.log(max(model.ssr, 1e-12) / len(lx)) + 2 * pieces * np.log(len(lx))
        if bic < best:
            best, chosen = bic, list(breaks[1:-1])
    return labels_from(lx, v, _nearest(lx, chosen))


def by_piecewise_regression(x: np.ndarray, y: np.ndarray) -> list[str]:
    """piecewise-regression: Muggeo's iteration with bootstrap restarts, number of joints by BIC."""
    import piecewise_regression

    lx, v = medians(x, y)
    slope = np.polyfit(lx, v, 1)
    rss = float(((v - np.polyval(slope, lx)) ** 2).sum())
    best, chosen = len(lx) * np.log(max(rss, 1e-12) / len(lx)) + 2 * np.log(len(lx)), []
    for count in range(1, MOST_JOINTS):
        if 2 * count + 3 >= len(lx):
            break
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.random.seed(1)
            try:
                results = piecewise_regression.Fit(
                    lx, v, n_breakpoints=count, n_boot=20
                ).get_results()
            except (ValueError, np.linalg.LinAlgError):
                continue
        if not results["converged"]:
            continue
        bic = len(lx) * np.log(max(results["rss"], 1e-12) / len(lx)) + 2 * (count + 1) * np.log(
            len(lx)
        )
        if bic < best:
            found = [results["estimates"][f"breakpoint{i + 1}"]["estimate"] for i in range(count)]
            best, chosen = bic, found
    return labels_from(lx, v, _nearest(lx, chosen))


def by_kneed(x: np.ndarray, y: np.ndarray) -> list[str]:
    """kneed: the one knee of a convex, decreasing curve."""
    import kneed

    lx, v = medians(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        knee = kneed.KneeLocator(lx, v, curve="convex", direction="decreasing", S=1.0).knee
    return labels_from(lx, v, [] if knee is None else _nearest(lx, [knee]))


def _nearest(lx: np.ndarray, places: list[float]) -> list[int]:
    joints = [int(np.argmin(np.abs(lx - place))) for place in places]
    return [j for j in joints if 0 < j < len(lx) - 1]


PEERS: dict[str, Callable[[np.ndarray, np.ndarray], list[str]]] = {
    "ruptures": by_ruptures,
    "pwlf": by_pwlf,
    "piecewise-regression": by_piecewise_regression,
}
"""Compared on every tier; kneed only where a curve has one knee."""
