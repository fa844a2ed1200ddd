"""Flat and cumulative values of every function or package of a profile, as `go tool pprof -top` counts them.

Flat: of the samples taken in the function itself. Cumulative: of the samples with the function anywhere on
their stack, each counted once however often the function is on it. Both are exact sums of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from deadzone.explaining.profiles.model import Profile, samples_on

ENTRIES_TOGETHER = 1 << 20
"""Stack entries summed at once: their arrays fit into memory that numpy gets back from call to call."""


def flat(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Flat value of every function.

    numbers: shape (samples,), what each sample counts. Returns shape (functions,), of the same type.
    Samples without a stack belong to no function.
    """
    return grouped(numbers, profile.leaves, len(profile.functions))


def cumulative(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Cumulative value of every function; shapes as in `flat`."""
    return _over_samples(*profile.by_function, numbers)


def package_index(profile: Profile) -> tuple[tuple[str, ...], np.ndarray]:
    """The packages of a profile, in alphabetical order, and the index of each function's. Shape (functions,)."""
    names, index = np.unique(np.array(profile.packages, dtype=object), return_inverse=True)
    return tuple(names.tolist()), index


def flat_by_package(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Flat value of every package (see `package_index`). Shape (packages,)."""
    names, index = package_index(profile)
    return grouped(flat(profile, numbers), index, len(names))


def cumulative_by_package(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Value of the samples with any function of the package on their stack. Shape (packages,)."""
    names, index = package_index(profile)
    return _over_samples(*samples_on(profile, index, len(names)), numbers)


def grouped(numbers: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """The sum of each group, exact for whole numbers; group -1 is left out. Shape (groups,)."""
    sums = np.zeros(groups, dtype=numbers.dtype)
    inside = group >= 0
    np.add.at(sums, group[inside], numbers[inside])
    return sums


def _over_samples(starts: np.ndarray, samples: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """For every group, the sum over its samples, each counted once.

    starts, samples: as of `Profile.by_function`; the samples of a group ascend, so repeats are neighbours.
    """
    sums = np.zeros(len(starts) - 1, dtype=numbers.dtype)
    filled = np.flatnonzero(np.diff(starts))
    for first, last in _blocks(starts[filled], len(samples)):
        groups = filled[first:last]
        begin, end = starts[groups[0]], starts[groups[-1] + 1]
        block, places = samples[begin:end], starts[groups] - begin
        again = np.zeros(len(block), dtype=bool)
        np.equal(block[1:], block[:-1], out=again[1:])
        again[places] = False
        counted = numbers[block]
        counted[again] = 0
        sums[groups] = np.add.reduceat(counted, places)
    return sums


def _blocks(starts: np.ndarray, entries: int) -> Iterator[tuple[int, int]]:
    """Ranges of groups of about ENTRIES_TOGETHER entries each."""
    marks = np.searchsorted(starts, np.arange(0, entries, ENTRIES_TOGETHER))
    edges = np.unique(np.concatenate((marks, [0, len(starts)])))
    yield from pairwise(edges.tolist())
