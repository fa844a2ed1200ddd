"""The total of each profile of a side, with its sampling error."""

from __future__ import annotations

import numpy as np

from deadzone.explaining.profiles.estimates import Amounts
from deadzone.explaining.profiles.events import events
from deadzone.explaining.profiles.pairing import Side


def total_amounts(side: Side) -> Amounts:
    """One group, the whole, for every profile of a side; in the unit of the pair."""
    totals, variances, weights, sampled = [], [], [], True
    for profile, value, factor in zip(side.profiles, side.values, side.factors, strict=True):
        known = events(profile, value)
        sampled &= known.variance is not None
        totals.append(float(profile.total(value) * factor))
        variances.append(
            float(known.variance.sum()) * float(factor) ** 2 if known.variance is not None else 0.0
        )
        weights.append(known.weight * float(factor))
    variance = np.array([variances]) if sampled else None
    return Amounts(np.array([totals]), variance, float(np.mean(weights)))
