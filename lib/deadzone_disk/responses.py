"""What a trial of the disk workload is summed up in: the columns of the table, and the series
beside it."""

import numpy as np

from deadzone.plugins import Sample, TableError
from deadzone.steady_state.warmup import FEWEST_VALUES, Warmup, detect_warmup
from deadzone_disk.engine import DiskTrial, EngineAccount

PERCENTILES = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99_9"}

RESPONSES = (
    *("throughput_bytes_s", "iops"),
    *(f"latency_{name}_ms" for name in ("mean", *PERCENTILES.values(), "max")),
    *("flush_mean_ms", "flush_p99_ms", "bytes_read", "bytes_written", "calls", "measured_s"),
    *("passes", "warmup_s", "steady", "direct_io", "cached_share"),
)
"""Every column that a disk trial can have; the codebook (data/README.md) says what each is."""


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
