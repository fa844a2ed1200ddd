"""What a load recorded, as the columns of a trial and as histograms of a second each.

During the load only numbers are put away; they are counted when it is over, so that counting makes
no send late. Requests that got no answer stay in the latencies with the time they had waited: left
out, they would flatter a server that stalls.
"""

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from deadzone.measurement import HistogramSlice
from deadzone.store.histograms import encoded
from deadzone_load.generator.connection import FAILURES, Failure

SLICE_S = 1.0
"""Length of a slice: fine enough to see a warm-up, coarse enough for percentiles at 100 requests/s
[s]."""

LATE_S = 0.005
"""A send this long after its moment is called late [s]."""

MOST_LAG_S = 0.005
"""Above this at the 99th percentile the generator's own lateness would be read as the server's
[s]."""

MOST_CPU = 0.95
"""A single thread that uses so much of a core has no time left to be on time [cores]."""

PERCENTILES = {"p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9}

STATISTICS = {
    "latency": ("mean", "min", *PERCENTILES, "max"),
    "broadcast": ("mean", "p50", "p90", "p99", "p99_9", "max"),
    "connect": ("mean", "p50", "p90", "p99", "max"),
    "lag": ("p50", "p99", "max"),
}
"""What is told of each kind of duration, in columns such as latency_p99_ms."""

CONNECTIONS = ("connections", "connections_peak", "connections_held", "connections_lost")

RESPONSES = (
    *("offered_rate", "achieved_rate", "requests"),
    *(f"latency_{name}_ms" for name in STATISTICS["latency"]),
    "errors",
    *(f"errors_{kind}" for kind in FAILURES),
    *("unfinished", "dropped", "late"),
    *CONNECTIONS,
    *("connect_errors", "connect_failed_percent"),
    *(f"connect_{name}_ms" for name in STATISTICS["connect"]),
    *("broadcasts", "broadcasts_missing", "broadcast_rate"),
    *(f"broadcast_{name}_ms" for name in STATISTICS["broadcast"]),
    *(f"lag_{name}_ms" for name in STATISTICS["lag"]),
    *("client_cpu_s", "client_cpu", "transferred_bytes", "sent_bytes", "server_died"),
)
"""Every column that a load can have."""


class Timed:
    """Durations by the moment they belong to; both in seconds, moments from the start of the
    measured window."""

    def __init__(self) -> None:
        self._moments = array("d")
        self._durations = array("d")

    def add(self, moment_s: float, duration_s: float) -> None:
        """Put a duration away."""
        self._moments.append(moment_s)
        self._durations.append(duration_s)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Moments and durations, both of shape (n,)."""
        return np.array(self._moments), np.array(self._durations)

    def in_window(self) -> np.ndarray:
        """Durations whose moment is in the measured window, not in the warm-up; shape (k,)."""
        moments, durations = self.arrays()
        return durations[moments >= 0]

    def slices(self, metric: str, end_s: float) -> list[HistogramSlice]:
        """One histogram a second that holds anything; those of moments after end_s belong to the
        last one."""
        moments, durations = self.arrays()
        if not len(moments):
            return []
        last = max(math.ceil(end_s / SLICE_S) - 1, 0)
        numbers = np.minimum(np.floor(moments / SLICE_S + 1e-9).astype(int), last)
        histograms = []
        for number in np.unique(numbers):
            inside = durations[numbers == number]
            length = min(SLICE_S, end_s - number * SLICE_S) if number >= 0 else SLICE_S
            histograms.append(
                HistogramSlice(
                    metric, float(number * SLICE_S), length, len(inside), encoded(inside * 1e6)
                )
            )
        return histograms


@dataclass
class Recorder:
    """All that is put away while a load runs. Counters are of the measured window only."""

    latency: Timed = field(default_factory=Timed)
    broadcast: Timed = field(default_factory=Timed)
    connect: Timed = field(default_factory=Timed)
    lag: Timed = field(default_factory=Timed)
    errors: Counter[Failure] = field(default_factory=Counter)
    connect_errors: Counter[Failure] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    due: int = 0
    answered: int = 0
    unfinished: int = 0
    dropped: int = 0
    late: int = 0
    last_answer_s: float = 0.0
    broadcasts: int = 0
    broadcasts_missing: int = 0
    last_broadcast_s: float = 0.0
    connections: int = 0
    connections_now: int = 0
    connections_peak: int = 0
    connections_held: int = 0
    connections_lost: int = 0
    attempted: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    server_died: bool = False

    def answer(self, moment_s: float, now_s: float) -> None:
        """A request of a moment was answered now."""
        self.latency.add(moment_s, now_s - moment_s)
        if moment_s >= 0:
            self.answered += 1
            self.last_answer_s = max(self.last_answer_s, now_s)

    def failure(self, moment_s: float, kind: Failure) -> None:
        """A request failed at once: it says nothing of how long an answer takes."""
        if moment_s >= 0:
            self.errors[kind] += 1

    def no_answer(self, moment_s: float, now_s: float, was_sent: bool) -> None:
        """A request had no answer yet when it was given up: its latency is longer than this."""
        self.latency.add(moment_s, now_s - moment_s)
        if moment_s < 0:
            return
        if was_sent:
            self.unfinished += 1
            self.errors["timeout"] += 1
        else:
            self.dropped += 1

    def opened(self, moment_s: float, took_s: float) -> None:
        """A connection became ready."""
        self.connect.add(moment_s, took_s)
        self.connections += 1
        self.connections_now += 1
        self.connections_peak = max(self.connections_peak, self.connections_now)

    def lost(self) -> None:
        """A ready connection was closed by the server."""
        self.connections_now -= 1
        self.connections_lost += 1


def columns(recorded: Recorder, window_s: float, cpu_s: float) -> dict[str, float]:
    """The responses of a trial, without those that do not apply. window_s: length of the measured
    window."""
    values: dict[str, float] = {}
    if recorded.due:
        values |= {
            "offered_rate": recorded.due / window_s,
            "achieved_rate": recorded.answered / max(window_s, recorded.last_answer_s),
            "requests": recorded.answered,
            **_statistics("latency", recorded.latency.in_window()),
            "errors": sum(recorded.errors.values()) + recorded.dropped,
            **{f"errors_{kind}": recorded.errors[kind] for kind in FAILURES},
            **{name: getattr(recorded, name) for name in ("unfinished", "dropped", "late")},
        }
    if recorded.attempted:
        connect_errors = sum(recorded.connect_errors.values())
        values |= {
            **{name: getattr(recorded, name) for name in CONNECTIONS},
            "connect_errors": connect_errors,
            "connect_failed_percent": 100 * connect_errors / recorded.attempted,
            **_statistics("connect", recorded.connect.arrays()[1]),
        }
    if recorded.broadcasts or recorded.broadcasts_missing:
        values |= {
            "broadcasts": recorded.broadcasts,
            "broadcasts_missing": recorded.broadcasts_missing,
            "broadcast_rate": recorded.broadcasts / max(window_s, recorded.last_broadcast_s),
            **_statistics("broadcast", recorded.broadcast.in_window()),
        }
    values |= {
        **_statistics("lag", recorded.lag.in_window()),
        "client_cpu_s": cpu_s,
        "client_cpu": cpu_s / window_s,
        "transferred_bytes": recorded.received_bytes,
        "sent_bytes": recorded.sent_bytes,
    }
    return {name: float(value) for name, value in values.items()}


def slices(recorded: Recorder, end_s: float) -> list[HistogramSlice]:
    """Every histogram of the trial."""
    return [
        part for name in STATISTICS for part in getattr(recorded, name).slices(f"{name}_us", end_s)
    ]


def saturation(responses: dict[str, float], lag_matters: bool = True) -> str | None:
    """Why the generator's figures are not to be believed, or None."""
    lag, cpu = responses.get("lag_p99_ms", 0.0), responses["client_cpu"]
    if (lag <= MOST_LAG_S * 1e3 or not lag_matters) and cpu < MOST_CPU:
        return None
    late = (
        f"turned to requests {lag:.1f} ms late at the 99th percentile (at most "
        f"{MOST_LAG_S * 1e3:g} ms is allowed)"
    )
    remedy = (
        "lower the rate"
        if cpu >= MOST_CPU / 2
        else "others kept it from its core: leave it one, lower the rate, or limit the server's CPU"
    )
    return f"generator saturated: it used {cpu:.2f} cores and {late}; {remedy}"


def _statistics(kind: str, seconds: np.ndarray) -> dict[str, float]:
    """Columns of a kind of duration [ms]; a percentile is the smallest value that so many per cent
    do not pass."""
    if not len(seconds):
        return {}
    percentiles = np.percentile(seconds, list(PERCENTILES.values()), method="inverted_cdf")
    facts = {"mean": seconds.mean(), "min": seconds.min(), "max": seconds.max()}
    facts |= dict(zip(PERCENTILES, percentiles, strict=True))
    return {f"{kind}_{name}_ms": float(facts[name] * 1e3) for name in STATISTICS[kind]}
