"""Where the level of a series of runs changed.

A change point is where cutting the series lowers its sum of squares by more than the noise explains
(penalised least squares, solved exactly: Killick, Fearnhead and Eckley, JASA 107, 2012, by
ruptures). The noise is that between neighbouring runs, so that a change or a slow drift is no part
of it.
"""

import numpy as np

LEAST_RUNS = 3
"""Runs on either side of a change; by their medians one disturbed run is none."""

LEAST_CHANGE = np.log1p(0.03)
"""Smaller changes do not matter, in logarithms: the usual tolerance."""

PENALTY, FEW_RUNS = 4.0, 16.0
"""What a change has to explain, in variances of the noise for each logarithm of the number of runs;
and how much the noise of n runs may be underrated, 1 + FEW_RUNS / (n - 1). With both, of 1,000
stable histories of 50 runs that are looked at after every run fewer than 20 raise an alarm:
benchmarks/history.py."""

NORMAL = 1.4826 / np.sqrt(2)
"""From the median absolute difference of normal values to their standard deviation."""


def change_points(values: np.ndarray, errors: np.ndarray) -> list[int]:
    """Where the values change for good: the index of the first value after each change.

    values: logarithms of a response, in the order of the runs, shape (n,). errors: their standard
    errors within a run, shape (n,), below which the noise is not taken to be.
    """
    from ruptures import KernelCPD  # it takes half as long to load as pandas does

    n = len(values)
    if n < 2 * LEAST_RUNS:
        return []
    noise = max(NORMAL * np.median(np.abs(np.diff(values))), np.median(errors))
    variance = (noise * (1 + FEW_RUNS / (n - 1))) ** 2
    search = KernelCPD(kernel="linear", min_size=LEAST_RUNS, jump=1).fit(values.reshape(-1, 1))
    least = (LEAST_CHANGE / 2) ** 2
    cuts = [int(cut) for cut in search.predict(pen=max(PENALTY * np.log(n) * variance, least))[:-1]]
    while cuts:
        steps = np.abs(np.diff([np.median(part) for part in np.split(values, cuts)]))
        if steps.min() >= LEAST_CHANGE:
            break
        cuts.pop(int(steps.argmin()))
    return cuts
