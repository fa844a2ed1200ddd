"""Where the level of a series of runs changed.

A change point is where cutting the series lowers its sum of squares by more than the noise
explains: penalised least squares, solved exactly (Jackson and others, IEEE Signal Processing
Letters 12, 2005). The noise is that between neighbouring runs, so that a change or a slow drift is
no part of it. ruptures finds the same cuts (benchmarks/history.py); it has no wheel for every
Python that we serve.
"""

import numpy as np

LEAST_RUNS = 3
"""Runs on either side of a change; by their medians one disturbed run is none."""

LEAST_CHANGE = np.log1p(0.03)
"""Smaller changes do not matter, in logarithms: the usual tolerance."""

PENALTY, FEW_RUNS = 4.0, 16.0
"""What a change has to explain, in variances of the noise for each logarithm of the number of runs;
and how much the noise of n runs may be underrated, 1 + FEW_RUNS / (n - 1). With both, none of 600
stable histories of 50 runs that are looked at after every run raises an alarm:
benchmarks/history.py."""

NORMAL = 1.4826 / np.sqrt(2)
"""From the median absolute difference of normal values to their standard deviation."""


def change_points(values: np.ndarray, errors: np.ndarray) -> list[int]:
    """Where the values change for good: the index of the first value after each change.

    values: logarithms of a response, in the order of the runs, shape (n,). errors: their standard
    errors within a run, shape (n,), below which the noise is not taken to be.
    """
    n = len(values)
    if n < 2 * LEAST_RUNS:
        return []
    noise = max(NORMAL * np.median(np.abs(np.diff(values))), np.median(errors))
    variance = (noise * (1 + FEW_RUNS / (n - 1))) ** 2
    cuts = _partition(values, max(PENALTY * np.log(n) * variance, (LEAST_CHANGE / 2) ** 2))
    while cuts:
        steps = np.abs(np.diff([np.median(part) for part in np.split(values, cuts)]))
        if steps.min() >= LEAST_CHANGE:
            break
        cuts.pop(int(steps.argmin()))
    return cuts


def _partition(values: np.ndarray, penalty: float) -> list[int]:
    """The cuts that have the least sum of squares about the means of the pieces, a penalty for each
    cut included: the best cuts before each value, by those before earlier ones."""
    n = len(values)
    sums, squares = (np.concatenate([[0.0], np.cumsum(v)]) for v in (values, values**2))
    best, last = np.full(n + 1, np.inf), np.zeros(n + 1, int)
    best[0] = -penalty
    for end in range(LEAST_RUNS, n + 1):
        starts = np.arange(end - LEAST_RUNS + 1)
        scatter = squares[end] - squares[starts]
        scatter -= (sums[end] - sums[starts]) ** 2 / (end - starts)
        costs = best[starts] + np.maximum(scatter, 0) + penalty
        last[end] = costs.argmin()
        best[end] = costs[last[end]]
    cuts = [n]
    while cuts[0]:
        cuts.insert(0, int(last[cuts[0]]))
    return cuts[1:-1]
