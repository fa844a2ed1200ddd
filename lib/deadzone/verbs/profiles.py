"""`diff_profiles`: what changed between two profiles of a program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deadzone.errors import ProfileError
from deadzone.explaining.profiles.comparison import Comparison, compare_profiles
from deadzone.explaining.profiles.model import Profile
from deadzone.explaining.profiles.pairing import Basis
from deadzone.explaining.profiles.reading import read_profile

Files = str | Path | Profile | Sequence[str | Path | Profile]


def diff_profiles(
    before: Files,
    after: Files,
    value: str | None = None,
    *,
    per: str = "",
    load_before: float | None = None,
    load_after: float | None = None,
    basis: Basis | None = None,
) -> Comparison:
    """What changed between profiles of a program: in total, by package and by function.

    before, after: files (pprof, gzip or plain, or folded stacks), one or several replicates of each. value: cpu,
    inuse_space, alloc_space, goroutine, delay, ...; by default the first profile's own. per: divide by the load, in this
    unit (request, stream, second); load_before, load_after: the loads, which a profile knows itself in seconds. basis:
    the same three as one.

    `.total`, `.packages` and `.functions` are tables with the change and its interval, by replicates or by sampling.

    Raises ProfileError if a file cannot be read, or the profiles cannot be compared.

    >>> result = diff_profiles("before.folded", "after.folded")  # doctest: +SKIP
    >>> result.packages.head()  # doctest: +SKIP
    """
    first, second = (_profiles(side) for side in (before, after))
    basis = basis or basis_of(first, second, per, load_before, load_after)
    return compare_profiles(first, second, value, basis)


def _profiles(side: Files) -> list[Profile]:
    each = [side] if isinstance(side, str | Path | Profile) else side
    return [one if isinstance(one, Profile) else read_profile(Path(one)) for one in each]


def basis_of(
    before: Sequence[Profile],
    after: Sequence[Profile],
    per: str | None,
    load_before: float | None,
    load_after: float | None,
) -> Basis | None:
    """The load of each side; a second is known from the profiles themselves. Raises ProfileError where one is missing."""
    loads = (load_before, load_after)
    if not per:
        return None
    if per == "second" and loads == (None, None):
        lengths = [sum(one.duration_ns for one in side) / len(side) / 1e9 for side in (before, after)]
        if not all(lengths):
            raise ProfileError(
                "The profiles do not say how long they lasted; give load_before and load_after."
            )
        return Basis(per, *lengths)
    if load_before is None or load_after is None:
        raise ProfileError(f"per {per} needs load_before and load_after.")
    return Basis(per, load_before, load_after)
