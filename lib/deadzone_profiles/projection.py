"""What a profile means at another load: a line through profiles at several loads, with its
interval.

Method: ordinary least squares with a constant part; the prediction interval for one more
measurement (Student's t). A program has work that does not grow with its load, so that doubling the
load rarely doubles the cost: from profiles at one load this cannot be seen, and proportional
scaling is an assumption.

Profiles at several loads, as the points a projection is made from.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from deadzone.errors import ProfileError
from deadzone.plugins import _
from deadzone_profiles.estimates import LEVEL
from deadzone_profiles.model import Profile
from deadzone_profiles.pairing import ProfileSide, pair_up

FAR = 1.5
"""A load beyond this multiple of the largest measured one is far: the line need not hold there."""


def measured_at(
    side: ProfileSide, load: float, others: Sequence[tuple[float, Profile]]
) -> tuple[list[float], list[float], str]:
    """Loads, the total of the compared value at each, and its unit, not divided by the load.

    side, load: profiles and their load. others: further profiles of the same program, with their
    loads. CPU and other times are per second of the profile, where its duration is stated (so
    nanoseconds of CPU become cores), because profiles at different loads may last differently.
    Raises ProfileError if a profile holds no such value or another unit.
    """
    own = [(load, profile) for profile in side.profiles]
    points = [*own, *others]
    profiles = [profile for _, profile in points]
    matched = pair_up(profiles[:1], profiles, side.value)
    loads, totals = [load for load, _ in points], matched.after.totals
    if not all(profile.duration_ns > 0 for profile in profiles):
        return loads, list(totals), matched.unit
    rates = [
        total / (profile.duration_ns / 1e9) for total, profile in zip(totals, profiles, strict=True)
    ]
    if matched.unit == "nanoseconds":
        return loads, [rate / 1e9 for rate in rates], "cores"
    return loads, rates, f"{matched.unit} per second"


@dataclass(frozen=True)
class Projection:
    """The expected amount at a load.

    load: asked for. amount, low, high: expected, and the 95 % prediction interval (None where
    nothing is known of the scatter), in the unit of the measurements. fixed, per_load: constant
    part and slope of the line. loads: distinct loads measured. method: "line" or "proportional".
    doubts: sentences.
    """

    load: float
    amount: float
    low: float | None
    high: float | None
    fixed: float
    per_load: float
    loads: tuple[float, ...]
    method: str
    doubts: tuple[str, ...]


def project(loads: Sequence[float], amounts: Sequence[float], load: float) -> Projection:
    """Project measurements to another load.

    loads: of each measurement, > 0, with replicates in any number. amounts: measured, in one unit.
    load: to project to, > 0.
    Raises ProfileError if a load is not positive or there is no measurement.
    """
    x, y = np.asarray(loads, dtype=float), np.asarray(amounts, dtype=float)
    if len(x) != len(y) or not len(x):
        raise ProfileError(
            f"A projection needs a load for each profile: {len(x)} loads, {len(y)} profiles."
        )
    if not (np.isfinite(x).all() and (x > 0).all() and 0 < load < np.inf and np.isfinite(y).all()):
        raise ProfileError("Loads must be positive numbers and amounts finite.")
    measured = tuple(np.unique(x).tolist())
    if len(measured) == 1:
        return _proportional(measured[0], float(y.mean()), load)
    return _line(x, y, load, measured)


def _proportional(measured: float, amount: float, load: float) -> Projection:
    doubt = _(
        "All profiles are at one load ({load:count}): that the cost grows in proportion to it is "
        "an assumption, not a measurement. Profile at a second and a third load.",
        load=measured,
    )
    per_load = amount / measured
    return Projection(
        load, per_load * load, None, None, 0.0, per_load, (measured,), "proportional", (doubt,)
    )


def _line(x: np.ndarray, y: np.ndarray, load: float, measured: tuple[float, ...]) -> Projection:
    centre = x.mean()
    spread = ((x - centre) ** 2).sum()
    slope = ((x - centre) * (y - y.mean())).sum() / spread
    fixed = y.mean() - slope * centre
    amount = fixed + slope * load
    degrees = len(x) - 2
    low = high = None
    if degrees > 0:
        residual = np.sqrt(((y - fixed - slope * x) ** 2).sum() / degrees)
        error = residual * np.sqrt(1 + 1 / len(x) + (load - centre) ** 2 / spread)
        reach = float(special.stdtrit(degrees, (1 + LEVEL) / 2)) * error
        low, high = float(amount - reach), float(amount + reach)
    doubts = _doubts(measured, load, degrees, float(slope))
    return Projection(
        load, float(amount), low, high, float(fixed), float(slope), measured, "line", doubts
    )


def _doubts(
    measured: tuple[float, ...], load: float, degrees: int, slope: float
) -> tuple[str, ...]:
    doubts: list[str] = []
    if degrees == 0:
        doubts.append(
            _("Two profiles make a line without any scatter to judge it by: there is no interval.")
        )
    elif len(measured) == 2:
        doubts.append(
            _(
                "There are two loads only: whether the cost bends between or beyond them is not "
                "known."
            )
        )
    if load > FAR * measured[-1] or load < measured[0] / FAR:
        doubts.append(
            _(
                "{load:count} is far from the loads measured ({low:count} to {high:count}): the "
                "interval holds only if the line goes on so far.",
                load=load,
                low=measured[0],
                high=measured[-1],
            )
        )
    if slope < 0:
        doubts.append(
            _(
                "The cost falls as the load rises: something else than the load differed between "
                "profiles."
            )
        )
    return tuple(doubts)
