"""The columns of imported tables, in their order, with unit and meaning; the codebook says the same."""

FIRST: dict[str, tuple[str, str]] = {
    "source": ("none", "file that the row was read from"),
    "tool": ("none", "tool that measured, with its version where the file says it"),
    "started_at": ("UTC", "start of the test, ISO 8601"),
    "replicate": ("none", "which repeat of its treatment the row is"),
}
"""Columns that say where a row comes from."""

MEASURED: dict[str, tuple[str, str]] = {
    "wall_s": (
        "s",
        "elapsed time: of the command (hyperfine: one run; in its CSV the median), or of the test",
    ),
    "wall_min_s": ("s", "shortest run, where single runs are not told"),
    "wall_max_s": ("s", "longest run, where single runs are not told"),
    "wall_stddev_s": ("s", "standard deviation of the runs, where single runs are not told"),
    "user_s": ("s", "CPU time outside the kernel"),
    "sys_s": ("s", "CPU time inside the kernel"),
    "max_rss_bytes": ("bytes", "largest resident memory"),
    "exit_code": ("none", "exit code of the program"),
    "status": ("none", "ok or failed"),
    "error": ("none", "what went wrong; missing when nothing did"),
    "requests": ("count", "requests that got an answer"),
    "iterations": ("count", "iterations of a k6 script that ended"),
    "achieved_rate": ("requests/s", "requests answered each second"),
    "latency_mean_ms": ("ms", "mean response time"),
    "latency_min_ms": ("ms", "shortest response time"),
    "latency_p50_ms": ("ms", "median response time"),
    "latency_p75_ms": ("ms", "75th percentile of the response time"),
    "latency_p90_ms": ("ms", "90th percentile of the response time"),
    "latency_p95_ms": ("ms", "95th percentile of the response time"),
    "latency_p99_ms": ("ms", "99th percentile of the response time"),
    "latency_p99_9_ms": ("ms", "99.9th percentile of the response time"),
    "latency_max_ms": ("ms", "longest response time"),
    "errors": ("count", "requests that failed or were answered with an error status"),
    "unfinished": ("count", "requests cut off by the end of the test"),
    "dropped": ("count", "iterations that were due and were never started"),
    "checks_failed": ("count", "checks of a k6 script that failed"),
    "thresholds_crossed": ("count", "thresholds of a k6 script that were not kept"),
    "vus_max": ("count", "most virtual users at once"),
    "transferred_bytes": ("bytes", "bytes read or written; of a load test, received"),
    "sent_bytes": ("bytes", "bytes sent"),
    "throughput_bytes_s": ("bytes/s", "transferred bytes each second"),
    "iops": ("1/s", "read or write calls each second"),
    "time_per_call_s": ("s", "time of one call of a benchmarked function; the mean, where several are told"),
    "time_per_call_median_s": ("s", "median of the same"),
    "time_per_call_min_s": ("s", "shortest of the same"),
    "time_per_call_max_s": ("s", "longest of the same"),
    "cpu_per_call_s": ("s", "CPU time of one call"),
    "calls": ("count", "calls, rounds or values that a time rests on"),
    "allocated_bytes": ("bytes", "memory allocated by one call"),
    "allocations": ("count", "allocations of one call"),
}
"""Columns of what was measured."""

NOTE = "note"
"""Last column: how far the tool's numbers can be believed."""
