"""Flat and cumulative values of every function or package of a profile, as `go tool pprof -top` counts them.

Flat: of the samples taken in the function itself. Cumulative: of the samples with the function anywhere on
their stack, each counted once however often the function is on it. Both are exact sums of whole numbers.
"""

from dataclasses import replace

import numpy as np

from deadzone.explaining.profiles.model import Profile


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


def by_package(profile: Profile) -> Profile:
    """The profile with packages, in alphabetical order, in place of functions."""
    names, index = np.unique(np.array(profile.packages, dtype=object), return_inverse=True)
    packages = tuple(names.tolist())
    return replace(
        profile,
        functions=packages,
        packages=packages,
        frames=index.astype(np.int32)[profile.frames],
        unnamed=(),
    )


def grouped(numbers: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """The sum of each group, exact for whole numbers; group -1 is left out. Shape (groups,)."""
    sums = np.zeros(groups, dtype=numbers.dtype)
    inside = group >= 0
    np.add.at(sums, group[inside], numbers[inside])
    return sums
