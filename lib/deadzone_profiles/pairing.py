"""Two sides of profiles to be compared: of one value, one unit, one sampling period, and one basis;
what is not is refused.

How many events a sampled profile rests on says how far its sums can be off by chance. A CPU profile
of 1.05 s at 10 ms a sample is 105 samples. Samples of independent moments are counts after Poisson:
a sum of n events of weight w has the variance n w^2. Fixed-interval sampling scatters at most as
much, so the intervals are on the safe side for one profile; what changes from run to run is not in
them.

A heap profile of Go samples an allocation of s bytes with probability 1 - exp(-s / period) and
writes the counts scaled up by its inverse (runtime/pprof, `scaleHeapSample`); scaling back gives
the events.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from deadzone.errors import ProfileError
from deadzone.plugins import _
from deadzone_profiles.model import SAMPLES, UNNAMED, WEIGHTS, Profile, ValueType
from deadzone_profiles.units import SPACE, TIME, readable

COUNTING_VALUES = ("samples", "sample", "count")
"""Names under which profilers keep the number of samples beside another value."""


@dataclass(frozen=True, eq=False)
class Events:
    """The chance in one value of a profile.

    variance: shape (samples,), of each sample's number, in its unit squared; None if the value is
    not sampled or its sampling is not stated. weight: mean size of an event, in the unit. reason:
    why there is no variance, as a sentence.
    """

    variance: np.ndarray | None
    weight: float = 0.0
    reason: str = ""


def events(profile: Profile, value: str) -> Events:
    """The events behind one value of a profile. Raises ProfileError if the profile has no such
    value."""
    numbers = profile.numbers(value).astype(float)
    is_difference = (numbers < 0).any()
    counted = None if is_difference else _counts(profile, value, numbers)
    if counted is None:
        kind, reason = profile.value_type(value), ""  # of weights it is said of the pair
        if is_difference:
            reason = _(
                "{source} has negative numbers: it is a difference; give the two profiles.",
                source=profile.source,
            )
        elif kind.name == "goroutine":
            reason = _(
                "Goroutines are counted, not sampled: one snapshot misses how they fluctuate."
            )
        elif kind != WEIGHTS:
            reason = _(
                "The profile does not say how it sampled {value}: the sampling error is unknown.",
                value=value,
            )
        return Events(None, reason=reason)
    variance = np.divide(numbers**2, counted, out=np.zeros(len(numbers)), where=counted > 0)
    total = np.abs(numbers).sum()
    return Events(variance, float(variance.sum() / total) if total else 0.0)


def _counts(profile: Profile, value: str, numbers: np.ndarray) -> np.ndarray | None:
    """Events behind each sample, or None."""
    kind = profile.value_type(value)
    if kind.unit == "count" and kind.name in COUNTING_VALUES:
        return np.abs(numbers)
    names = [other.name for other in profile.value_types]
    if kind.unit in TIME and profile.period > 0 and _period_unit(profile) in TIME:
        beside = next((name for name in COUNTING_VALUES if name in names), None)
        return (
            np.abs(profile.numbers(beside).astype(float))
            if beside
            else np.abs(numbers) / profile.period
        )
    return _allocations(profile, value, names)


def _period_unit(profile: Profile) -> str:
    return profile.period_type.unit if profile.period_type else ""


def _allocations(profile: Profile, value: str, names: list[str]) -> np.ndarray | None:
    when, _, what = value.partition("_")
    pair = (f"{when}_objects", f"{when}_space")
    sampled = profile.period > 1 and _period_unit(profile) in SPACE
    if what not in ("objects", "space") or not sampled or not set(pair) <= set(names):
        return None
    objects, space = (np.abs(profile.numbers(name).astype(float)) for name in pair)
    size = np.divide(space, objects, out=np.zeros(len(objects)), where=objects > 0)
    return objects * -np.expm1(-size / profile.period)


ONCE_IN = 1e6
"""Counts have a common divisor d by chance in one of d^(n - 1) profiles with n different ones; what
is rarer than this is no chance."""

UNEQUAL_DURATION = 0.01
"""Durations that differ by more than this share are worth a word: sums over time differ as much."""

UNNAMED_SHARE = 0.1
"""Above this share of a profile without function names, the table of functions says little."""


@dataclass(frozen=True)
class Basis:
    """What amounts are divided by, so that profiles of unequal load compare.

    unit: one of what, as in "stream". before, after: how many there were, > 0.
    """

    unit: str = ""
    before: float = 1.0
    after: float = 1.0


@dataclass(frozen=True, eq=False)
class ProfileSide:
    """The profiles before, or after.

    value: its name, in each. factor: what their numbers are multiplied by.
    """

    profiles: tuple[Profile, ...]
    value: str
    factor: Fraction

    @cached_property
    def events(self) -> tuple[Events, ...]:
        """The events behind the value of each profile."""
        return tuple(events(profile, self.value) for profile in self.profiles)

    @property
    def weights(self) -> list[float]:
        """The mean size of an event of each profile, in the unit of the pair."""
        return [event.weight * float(self.factor) for event in self.events]

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """The total of each profile, in the unit of the pair."""
        return tuple(float(profile.total(self.value) * self.factor) for profile in self.profiles)


@dataclass(frozen=True, eq=False)
class Pair:
    """Profiles that can be compared. unit: of the amounts, such as `nanoseconds per stream`.

    notes: what amounts are divided by. doubts: what is left; both as sentences.
    """

    value: ValueType
    unit: str
    before: ProfileSide
    after: ProfileSide
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        """What the amounts are, without their unit: `cpu`, `inuse_space per stream`."""
        load = self.unit.partition(" per ")[2]
        return f"{self.value.name} {_('per {load}', load=load)}" if load else self.value.name


def pair_up(
    before: Sequence[Profile],
    after: Sequence[Profile],
    value: str | None = None,
    basis: Basis | None = None,
) -> Pair:
    """Pair profiles, replicates of each side in any number.

    value: which value to compare, by default the one the first profile names.
    basis: the load of each side, by default amounts are compared as they are.
    Raises ProfileError if there is nothing to compare, or the values measure different things.
    """
    if not before or not after:
        raise ProfileError("A comparison needs a profile before and one after.")
    profiles, divisor = _weighed((*before, *after))
    before, after = profiles[: len(before)], profiles[len(before) :]
    kind = before[0].value_type(None if divisor and value == SAMPLES.name else value)
    _refuse_other_types(profiles, kind)
    basis = basis or Basis()
    for when, load in (("before", basis.before), ("after", basis.after)):
        if not 0 < load < float("inf"):
            raise ProfileError(f"The load {when} is {load:g}; it must be a positive number.")
    first = ProfileSide(before, kind.name, 1 / Fraction(basis.before))
    second = ProfileSide(after, kind.name, 1 / Fraction(basis.after))
    if not any((*first.totals, *second.totals)):
        raise ProfileError(
            f"The profiles hold no samples of {kind.name}: was the program under load?"
        )
    unit = f"{kind.unit} per {basis.unit}" if basis.unit else kind.unit
    note = _(
        "Amounts are per {unit}: {before:count} before and {after:count} after.", **vars(basis)
    )
    doubts = _doubts(before, after, kind, basis)
    if divisor:
        weights = _(
            "All numbers are multiples of {divisor:count}: they are weights, not sample counts, so "
            "their sampling error is unknown. Replicates show it, and so do counts: divide the "
            "numbers by the weight of one sample.",
            divisor=divisor,
        )
        doubts = (weights, *doubts)
    return Pair(kind, unit, first, second, (note,) if basis.unit else (), doubts)


def _weighed(profiles: Sequence[Profile]) -> tuple[tuple[Profile, ...], int]:
    """Folded stacks with their numbers called weights where they are no counts, and the largest
    number that divides all of them; 0 where they are counts, or the profiles say what they are."""
    unclear = all(
        profile.value_types in ((SAMPLES,), (WEIGHTS,)) and not profile.period
        for profile in profiles
    )
    numbers = (
        [profile.numbers() for profile in profiles] if unclear else [np.empty(0, dtype=np.int64)]
    )
    values = np.unique(np.concatenate(numbers))
    divisor = int(np.gcd.reduce(values)) if len(values) else 0
    is_chance = divisor < 2 or (len(values) - 1) * math.log(divisor) < math.log(ONCE_IN)
    if is_chance and not any(profile.value_types == (WEIGHTS,) for profile in profiles):
        return tuple(profiles), 0
    called = {"value_types": (WEIGHTS,), "default_value": WEIGHTS.name}
    return tuple(replace(profile, **called) for profile in profiles), divisor  # type: ignore[arg-type]


def _refuse_other_types(profiles: Sequence[Profile], kind: ValueType) -> None:
    for profile in profiles:
        if kind not in profile.value_types:
            held = ", ".join(f"{other.name} in {other.unit}" for other in profile.value_types)
            raise ProfileError(
                f"{profiles[0].source} holds {kind.name} in {kind.unit} and {profile.source} does "
                f"not, but {held or 'nothing'}: profiles of different types cannot be compared."
            )
    counting = kind.name in COUNTING_VALUES and kind.unit == "count"
    if counting and len({(profile.period, profile.period_type) for profile in profiles}) > 1:
        raise ProfileError(
            "The profiles were sampled at different periods, so their samples cannot be compared; "
            "compare a value in time, such as cpu, or sample both alike."
        )


def _doubts(
    before: Sequence[Profile], after: Sequence[Profile], kind: ValueType, basis: Basis
) -> tuple[str, ...]:
    profiles = (*before, *after)
    doubts = [] if basis.unit else _unequal_durations(before, after)
    if kind.name.startswith("alloc_"):
        doubts.append(
            _(
                "{value} counts from the start of the program: compare equal times since then.",
                value=kind.name,
            )
        )
    doubts += [
        _(
            "{source} holds no samples of this value; a part without samples may be small, not "
            "gone.",
            source=profile.source,
        )
        for profile in profiles
        if not profile.samples or not profile.numbers(kind.name).any()
    ]
    return (*doubts, *filter(None, map(_unnamed, profiles)))


def _unequal_durations(before: Sequence[Profile], after: Sequence[Profile]) -> list[str]:
    lengths = [[p.duration_ns for p in side if p.duration_ns > 0] for side in (before, after)]
    if not all(lengths):
        return []
    first, second = (sum(side) / len(side) for side in lengths)
    if abs(second / first - 1) <= UNEQUAL_DURATION:
        return []
    return [
        _(
            "The profiles lasted {before} before and {after} after: compare them per second.",
            before=readable(first, "ns"),
            after=readable(second, "ns"),
        )
    ]


def _unnamed(profile: Profile) -> str:
    weight = np.abs(profile.values[:, 0]).astype(float)
    unnamed = [i for i, name in enumerate(profile.functions) if UNNAMED.fullmatch(name)]
    share = float(weight[np.isin(profile.leaves, unnamed)].sum() / (weight.sum() or 1.0))
    return (
        ""
        if share < UNNAMED_SHARE
        else _(
            "{source}: {share:percent} of the samples are in code without function names (a "
            "stripped binary?); they are listed under the name of their binary, in brackets. Build "
            "with symbols to tell them apart.",
            source=profile.source,
            share=share,
        )
    )
