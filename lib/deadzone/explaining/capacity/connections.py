"""Tests of connections: how many new ones a second are borne, and how many held ones at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel

FAILING_PERCENT = 0.1
"""Connections count as failing from this share on [percent]; a single one in a thousand may be a stray."""


@dataclass(frozen=True, eq=False)
class Spike:
    """A spike test: connections made at a rate, for some seconds, more and more of them.

    levels: one row a rate with connect_p50_ms, connect_p99_ms, connect_max_ms, failed_percent and service_threads
    (medians over the trials; nan where not measured). model: time to connect over the rate, or None with too few
    rates or where no connection came about. knee: rate beyond which it takes off, with low and high; None without one.
    failing: lowest rate at which connections fail; None where none did. died: lowest rate at which the server died.
    """

    levels: pd.DataFrame
    model: PhaseModel | None
    knee: float | None
    low: float
    high: float
    failing: float | None
    died: float | None


RESPONSE = "connect_p99_ms"
"""The time to connect that the knee is sought in."""

SPIKE_COLUMNS = ("connect_p50_ms", "connect_p90_ms", "connect_p99_ms", "connect_max_ms", "service_threads")


def spike(trials: pd.DataFrame, rate: str = "connection_rate") -> Spike:
    """The spike test of a table of trials.

    Raises PhaseError if rate or RESPONSE is no column.
    """
    for column in (rate, RESPONSE):
        if column not in trials:
            raise PhaseError(f"The trials have no column {column!r}; a spike test needs it.")
    levels = _spike_levels(trials, rate)
    model = _fitted(trials, rate)
    knee, low, high = None, float("nan"), float("nan")
    if model is not None and model.phases.iloc[-1]["label"] == "reversal":
        last = model.phases.iloc[-1]
        knee, low, high = (float(last[name]) for name in ("start", "start_low", "start_high"))
    bad = (levels["failed_percent"] >= FAILING_PERCENT, levels["died"] > 0)
    failing, died = (float(levels.loc[at, rate].min()) if at.any() else None for at in bad)
    return Spike(levels, model, knee, low, high, failing, died)


def _spike_levels(trials: pd.DataFrame, rate: str) -> pd.DataFrame:
    known = [name for name in SPIKE_COLUMNS if name in trials]
    levels = trials.groupby(rate, sort=True)[known].median()
    failed = trials.get("connect_failed_percent", default=np.nan)
    died = trials.get("server_died", default=0.0)
    more = trials.assign(failed_percent=failed, died=died).groupby(rate, sort=True)
    found = more.agg(failed_percent=("failed_percent", "mean"), died=("died", "max"), n=(rate, "size"))
    return levels.join(found).reset_index()


def _fitted(trials: pd.DataFrame, rate: str) -> PhaseModel | None:
    try:
        return fit_phases(trials[trials[RESPONSE] > 0], rate, RESPONSE)
    except PhaseError:
        return None


@dataclass(frozen=True)
class Held:
    """How one trial of held connections ended.

    connections: the last good count. outcome: "oom_killed", "died", "refused" or "not_reached" (as many as were asked
    for were held). memory_bytes: the most the service used; nan where not measured.
    """

    trial: int
    connections: float
    outcome: str
    memory_bytes: float
    threads: float

    @property
    def memory_a_connection(self) -> float:
        """Bytes a connection, all memory counted [bytes]; nan where not measured."""
        return self.memory_bytes / self.connections if self.connections else float("nan")


SERVICE = ("service_memory_peak_bytes", "service_threads")


def held_connections(trials: pd.DataFrame) -> list[Held]:
    """How each trial of held connections ended, in the order of the table.

    trials: with `connections_held`; `service_oom_kills`, `server_died`, `connect_errors`, `connections_lost`,
    `service_memory_peak_bytes`, `service_threads` and `status` are read where present.

    Raises PhaseError without the column.
    """
    if "connections_held" not in trials:
        raise PhaseError(
            "The trials have no column 'connections_held'; this needs a ramp of held connections."
        )
    found = []
    for position, row in enumerate(trials.to_dict("records")):
        held, trial = _value(row, "connections_held", 0.0), int(row.get("trial", position))
        memory, threads = (_value(row, name, float("nan")) for name in SERVICE)
        found.append(Held(trial, held, _outcome(row), memory, threads))
    return found


def _outcome(row: dict[Any, Any]) -> str:
    """How a ramp ended, the surest sign first: the kernel's count of kills, the server's end, refusals."""
    if _value(row, "service_oom_kills", 0.0) > 0 or row.get("status") == "oom_killed":
        return "oom_killed"
    if _value(row, "server_died", 0.0) > 0:
        return "died"
    if _value(row, "connect_errors", 0.0) > 0 or _value(row, "connections_lost", 0.0) > 0:
        return "refused"
    return "not_reached"


def _value(row: dict[Any, Any], column: str, default: float) -> float:
    value = row.get(column)
    return default if value is None or pd.isna(value) else float(value)
