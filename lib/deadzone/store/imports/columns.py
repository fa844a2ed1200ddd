"""The columns of imported tables in their order; data/imported.md has their units and meanings."""

import re

FIRST = (
    "source",
    "tool",
    "started_at",
    "replicate",
)
"""Columns that say where a row comes from."""

LATENCIES = ("mean", "stddev", "min", "p50", "p75", "p90", "p95", "p99", "p99_9", "max")
"""Statistics of response times; from `min` on, none is longer than the next."""

MEASURED = (
    "wall_s",
    "wall_min_s",
    "wall_max_s",
    "wall_stddev_s",
    "user_s",
    "sys_s",
    "max_rss_bytes",
    "exit_code",
    "status",
    "error",
    "requests",
    "iterations",
    "achieved_rate",
    "sent_rate",
    "success_share",
    *(f"latency_{statistic}_ms" for statistic in LATENCIES),
    "errors",
    "unfinished",
    "dropped",
    "checks_failed",
    "thresholds_crossed",
    "vus_max",
    "transferred_bytes",
    "sent_bytes",
    "throughput_bytes_s",
    "iops",
    "time_per_call_s",
    "time_per_call_median_s",
    "time_per_call_min_s",
    "time_per_call_max_s",
    "time_per_call_stddev_s",
    "time_per_call_low_s",
    "time_per_call_high_s",
    "cpu_per_call_s",
    "calls",
    "allocated_bytes",
    "allocations",
)
"""Columns of what was measured."""

NOTE = "note"
"""Last column: how far the tool's numbers can be believed."""

OURS = {*FIRST, *MEASURED, NOTE}
"""Every column that is no factor and no further measurement of a tool."""


def own_name(name: str) -> str:
    """A tool's own name as that of a column: letters, digits and underscores, and not the name of
    another column."""
    plain = re.sub(r"\W", "_", name.strip()).strip("_").lower() or "unnamed"
    return f"parameter_{plain}" if plain in OURS else plain


def is_count(column: str) -> bool:
    """Whether a column of what was measured is of whole numbers of zero or more."""
    return not column.endswith(("_s", "_ms", "_rate", "_share", "iops"))
