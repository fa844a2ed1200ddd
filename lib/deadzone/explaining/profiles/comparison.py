"""Two sides of profiles compared: total, every function, every package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from deadzone.explaining.profiles.estimates import FEWEST_REPLICATES, Amounts, estimate, method
from deadzone.explaining.profiles.events import Events, events
from deadzone.explaining.profiles.model import Profile
from deadzone.explaining.profiles.pairing import Basis, Pair, Side, pair_up
from deadzone.explaining.profiles.side_totals import total_amounts
from deadzone.explaining.profiles.totals import (
    cumulative,
    cumulative_by_package,
    flat,
    flat_by_package,
    grouped,
    package_index,
)
from deadzone.language.catalogue import say

METHODS = ("replicates", "sampling", "none")
"""How intervals can be found: see `deadzone.explaining.profiles.estimates.method`."""

Sums = Callable[[Profile, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed between two sides of profiles.

    pair: the profiles, made comparable. total: one row. functions, packages: a row each, sorted by absolute
    flat change. All have the columns of `estimates.COLUMNS`; functions and packages also `name`,
    `share_before`, `share_after` (of the total, 0 to 1), `status` ("new", "vanished" or ""), and
    `cum_before`, `cum_after`, `cum_change`, `cum_low`, `cum_high`; functions also `package`.
    Amounts are in `pair.unit`. method: one of METHODS. identical: both sides hold the same stacks and values.
    """

    pair: Pair
    total: pd.DataFrame
    functions: pd.DataFrame
    packages: pd.DataFrame
    method: str
    identical: bool
    doubts: tuple[str, ...] = ()


def compare_profiles(
    before: Profile | Sequence[Profile],
    after: Profile | Sequence[Profile],
    value: str | None = None,
    basis: Basis | None = None,
) -> Comparison:
    """Compare one profile with another, or replicates of each.

    value: name of the value, by default the one the first profile names. basis: the load of each side.
    Raises ProfileError if the profiles cannot be compared.
    """
    pair = pair_up(_several(before), _several(after), value, basis)
    chance = [
        [events(p, v) for p, v in zip(s.profiles, s.values, strict=True)] for s in (pair.before, pair.after)
    ]
    functions = _table(pair, chance, _function_names, flat, cumulative)
    packages = _table(pair, chance, _package_names, flat_by_package, cumulative_by_package)
    package_of = {
        f: k
        for p in (*pair.before.profiles, *pair.after.profiles)
        for f, k in zip(p.functions, p.packages, strict=True)
    }
    functions.insert(1, "package", functions["name"].map(package_of))
    sides = total_amounts(pair.before), total_amounts(pair.after)
    how = method(*sides)
    return Comparison(
        pair=pair,
        total=estimate(*sides),
        functions=functions,
        packages=packages,
        method=how,
        identical=identical(pair),
        doubts=(*pair.doubts, *_chance_doubts(chance, how)),
    )


def method_text(how: str) -> str:
    """What intervals of a method rest on, as a sentence. how: one of METHODS."""
    return say(f"profile.method_{how}")


def amounts(
    side: Side, known: Sequence[Events], sums: Sums, names_of: Callable[[Profile], Sequence[str]]
) -> tuple[Amounts, tuple[str, ...]]:
    """Sums of every profile of a side by name, in the unit of the pair.

    known: the events of each profile. sums: adds numbers of samples to one sum for each of `names_of`.
    """
    names = tuple(dict.fromkeys(name for profile in side.profiles for name in names_of(profile)))
    index = {name: place for place, name in enumerate(names)}
    values = np.zeros((len(names), len(side.profiles)))
    spread = np.zeros_like(values)
    for column, (profile, value, factor) in enumerate(
        zip(side.profiles, side.values, side.factors, strict=True)
    ):
        place = np.array([index[name] for name in names_of(profile)], dtype=np.int64)
        own = sums(profile, profile.numbers(value))
        values[:, column] = grouped(own, place, len(names)) * float(factor)
        variance = _variance(known[column], own, partial(sums, profile))
        spread[:, column] = grouped(variance, place, len(names)) * float(factor) ** 2
    sampled = all(one.variance is not None for one in known)
    weights = [one.weight * float(factor) for one, factor in zip(known, side.factors, strict=True)]
    return Amounts(values, spread if sampled else None, float(np.mean(weights))), names


def identical(pair: Pair) -> bool:
    """Whether both sides hold the same stacks with the same values, profile by profile."""
    first, second = pair.before.profiles, pair.after.profiles
    return len(first) == len(second) and all(map(_same, first, second))


def tidy(pair: Pair) -> pd.DataFrame:
    """One row a profile: `side`, `replicate`, and the total in a column such as `cpu_nanoseconds_per_stream`.

    This is the tidy table that `deadzone compare` and the phase models read.
    """
    rows = []
    for label, side in (("before", pair.before), ("after", pair.after)):
        for number, (profile, value, factor) in enumerate(
            zip(side.profiles, side.values, side.factors, strict=True), 1
        ):
            rows.append((label, number, float(profile.total(value) * factor)))
    return pd.DataFrame(
        rows, columns=["side", "replicate", f"{pair.value.name}_{pair.unit}".replace(" ", "_")]
    )


def _several(profiles: Profile | Sequence[Profile]) -> tuple[Profile, ...]:
    return (profiles,) if isinstance(profiles, Profile) else tuple(profiles)


def _sides(pair: Pair, chance: list[list[Events]]) -> list[tuple[Side, list[Events]]]:
    return list(zip((pair.before, pair.after), chance, strict=True))


def _table(
    pair: Pair,
    chance: list[list[Events]],
    names_of: Callable[[Profile], Sequence[str]],
    flat_of: Sums,
    cum_of: Sums,
) -> pd.DataFrame:
    """The table of functions or of packages."""
    flats, cums = (_aligned(pair, chance, sums, names_of) for sums in (flat_of, cum_of))
    names = flats[2]
    table = estimate(flats[0], flats[1])
    table.insert(0, "name", names)
    cum = estimate(cums[0], cums[1])
    for side, made in (("before", pair.before), ("after", pair.after)):
        total = sum(
            float(p.total(v) * f) for p, v, f in zip(made.profiles, made.values, made.factors, strict=True)
        )
        table[f"share_{side}"] = table[side] * len(made.profiles) / total if total else 0.0
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


def _aligned(
    pair: Pair, chance: list[list[Events]], sums: Sums, names_of: Callable[[Profile], Sequence[str]]
) -> tuple[Amounts, Amounts, tuple[str, ...]]:
    """Amounts of both sides with the same names in the same order."""
    (first, mine), (second, theirs) = (
        amounts(side, known, sums, names_of) for side, known in _sides(pair, chance)
    )
    names = tuple(dict.fromkeys((*mine, *theirs)))
    index = {name: place for place, name in enumerate(names)}
    return (
        *(
            _spread_out(made, np.array([index[name] for name in own], dtype=np.int64), len(names))
            for made, own in ((first, mine), (second, theirs))
        ),
        names,
    )  # type: ignore[return-value]


def _spread_out(made: Amounts, place: np.ndarray, groups: int) -> Amounts:
    values = np.zeros((groups, made.replicates))
    values[place] = made.values
    if made.variance is None:
        return Amounts(values, None, made.weight)
    variance = np.zeros_like(values)
    variance[place] = made.variance
    return Amounts(values, variance, made.weight)


def _variance(
    known: Events, sums_of_numbers: np.ndarray, sums: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Variance of each sum; where all events weigh the same it follows from the sums."""
    if known.variance is None:
        return np.zeros(len(sums_of_numbers))
    return np.abs(sums_of_numbers) * known.weight if known.uniform else sums(known.variance)


def _function_names(profile: Profile) -> Sequence[str]:
    return profile.functions


def _package_names(profile: Profile) -> Sequence[str]:
    return package_index(profile)[0]


def _same(first: Profile, second: Profile) -> bool:
    arrays = ("values", "offsets", "frames")
    return first.functions == second.functions and all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in arrays
    )


def _chance_doubts(chance: list[list[Events]], how: str) -> tuple[str, ...]:
    reasons = (one.reason for side in chance for one in side) if how != "replicates" else ()
    sizes = sorted(len(side) for side in chance)
    one_sided = say("profile.one_sided")
    doubts = (*reasons, one_sided if sizes[0] < FEWEST_REPLICATES <= sizes[1] else "")
    return tuple(dict.fromkeys(doubt for doubt in doubts if doubt))
