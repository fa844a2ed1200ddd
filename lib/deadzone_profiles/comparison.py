"""Two sides of profiles compared: total, every function, every package.

Flat and cumulative values of every function or package of a profile, as `go tool pprof -top` counts
them.

Flat: of the samples taken in the function itself. Cumulative: of the samples with the function
anywhere on their stack, each counted once however often the function is on it. Both are exact sums
of whole numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pandas as pd

from deadzone.language.messages import N_
from deadzone.plugins import _
from deadzone_profiles.estimates import FEWEST_REPLICATES, Amounts, estimate, method, total_amounts
from deadzone_profiles.model import ANNOTATION, Profile
from deadzone_profiles.pairing import Basis, Pair, ProfileSide, pair_up

METHOD_TEXTS = {
    "replicates": N_("Intervals are Welch's 95 % over the replicates."),
    "sampling": N_(
        "Intervals are 95 % from the sample counts (Poisson) of one profile per side. They leave "
        "out how the program varies from run to run, which replicates would show."
    ),
    "none": N_(
        "There is one profile per side and no sample count, so the changes have no interval."
    ),
}
"""By how intervals can be found: see `deadzone_profiles.estimates.method`."""


Sums = Callable[[Profile, np.ndarray], np.ndarray]


def flat(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Flat value of every function.

    numbers: shape (samples,), what each sample counts. Returns shape (functions,), of the same
    type, exact for whole numbers. Samples without a stack belong to no function.
    """
    sums = np.zeros(len(profile.functions), dtype=numbers.dtype)
    inside = profile.leaves >= 0
    np.add.at(sums, profile.leaves[inside], numbers[inside])
    return sums


def cumulative(profile: Profile, numbers: np.ndarray) -> np.ndarray:
    """Cumulative value of every function; shapes as in `flat`."""
    return np.asarray(profile.on_function.T @ numbers)


def renamed(profile: Profile, names: Sequence[str], packages: Sequence[str]) -> Profile:
    """The profile with functions of one name as one function. names, packages: of each function;
    the first package of a name counts."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    package_of = dict(zip(reversed(names), reversed(packages), strict=True))
    merged = np.array([places[name] for name in names], dtype=np.int32)
    return replace(
        profile,
        functions=tuple(places),
        packages=tuple(package_of[name] for name in places),
        frames=merged[profile.frames],
    )


def by_package(profile: Profile) -> Profile:
    """The profile with packages in place of functions."""
    return renamed(profile, profile.packages, profile.packages)


def without_annotations(profile: Profile) -> Profile:
    """The profile with one function in place of those whose names differ in what a profiler added
    alone."""
    plain = [ANNOTATION.sub("", name) or name for name in profile.functions]
    return renamed(profile, plain, profile.packages)


@dataclass(frozen=True, eq=False)
class ProfileComparison:
    """What changed between two sides of profiles.

    pair: the profiles, made comparable. total: one row. functions, packages: a row each, sorted by
    absolute flat change. All have the columns of `estimates.COLUMNS`; functions and packages also
    `name`, `share_before`, `share_after` (of the total, 0 to 1), `status` ("new", "vanished" or
    ""), and `cum_before`, `cum_after`, `cum_change`, `cum_low`, `cum_high`; functions also
    `package`. Amounts are in `pair.unit`. method: a key of METHOD_TEXTS. identical: both sides hold
    the same stacks and values at the same load.
    """

    pair: Pair
    total: pd.DataFrame
    functions: pd.DataFrame
    packages: pd.DataFrame
    method: str
    identical: bool
    doubts: tuple[str, ...] = ()

    @property
    def stacks(self) -> pd.DataFrame:
        """One row a sample of every profile, to group by what its stack holds.

        Columns: `side` (before or after), `profile` (its number on the side), `stack` (functions
        joined by `;`, the outermost caller first) and `amount` (in `pair.unit`).
        """
        sides = {"before": self.pair.before, "after": self.pair.after}
        return pd.concat(
            [
                pd.DataFrame({"stack": map(";".join, profile.stacks)}, dtype=object).assign(
                    side=name, profile=i, amount=profile.numbers(side.value) * float(side.factor)
                )
                for name, side in sides.items()
                for i, profile in enumerate(side.profiles)
            ],
            ignore_index=True,
        )

    @property
    def is_disjoint(self) -> bool:
        """Whether both sides have functions, and none of them in common."""
        before, after = (self.functions[f"cum_{when}"] != 0 for when in ("before", "after"))
        return bool(before.any() and after.any() and not (before & after).any())


def compare_profiles(
    before: Profile | Sequence[Profile],
    after: Profile | Sequence[Profile],
    value: str | None = None,
    basis: Basis | None = None,
) -> ProfileComparison:
    """Compare one profile with another, or replicates of each.

    value: name of the value, by default the one the first profile names. basis: the load of each
    side. Raises ProfileError if the profiles cannot be compared.
    """
    pair = pair_up(_several(before), _several(after), value, basis)
    plain = [_each(side, without_annotations) for side in (pair.before, pair.after)]
    functions = _table(*plain)
    packages = _table(*(_each(side, by_package) for side in (pair.before, pair.after)))
    package_of: dict[str, str] = {}
    for profile in chain.from_iterable(side.profiles for side in plain):
        package_of |= zip(profile.functions, profile.packages, strict=True)
    functions.insert(1, "package", functions["name"].map(package_of))
    sides = total_amounts(pair.before), total_amounts(pair.after)
    how = method(*sides)
    compared = ProfileComparison(
        pair=pair,
        total=estimate(*sides),
        functions=functions,
        packages=packages,
        method=how,
        identical=pair.before.factor == pair.after.factor
        and len(pair.before.profiles) == len(pair.after.profiles)
        and all(map(_same, pair.before.profiles, pair.after.profiles)),
        doubts=(*pair.doubts, *_chance_doubts(pair, how)),
    )
    return (
        replace(compared, doubts=(_nothing_in_common(functions), *compared.doubts))
        if compared.is_disjoint
        else compared
    )


def _nothing_in_common(functions: pd.DataFrame) -> str:
    before, after = (
        functions["name"][functions[f"cum_{when}"] != 0].iloc[0] for when in ("before", "after")
    )
    return _(
        "The two have no function in common, so nothing can be compared. Are they of the same "
        "program, and are its functions written alike in both? For example {before} and {after}.",
        before=before,
        after=after,
    )


def _several(profiles: Profile | Sequence[Profile]) -> tuple[Profile, ...]:
    return (profiles,) if isinstance(profiles, Profile) else tuple(profiles)


def _each(side: ProfileSide, changed: Callable[[Profile], Profile]) -> ProfileSide:
    return replace(side, profiles=tuple(map(changed, side.profiles)))


def _table(before: ProfileSide, after: ProfileSide) -> pd.DataFrame:
    """The table of functions, or of packages in their place."""
    sides = {"before": before, "after": after}
    names = (name for profile in (*before.profiles, *after.profiles) for name in profile.functions)
    index = {name: place for place, name in enumerate(dict.fromkeys(names))}
    table, cum = (
        estimate(*(_amounts(side, sums, index) for side in sides.values()))
        for sums in (flat, cumulative)
    )
    table.insert(0, "name", list(index))
    for name, side in sides.items():
        total = sum(side.totals)
        table[f"share_{name}"] = table[name] * len(side.profiles) / total if total else 0.0
    for column in ("before", "after", "change"):
        table[f"cum_{column}"] = cum[column]
    table["cum_low"], table["cum_high"] = cum["change_low"], cum["change_high"]
    table["status"] = np.select(
        [(cum["before"] == 0) & (cum["after"] != 0), (cum["before"] != 0) & (cum["after"] == 0)],
        ["new", "vanished"],
        "",
    )
    order = np.lexsort((table["name"], -table["cum_change"].abs(), -table["change"].abs()))
    return table.iloc[order].reset_index(drop=True)


def _amounts(side: ProfileSide, sums: Sums, index: Mapping[str, int]) -> Amounts:
    """Sums of every profile of a side, one a name of the index, in the unit of the pair. sums: of a
    profile and numbers of its samples."""
    values = np.zeros((len(index), len(side.profiles)))
    spread = np.zeros_like(values)
    for column, profile in enumerate(side.profiles):
        place = np.array([index[name] for name in profile.functions], dtype=np.int64)
        values[place, column] = sums(profile, profile.numbers(side.value)) * float(side.factor)
        if (variance := side.events[column].variance) is not None:
            spread[place, column] = sums(profile, variance) * float(side.factor) ** 2
    return Amounts.of(side, values, spread)


def _same(first: Profile, second: Profile) -> bool:
    return first.functions == second.functions and all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("values", "offsets", "frames")
    )


def _chance_doubts(pair: Pair, how: str) -> tuple[str, ...]:
    known = (*pair.before.events, *pair.after.events)
    doubts = [event.reason for event in known if event.reason and how != "replicates"]
    fewer, more = sorted((len(pair.before.profiles), len(pair.after.profiles)))
    if fewer < FEWEST_REPLICATES <= more:
        doubts.append(
            _("There are replicates on one side only, so their scatter could not be used.")
        )
    return tuple(dict.fromkeys(doubts))
