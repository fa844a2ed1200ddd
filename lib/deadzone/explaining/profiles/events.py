"""How many events a sampled profile rests on, and so how far its sums can be off by chance.

A CPU profile of 1.05 s at 10 ms a sample is 105 samples. Samples of independent moments are counts after
Poisson: a sum of n events of weight w has the variance n w^2. Fixed-interval sampling scatters at most as
much, so the intervals are on the safe side for one profile; what changes from run to run is not in them.

A heap profile of Go samples an allocation of s bytes with probability 1 - exp(-s / period) and writes the
counts scaled up by its inverse (runtime/pprof, `scaleHeapSample`); scaling back gives the events.
"""

from dataclasses import dataclass

import numpy as np

from deadzone.explaining.profiles.model import Profile
from deadzone.explaining.profiles.units import SPACE, TIME
from deadzone.language.catalogue import say

COUNTING_VALUES = ("samples", "sample", "count")
"""Names under which profilers keep the number of samples beside another value."""


@dataclass(frozen=True, eq=False)
class Events:
    """The chance in one value of a profile.

    variance: shape (samples,), of each sample's number, in its unit squared; None if the value is not
    sampled or its sampling is not stated. weight: mean size of an event, in the unit. count: of events.
    uniform: all events have that size. reason: why there is no variance, as a sentence.
    """

    variance: np.ndarray | None
    weight: float = 0.0
    count: float = 0.0
    uniform: bool = False
    reason: str = ""


def events(profile: Profile, value: str) -> Events:
    """The events behind one value of a profile. Raises ProfileError if the profile has no such value."""
    numbers = profile.numbers(value).astype(float)
    if (numbers < 0).any():
        return Events(None, reason=say("profile.negative", source=profile.source))
    counted = _counts(profile, value, numbers)
    if counted is None:
        is_all = profile.value_type(value).name == "goroutine"
        return Events(
            None, reason=say("profile.all_counted") if is_all else say("profile.not_stated", value=value)
        )
    variance = np.divide(numbers**2, counted, out=np.zeros(len(numbers)), where=counted > 0)
    total, spread = np.abs(numbers).sum(), variance.sum()
    weight = float(spread / total) if total else 0.0
    uniform = np.allclose(np.abs(numbers), counted * weight, rtol=1e-9, atol=0)
    return Events(variance, weight, float(counted.sum()), uniform)


def _counts(profile: Profile, value: str, numbers: np.ndarray) -> np.ndarray | None:
    """Events behind each sample, or None."""
    kind = profile.value_type(value)
    if kind.unit == "count" and kind.name in COUNTING_VALUES:
        return np.abs(numbers)
    names = [other.name for other in profile.value_types]
    if kind.unit in TIME and profile.period > 0 and _period_unit(profile) in TIME:
        beside = next((name for name in COUNTING_VALUES if name in names), None)
        return np.abs(profile.numbers(beside).astype(float)) if beside else np.abs(numbers) / profile.period
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
