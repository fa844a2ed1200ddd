"""Measurements at the mercy of neighbours: taken again where disturbed, skipped where always."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pandas as pd
import pytest
from tally import BUSY

NO_DOUBTS = {"max_foreign_cpu": 999, "max_steal": 999, "max_pressure": 1, "max_clock_drift": 999}
"""Trust of a study in which interference is not the subject: it must measure on a busy machine."""

ATTEMPTS = 4
MOST_UNTRUSTED = 0.2
"""With more of its trials untrusted a sweep says more of the neighbours than of the program."""

CLOCK = 1.25
"""Quartiles of the CPU time that the same work takes, the higher over the lower: more, and others
share the core's clock and caches, which no account of this machine shows."""

GENERATOR = "others kept it from its core"
"""What the load generator says where neighbours, or the host of this machine, took its time."""

Measured = TypeVar("Measured")


def undisturbed(
    measure: Callable[[], Measured], disturbed: Callable[[Measured], bool], attempts: int = ATTEMPTS
) -> Measured:
    """The first measurement that neighbours left alone; without one the test is skipped, which the
    summary counts."""
    for _ in range(attempts):
        measured = measure()
        if not disturbed(measured):
            return measured
    pytest.skip(f"{BUSY}neighbours disturbed it {attempts} times")


def trusted(trials: pd.DataFrame) -> pd.DataFrame:
    """Of the trials of a run, each one's last attempt that succeeded and can be trusted."""
    final = trials[~trials["warmup"]].drop_duplicates("trial", keep="last")
    return final[final["trusted"] & (final["status"] == "ok")]


def mostly_untrusted(trials: pd.DataFrame) -> bool:
    """Whether so few trials can be trusted that their sweep tells nothing."""
    planned = trials.loc[~trials["warmup"], "trial"].nunique()
    return len(trusted(trials)) < (1 - MOST_UNTRUSTED) * planned


def clock_wandered(trials: pd.DataFrame, knob: str) -> bool:
    """Whether at some level the same work took CPU times too different to compare levels by."""
    return scattered(trials["user_s"] + trials["sys_s"], trials[knob])


def scattered(taken: pd.Series, levels: pd.Series) -> bool:
    """Whether the same work took times too different at one of the levels, by whatever others did
    meanwhile."""
    at_level = taken.astype(float).groupby(levels)
    return bool((at_level.quantile(0.75) > CLOCK * at_level.quantile(0.25)).any())
