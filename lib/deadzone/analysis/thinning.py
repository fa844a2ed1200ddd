"""Tables of more trials than a fit takes: as many of each setting as fit, drawn evenly from the
whole table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

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
