"""What a trial of the disk workload is summed up in: the columns of the table, and the series
beside it."""

import numpy as np

from deadzone.plugins import Sample, TableError
from deadzone.steady_state.warmup import Warmup, detect_warmup
from deadzone_disk.engine import DiskTrial, EngineAccount

RESPONSES = (
    *("throughput_bytes_s", "iops"),
    *(f"latency_{name}_ms" for name in ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")),
    *("flush_mean_ms", "flush_p99_ms", "bytes_read", "bytes_written", "calls", "measured_s"),
    *("passes", "warmup_s", "steady", "direct_io", "cached_share"),
)
"""Every column that a disk trial can have; the codebook (data/README.md) says what each is."""


def responses_of(trial: DiskTrial, account: EngineAccount) -> dict[str, float]:
    """The columns of one trial; what the engine does not tell is left out."""
    moved = account.read_bytes + account.written_bytes
    warmup = warmup_of(account)
    rate = moved / account.elapsed_s
    if warmup and warmup.is_steady and warmup.matters:
        moments, rates = np.array(account.series)[:-1].T
        kept = rates[warmup.in_steady_state(moments)]
        rate = float(sum(kept) / len(kept))
    values = {
        **account.latencies_ms,
        "throughput_bytes_s": rate,
        "iops": rate / trial.settings.block_size,
        "bytes_read": account.read_bytes,
        "bytes_written": account.written_bytes,
        "calls": account.calls,
        "measured_s": account.elapsed_s,
        "passes": moved / (trial.file_size * len(trial.files)),
        "warmup_s": None if warmup is None else warmup.length_s if warmup.is_present else 0.0,
        "steady": None if warmup is None else warmup.reached,
        "direct_io": float(trial.settings.direct),
    }
    known = {name: value for name, value in values.items() if value is not None}
    return {name: float(known[name]) for name in RESPONSES if name in known}


def warmup_of(account: EngineAccount) -> Warmup | None:
    """When the throughput became steady; None where the series is too short to tell. The last step
    is left out: a trial seldom ends on one."""
    whole = account.series[:-1]
    try:
        return detect_warmup([moment for moment, _ in whole], [rate for _, rate in whole])
    except TableError:
        return None


def samples_of(account: EngineAccount, end_s: float) -> tuple[Sample, ...]:
    """The throughput over time, and every percentile the engine told, for the run's time series.

    end_s: end of the trial [s], at which the percentiles stand.
    """
    rates = [Sample(moment, "throughput_bytes_s", rate) for moment, rate in account.series]
    latencies = account.latencies_ms.items()
    return (*rates, *(Sample(end_s, name, value) for name, value in latencies if "_p" in name))
