"""sysbench: the text that it prints, one row a run."""

from deadzone.store.imports.result import CLOSED_LOOP
from deadzone.store.imports.text_format import TextFormat

read_sysbench = TextFormat(
    tool="sysbench",
    version="1.0.20",
    write="sysbench ... run > FILE",
    begins=(
        r"^sysbench [\d.]+",
        r"^Running the test with",
        r"^(?:OLTP test|SQL) statistics:|^CPU speed:|^File operations:|^Total operations:",
        r"^(?:General statistics|Test execution summary):",
    ),
    needs=("wall_s", "requests"),
    labels={"client_threads": r"^Number of threads: (\d+)"},
    figures={
        "wall_s": r"^\s*(?:total time|time elapsed):\s+([\d.,]+)(s)",
        "requests": r"^\s*total number of events:\s+(\d+)",
        "achieved_rate": r"^\s*(?:events per second:|events/s \(eps\):|transactions:\s+\d+\s+\(|"
        r"Total operations: \d+ \()\s*([\d.,]+)",
        "latency_min_ms": r"^\s*min:\s+([\d.,]+)",
        "latency_mean_ms": r"^\s*avg:\s+([\d.,]+)",
        "latency_p{}_ms": r"^\s*(?:approx\.\s+)?(\d\d?(?:\.\d+)?)(?:st|nd|rd|th)? percentile:"
        r"\s+([\d.,]+)",
        "latency_p99_9_ms": r"^\s*999th percentile:\s+([\d.,]+)",
        "latency_max_ms": r"^\s*max:\s+([\d.,]+)",
        "errors": r"^\s*ignored errors:\s+(\d+)",
        "throughput_bytes_s": r"transferred \(([\d.,]+) (MiB)/sec\)",
    },
    traps=(
        "sysbench rounds latencies to 0.01 ms: those of fast operations are 0.",
        CLOSED_LOOP.format(tool="sysbench"),
    ),
)
