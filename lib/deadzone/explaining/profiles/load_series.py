"""Profiles at several loads, as the points a projection is made from."""

from collections.abc import Sequence

from deadzone.explaining.profiles.model import Profile
from deadzone.explaining.profiles.pairing import Side, pair_up


def measured_at(
    side: Side, load: float, others: Sequence[tuple[float, Profile]]
) -> tuple[list[float], list[float], str]:
    """Loads, the total of the compared value at each, and its unit, not divided by the load.

    side, load: profiles and their load. others: further profiles of the same program, with their loads.
    CPU and other times are per second of the profile, where its duration is stated (so nanoseconds of CPU
    become cores), because profiles at different loads may last differently.
    Raises ProfileError if a profile holds no such value or another unit.
    """
    own = [(load, profile) for profile in side.profiles]
    points = [*own, *others]
    profiles = [profile for _, profile in points]
    matched = pair_up(profiles[:1], profiles, side.values[0])
    totals = list(matched.after.totals)
    loads = [load for load, _ in points]
    if not all(profile.duration_ns > 0 for profile in profiles):
        return loads, totals, matched.unit
    seconds = [profile.duration_ns / 1e9 for profile in profiles]
    rates = [total / length for total, length in zip(totals, seconds, strict=True)]
    if matched.unit == "nanoseconds":
        return loads, [rate / 1e9 for rate in rates], "cores"
    return loads, rates, f"{matched.unit} per second"
