"""`diff_profiles`: what changed between two profiles of a program."""

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from deadzone.errors import ProfileError
from deadzone.verbs.run import Run
from deadzone_profiles.comparison import ProfileComparison, compare_profiles
from deadzone_profiles.model import Profile
from deadzone_profiles.pairing import Basis
from deadzone_profiles.reading import read_profile
from deadzone_profiles.run_profiles import RunProfiles, profiles_of

Files = str | Path | Profile | Sequence[str | Path | Profile]


@overload
def diff_profiles(before: Run) -> RunProfiles: ...


@overload
def diff_profiles(
    before: Files,
    after: Files,
    value: str | None = None,
    *,
    per: str | None = None,
    load_before: float | None = None,
    load_after: float | None = None,
) -> ProfileComparison: ...


def diff_profiles(
    before: Files | Run,
    after: Files | None = None,
    value: str | None = None,
    *,
    per: str | None = None,
    load_before: float | None = None,
    load_after: float | None = None,
) -> ProfileComparison | RunProfiles:
    """What changed between profiles of a program: in total, by package and by function.

    before: a run whose trials were profiled, with all that its study says of them. Or before,
    after: files (pprof, gzip or plain, or folded stacks), one or several replicates of each.
    value: cpu, inuse_space, alloc_space, goroutine, delay, ...; by default the first profile's own.
    per: divide by the load, in this unit (request, stream, second); load_before, load_after: the
    loads, which a profile knows itself in seconds.

    `.total`, `.packages` and `.functions` are tables with the change and its interval, by
    replicates or by sampling; `.stacks` has a row a sample, to group by cause in pandas.

    `[kind]` of a run's is such a comparison; `.others(kind)` compares before with each further
    level, such as one option alone. `profiles.ipynb` does so, and projects to another load.

    Raises ProfileError if a file cannot be read, the profiles cannot be compared, or the run has
    none.

    >>> result = diff_profiles("before.folded", "after.folded")  # doctest: +SKIP
    >>> result.packages.head()  # doctest: +SKIP
    """
    if isinstance(before, Run):
        return profiles_of(before.stored, before.source.analysed)
    if after is None:
        raise ProfileError(
            "Give two profiles, one before the change and one after, or a run with profiles."
        )
    first, second = (_profiles(side) for side in (before, after))
    basis = _basis(per, load_before, load_after, sides=(first, second))
    return compare_profiles(first, second, value, basis)


def _profiles(side: Files) -> list[Profile]:
    each = [side] if isinstance(side, str | Path | Profile) else side
    return [
        profile if isinstance(profile, Profile) else read_profile(Path(profile)) for profile in each
    ]


def _basis(per: str | None, *asked: float | None, sides: Sequence[list[Profile]]) -> Basis | None:
    """The load of each side; a second is known from the profiles themselves. Raises ProfileError
    where one is missing."""
    loads = [load for load in asked if load is not None]
    if not per and not loads:
        return None
    if per == "second" and not loads:
        loads = [sum(p.duration_ns for p in side) / len(side) / 1e9 for side in sides]
    if not per or len(loads) < 2 or not all(loads):
        raise ProfileError(
            "per (--per), such as stream, needs load_before and load_after (--load-before, "
            "--load-after), and they need it; a second needs profiles that say how long they "
            "lasted."
        )
    return Basis(per, *loads)
