"""What a trial of the disk workload is summed up in: the columns of the table, and the series
beside it."""

import numpy as np

from deadzone.plugins import Sample, TableError
from deadzone.steady_state.warmup import FEWEST_VALUES, Warmup, detect_warmup
from deadzone_disk.engine import DiskTrial, EngineAccount

PERCENTILES = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99_9"}

RESPONSES = {
    "throughput_bytes_s": (
        "bytes/s",
        "bytes moved each second, from the first call to the last; after a warm-up where one was "
        "seen",
    ),
    "iops": ("1/s", "read and write calls each second, as the throughput"),
    "latency_mean_ms": ("ms", "mean time of a read or write call"),
    "latency_p50_ms": ("ms", "50th percentile of the time of a call"),
    "latency_p90_ms": ("ms", "90th percentile of the time of a call"),
    "latency_p95_ms": ("ms", "95th percentile of the time of a call"),
    "latency_p99_ms": ("ms", "99th percentile of the time of a call"),
    "latency_p99_9_ms": ("ms", "99.9th percentile of the time of a call"),
    "latency_max_ms": ("ms", "longest time of a call"),
    "flush_mean_ms": (
        "ms",
        "mean time of a flush to the device (fdatasync); missing without flushes",
    ),
    "flush_p99_ms": ("ms", "99th percentile of the time of a flush; missing without flushes"),
    "bytes_read": ("bytes", "bytes read"),
    "bytes_written": ("bytes", "bytes written"),
    "calls": ("count", "read and write calls"),
    "measured_s": ("s", "time from the first call to the last, without the start of the engine"),
    "passes": ("count", "how often the trial went over its files"),
    "warmup_s": (
        "s",
        "time until the throughput was steady, 0 without a warm-up; missing where the trial is too "
        "short to tell",
    ),
    "steady": (
        "0 to 1",
        "probability that a steady throughput was reached; missing where the trial is too short to "
        "tell",
    ),
    "direct_io": ("0 or 1", "whether the page cache was bypassed"),
    "cached_share": (
        "share",
        "share of the files that the page cache still held when the trial began",
    ),
}
"""Responses with unit and meaning; the codebook says the same."""


def responses_of(trial: DiskTrial, account: EngineAccount) -> dict[str, float]:
    """The columns of one trial; what the engine does not tell is left out."""
    moved = account.read_bytes + account.written_bytes
    warmup = warmup_of(account)
    rate = moved / account.elapsed_s
    if warmup and warmup.is_present and warmup.is_steady and warmup.matters:
        moments, rates = np.array(account.series)[:-1].T
        kept = rates[warmup.in_steady_state(moments)]
        rate = float(sum(kept) / len(kept))
    values: dict[str, float | None] = {
        "throughput_bytes_s": rate,
        "iops": rate / trial.settings.block_size,
        "latency_mean_ms": account.calls.mean_ms,
        **{
            f"latency_{name}_ms": account.calls.percentiles.get(p)
            for p, name in PERCENTILES.items()
        },
        "latency_max_ms": account.calls.max_ms,
        "flush_mean_ms": account.flushes.mean_ms,
        "flush_p99_ms": account.flushes.percentiles.get(99.0),
        "bytes_read": account.read_bytes,
        "bytes_written": account.written_bytes,
        "calls": account.calls.number,
        "measured_s": account.elapsed_s,
        "passes": moved / (trial.file_size * len(trial.files)),
        "warmup_s": None if warmup is None else warmup.length_s if warmup.is_present else 0.0,
        "steady": None if warmup is None else warmup.reached,
        "direct_io": float(trial.settings.direct),
    }
    return {name: float(value) for name, value in values.items() if value is not None}


def warmup_of(account: EngineAccount) -> Warmup | None:
    """When the throughput became steady; None where the series is too short to tell. The last step
    is left out: a trial seldom ends on one."""
    whole = list(account.series)[:-1]
    if len(whole) < FEWEST_VALUES:
        return None
    try:
        return detect_warmup([moment for moment, _ in whole], [rate for _, rate in whole])
    except TableError:
        return None


def samples_of(account: EngineAccount, end_s: float) -> tuple[Sample, ...]:
    """The throughput over time, and every percentile the engine told, for the run's time series.

    end_s: end of the trial [s], at which the percentiles stand.
    """
    rates = [Sample(moment, "throughput_bytes_s", rate) for moment, rate in account.series]
    parts = [
        Sample(end_s, f"{kind}_p{percent:g}_ms".replace(".", "_"), value)
        for kind, latency in (("latency", account.calls), ("flush", account.flushes))
        for percent, value in sorted(latency.percentiles.items())
    ]
    return (*rates, *parts)
