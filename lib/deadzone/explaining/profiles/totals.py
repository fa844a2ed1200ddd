"""Flat and cumulative values of every function or package of a profile, as `go tool pprof -top` counts them.

Flat: of the samples taken in the function itself. Cumulative: of the samples with the function anywhere on
their stack, each counted once however often the function is on it. Both are exact sums of whole numbers.
"""

from __future__ import annotations

import numpy as np

from deadzone.explaining.profiles.model import Profile, samples_on


def flat(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Flat value of every function.

    numbers: shape (samples,), what each sample counts. Returns shape (functions,), of the same type.
    Samples without a stack belong to no function.
    """
    return grouped(numbers, profile.leaves, len(profile.functions))


def cumulative(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Cumulative value of every function; shapes as in `flat`."""
    sums: np.ndarray = profile.on_function.T @ numbers
    return sums


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
    sums: np.ndarray = samples_on(profile, index, len(names)).T @ numbers
    return sums


def grouped(numbers: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """The sum of each group, exact for whole numbers; group -1 is left out. Shape (groups,)."""
    sums = np.zeros(groups, dtype=numbers.dtype)
    inside = group >= 0
    np.add.at(sums, group[inside], numbers[inside])
    return sums
