"""Tables of more trials or levels than a fit takes: as many of each setting as fit, drawn evenly
from the whole table, and of the levels those that lie furthest apart."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from deadzone.language.messages import Message, _
from deadzone.study.response_cells import level_names
from deadzone.study.scales import INTERVAL, KnobScale

MOST_TRIALS = 100_000
"""A fit weighs each trial against some hundred values of its level and its scatter, so that its
time and memory grow with them."""

FEWEST_OF_EACH = 50
"""Trials of a setting that are kept, however many settings there are."""


def thinned(table: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """The table, or of one with more than MOST_TRIALS rows as many of each setting as come to that.

    The rows of a setting are parted into equal stretches, and one is drawn from each: drift stays,
    and what returns every so many rows is not met in step. The same table gives the same rows.
    factors: whose combinations are the settings.
    """
    if len(table) <= MOST_TRIALS:
        return table
    setting = table.groupby(list(factors), sort=False, dropna=False).ngroup().to_numpy()
    count = np.bincount(setting)
    most = max(MOST_TRIALS // len(count), FEWEST_OF_EACH)
    order, first = np.argsort(setting, kind="stable"), np.cumsum(count) - count
    random, keep = np.random.default_rng(0), (count <= most)[setting]
    for number in np.flatnonzero(count > most):
        edge = np.linspace(0, count[number], most + 1).astype(int)
        drawn = edge[:-1] + (random.random(most) * np.diff(edge)).astype(int)
        keep[order[first[number] + drawn]] = True
    return table[keep]


MOST_LEVELS = 64
"""Each pair of levels may be the ends of a piece, so that the time of a fit grows with the cube of
their number; so many take a second."""


def with_fewer_levels(
    table: pd.DataFrame, knob: str, scale: KnobScale
) -> tuple[pd.DataFrame, list[Message]]:
    """The trials at no more than MOST_LEVELS levels on the knob's axis, and what is said of it: the
    level whose neighbours lie closest together is left out, one after the other."""
    place = level_names(table[knob]).map(scale.positions).to_numpy(float)
    every = np.unique(place[np.isfinite(place)])
    if len(every) <= MOST_LEVELS:
        return table, []
    kept, x = every, every if scale.kind == INTERVAL else np.log(every)
    while len(kept) > MOST_LEVELS:
        closest = 1 + int(np.argmin(x[2:] - x[:-2]))
        kept, x = np.delete(kept, closest), np.delete(x, closest)
    said = _(
        "Of {levels:count} levels of {knob} {n} are fitted, those that lie furthest apart.",
        levels=len(every),
        knob=knob,
        n=MOST_LEVELS,
    )
    return table[~np.isin(place, np.setdiff1d(every, kept))], [said]
