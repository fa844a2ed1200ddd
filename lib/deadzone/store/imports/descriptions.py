"""The formats that a table describes, each written down from recorded output of the version it names."""

import re
from collections.abc import Sequence

from deadzone.store.imports.described import Column, Description
from deadzone.store.imports.latency import CLOSED_LOOP
from deadzone.store.imports.result import Row

NUMBER = r"([\d.,]+)"

TIME = r"([\d.]+)([A-Za-z]+)"


def _wrk_doubts(rows: Sequence[Row], text: str) -> list[str]:
    """wrk2, which prints HdrHistogram, sends at a rate and counts from when a request was due."""
    doubts = []
    if any("latency_p50_ms" not in row for row in rows):
        doubts.append(
            "wrk tells no percentiles unless asked with --latency; only mean and maximum are there."
        )
    return doubts if "HdrHistogram" in text else [*doubts, CLOSED_LOOP.format(tool="wrk")]


WRK = Description(
    "wrk", "4.1.0", "text", r"^Running \S+ test @ \S+",
    (
        Column("url", r"^Running \S+ test @ (\S+)", label=True),
        Column("client_threads", r"^\s*(\d+) threads and", label=True),
        Column("client_connections", r"threads and (\d+) connections", label=True),
        Column("wall_s", rf"\d requests in {TIME},"),
        Column("requests", r"^\s*(\d+) requests in"),
        Column("achieved_rate", r"^Requests/sec:\s*([\d.]+)"),
        Column("latency_mean_ms", rf"^\s*Latency\s+{TIME}"),
        *(
            Column(f"latency_p{percent.replace('.', '_')}_ms", rf"^\s*{re.escape(percent)}\.?0*%\s+{TIME}\s*$")
            for percent in ("50", "75", "90", "99", "99.9")
        ),
        Column("latency_max_ms", rf"^\s*Latency\s+\S+\s+\S+\s+{TIME}"),
        Column(
            "errors",
            r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)|Non-2xx or 3xx responses: (\d+)",
            total=True,
        ),
        Column("transferred_bytes", rf"requests in \S+, {TIME} read"),
        Column("throughput_bytes_s", rf"^Transfer/sec:\s*{TIME}"),
    ),
    ("requests", "achieved_rate"),
    ("wrk prints two to three digits, so every figure but the number of requests is rounded.",),
    sizes={"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "PB": 2**50},
    doubts=_wrk_doubts,
)  # fmt: skip

PGBENCH = Description(
    "pgbench", "15.18", "text", r"^pgbench \(|^transaction type:",
    (
        Column("client_connections", r"^number of clients: (\d+)", label=True),
        Column("client_threads", r"^number of threads: (\d+)", label=True),
        Column("wall_s", rf"^duration: {NUMBER} (s)"),
        Column("requests", r"^number of transactions actually processed: (\d+)"),
        Column("errors", r"^number of failed transactions: (\d+)"),
        Column("latency_mean_ms", rf"^latency average = {NUMBER} (ms)"),
        Column("latency_stddev_ms", rf"^latency stddev = {NUMBER} (ms)"),
        Column("achieved_rate", rf"^tps = {NUMBER}"),
    ),
    ("achieved_rate",),
    (
        "pgbench tells a mean and no percentiles; -l logs every transaction.",
        "Without --rate, " + CLOSED_LOOP.format(tool="pgbench"),
    ),
)  # fmt: skip

SYSBENCH = Description(
    "sysbench", "1.0.20", "text", r"^sysbench [\d.]+",
    (
        Column("client_threads", r"^Number of threads: (\d+)", label=True),
        Column("wall_s", rf"^\s*total time:\s+{NUMBER}(s)"),
        Column("requests", r"^\s*total number of events:\s+(\d+)"),
        Column("achieved_rate", rf"^\s*(?:events per second:|transactions:\s+\d+\s+\(|Total operations: \d+ \()\s*{NUMBER}"),
        Column("latency_min_ms", rf"^\s*min:\s+{NUMBER}"),
        Column("latency_mean_ms", rf"^\s*avg:\s+{NUMBER}"),
        Column("latency_p95_ms", rf"^\s*95th percentile:\s+{NUMBER}"),
        Column("latency_max_ms", rf"^\s*max:\s+{NUMBER}"),
        Column("errors", r"^\s*ignored errors:\s+(\d+)"),
        Column("throughput_bytes_s", rf"transferred \({NUMBER} (MiB)/sec\)"),
    ),
    ("wall_s", "requests"),
    (
        "sysbench rounds latencies to 0.01 ms: those of fast operations are 0.",
        CLOSED_LOOP.format(tool="sysbench"),
    ),
)  # fmt: skip

_REDIS_TRAPS = (
    "redis-benchmark's clients and the server share this machine's cores, unless told otherwise (-h).",
    CLOSED_LOOP.format(tool="redis-benchmark"),
)
_REDIS_SUMMARY = ("mean", "min", "p50", "p95", "p99", "max")

REDIS_TEXT = Description(
    "redis-benchmark", "7.0.15", "text", r"====== .+ ======",
    (
        Column("test", r"====== (.+) ======", label=True),
        Column("client_connections", r"^\s*(\d+) parallel clients", label=True),
        Column("requests", r"^\s*(\d+) requests completed in"),
        Column("wall_s", rf"requests completed in {NUMBER} (seconds)"),
        Column("achieved_rate", rf"throughput summary: {NUMBER} requests"),
        *(
            Column(f"latency_{name}_ms", rf"avg\s+min\s+p50\s+p95\s+p99\s+max\s*\n\s*(?:[\d.]+\s+){{{i}}}([\d.]+)")
            for i, name in enumerate(_REDIS_SUMMARY)
        ),
    ),
    ("achieved_rate",), _REDIS_TRAPS,
)  # fmt: skip

REDIS_CSV = Description(
    "redis-benchmark", "7.0.15", "csv", "",
    (
        Column("test", "test", label=True),
        Column("achieved_rate", "rps"),
        Column("latency_mean_ms", "avg_latency_ms"),
        *(Column(f"latency_{name}_ms", f"{name}_latency_ms") for name in _REDIS_SUMMARY[1:]),
    ),
    ("achieved_rate",), _REDIS_TRAPS,
)  # fmt: skip

GO_BENCH = Description(
    "go-bench", "go 1.26", "text", r"^Benchmark\S+\s+\d",
    (
        Column("benchmark", r"^Benchmark(\S+?)(?:-\d+)?\s", label=True),
        Column("gomaxprocs", r"^Benchmark\S+-(\d+)\s", label=True),
        Column("calls", r"^Benchmark\S+\s+(\d+)\s"),
        Column("time_per_call_s", rf"\s{NUMBER} (ns)/op"),
        Column("throughput_bytes_s", rf"\s{NUMBER} (MB)/s"),
        Column("allocated_bytes", rf"\s{NUMBER} (B)/op"),
        Column("allocations", rf"\s{NUMBER} allocs/op"),
    ),
    ("time_per_call_s",),
    ("Go tells the mean of as many calls as fitted; -count repeats it, and only repeats show the scatter.",),
)  # fmt: skip

PYTEST_BENCHMARK = Description(
    "pytest-benchmark", "5", "json", "benchmarks",
    (
        Column("benchmark", "fullname", label=True),
        Column("calls", "stats.rounds"),
        Column("time_per_call_s", "stats.mean"),
        Column("time_per_call_median_s", "stats.median"),
        Column("time_per_call_min_s", "stats.min"),
        Column("time_per_call_max_s", "stats.max"),
        Column("time_per_call_stddev_s", "stats.stddev"),
    ),
    ("time_per_call_s",),
    ("A mean of pytest-benchmark follows its slowest rounds; the median stands beside it.",),
    levels="params",
)  # fmt: skip

PYPERF = Description(
    "pyperf", "2", "json", "benchmarks[].{name: metadata.name, values: runs[].values[]}",
    (
        Column("benchmark", "name", label=True),
        Column("calls", "length(values)"),
        Column("time_per_call_s", "avg(values)"),
        Column("time_per_call_min_s", "min(values)"),
        Column("time_per_call_max_s", "max(values)"),
    ),
    ("time_per_call_s",),
    ("The row is the mean of all values of all worker processes, warm-up left out as pyperf does.",),
)  # fmt: skip

GOOGLE_BENCHMARK = Description(
    "google-benchmark", "1.7.1", "json", "benchmarks[?run_type=='iteration']",
    (
        Column("benchmark", "run_name", label=True),
        Column("threads", "threads", label=True),
        Column("calls", "iterations"),
        Column("time_per_call_s", "real_time", unit="=time_unit"),
        Column("cpu_per_call_s", "cpu_time", unit="=time_unit"),
        Column("throughput_bytes_s", "bytes_per_second"),
        Column("achieved_rate", "items_per_second"),
    ),
    ("time_per_call_s",),
    ("Aggregates (mean, median, stddev) are left out: the rows are the repetitions themselves.",),
)  # fmt: skip

CRITERION = Description(
    "criterion", "0.5", "text", r"^\S.*\btime:\s+\[|^\S.*\n\s+time:\s+\[",
    (
        Column("benchmark", r"^(\S.*?)\s+time:\s+\[", label=True),
        Column("time_per_call_s", r"time:\s+\[\S+ \S+ (\S+) (\S+) "),
        Column("time_per_call_low_s", r"time:\s+\[(\S+) (\S+) "),
        Column("time_per_call_high_s", r"time:\s+\[\S+ \S+ \S+ \S+ (\S+) (\S+)\]"),
    ),
    ("time_per_call_s",),
    ("criterion prints five digits and the interval of an estimate; single samples are in target/criterion.",),
)  # fmt: skip

JMH = Description(
    "jmh", "1.37", "json", "",
    (
        Column("benchmark", "benchmark", label=True),
        Column("mode", "mode", label=True),
        Column("threads", "threads", label=True),
        Column("time_per_call_s", "mode != 'thrpt' && primaryMetric.score", unit="=primaryMetric.scoreUnit"),
        Column("achieved_rate", "mode == 'thrpt' && primaryMetric.score", unit="=primaryMetric.scoreUnit"),
    ),
    ("benchmark", "mode"),
    ("JMH's score is a mean over forks and iterations; its error is that of a 99.9 % interval.",),
    levels="params",
)  # fmt: skip

VEGETA = Description(
    "vegeta", "12.12.0", "json", "",
    (
        Column("wall_s", "duration", unit="ns"),
        Column("requests", "requests"),
        Column("achieved_rate", "throughput"),
        Column("sent_rate", "rate"),
        *(
            Column(f"latency_{ours}_ms", f'latencies."{theirs}"', unit="ns")
            for ours, theirs in {
                "mean": "mean", "min": "min", "p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th", "max": "max"
            }.items()
        ),
        Column("success_share", "success"),
        Column("transferred_bytes", "bytes_in.total"),
    ),
    ("achieved_rate", "latency_mean_ms"),
    ("vegeta keeps its rate while a server stalls; where sent_rate is below the rate asked for, it could not.",),
)  # fmt: skip

_EVENTS = ("context-switches", "cpu-migrations", "page-faults", "cycles", "instructions", "branches", "branch-misses",
           "cache-references", "cache-misses")  # fmt: skip

PERF_STAT = Description(
    "perf-stat", "6.1", "text", r"\A",
    (
        Column("task_clock_s", r'"counter-value" : "([\d.]+)", "unit" : "(msec)", "event" : "task-clock'),
        *(
            Column(event.replace("-", "_"), rf'"counter-value" : "([\d.]+)", "unit" : "", "event" : "{event}(?::\w+)?"')
            for event in _EVENTS
        ),
    ),
    ("task_clock_s",),
    ("Counters that perf says are not supported or not counted are left out; with many events each is counted part of the "
     "time and scaled up (pcnt-running).",),
)  # fmt: skip

GNU_TIME = Description(
    "gnu-time", "1.9", "text", r"^\s*Command being timed:",
    (
        Column("wall_s", r"Elapsed \(wall clock\) time .*: ([\d:.]+)"),
        Column("user_s", rf"User time \(seconds\): {NUMBER}"),
        Column("sys_s", rf"System time \(seconds\): {NUMBER}"),
        Column("max_rss_bytes", rf"Maximum resident set size \((?=kbytes)(?:kbytes)\): {NUMBER}", unit="kbytes"),
        Column("page_faults", r"Major .* page faults: (\d+)"),
        Column("exit_code", r"Exit status: (\d+)"),
    ),
    ("wall_s", "user_s"),
    ("GNU time rounds times to 0.01 s.",),
)  # fmt: skip

ALL = (
    WRK, PGBENCH, SYSBENCH, REDIS_TEXT, GO_BENCH, PYTEST_BENCHMARK, PYPERF, GOOGLE_BENCHMARK, CRITERION, JMH, VEGETA, PERF_STAT,
    GNU_TIME,
)  # fmt: skip
"""One for each tool; REDIS_CSV is its second form."""
