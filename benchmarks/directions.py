"""Score which way is taken for better where nobody says it: `deadzone fit` without --goal.

    python benchmarks/directions.py

Over the published sweeps, over the same with the response renamed to `value`, and over keys of
tools' results that nobody looked at while the rule was written. Writes
docs/benchmarks/directions.md; ends with 1 where fewer than 95 % of the sweeps are told or more than
1 % of those told are wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import published_curves

from deadzone.study.direction import direction_of

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "directions.md"

LESS = """
    retransmits|jitter_ms|lost_percent|mean_ttft_ms|p99_itl_ms|avg_ns|real_time|cpu_time|
    AverageLatency(us)|RunTime(ms)|meanResponseTime|http_req_duration|http_req_failed|Failures/s|
    Median Response Time|Time per request|avg latency|context-switches|branch-misses|
    train_runtime|clat_ns|majf|mean|Allocated|eval_duration
"""
MORE = """
    bits_per_second|request_throughput|request_goodput|avg_ts|items_per_second|
    Throughput(ops/sec)|meanNumberOfRequestsPerSecond|http_reqs|Transfer rate|records/sec|
    insn per cycle|train_samples_per_second|bw|Gflops|Op/s
"""
"""Keys of results of iperf3, vLLM, llama-bench, Google Benchmark, YCSB, Gatling, k6, Locust, ab,
Kafka, perf, Transformers, fio, hyperfine, BenchmarkDotNet, Ollama and HPL."""


def scored(names: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Of names with their goals those that tell no way, and those that tell the wrong one."""
    told = [(name, goal, direction_of(name)) for name, goal in names]
    silent = [name for name, _, said in told if said.goal_from == "assumed"]
    wrong = [n for n, goal, said in told if said.goal != goal and said.goal_from != "assumed"]
    return silent, wrong


def main() -> int:
    """Score, print and write the page."""
    published = [(case.row["response"], case.row["goal"]) for case in published_curves.cases()]
    keys = [(name.strip(), goal) for names, goal in ((LESS, "min"), (MORE, "max"))
            for name in names.split("|")]  # fmt: skip
    lines = [
        "# Which way is better", "",
        "Without `--goal` the name of the response tells it. A name that tells nothing is said to "
        "be assumed, and less is taken for better. Made by `benchmarks/directions.py`.", "",
        "The keys of tools were written down after the rule was: 35 of 40 were told then, and one "
        "of them wrong, `meanNumberOfRequestsPerSecond`, for which the rule was mended.", "",
        "| names | number | told | wrong | not told | told wrong |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    renamed = [("value", goal) for _, goal in published]
    rows = {"published sweeps": published, "the same as `value`": renamed, "keys of tools": keys}
    for what, names in rows.items():
        silent, wrong = scored(names)
        shown = [", ".join(f"`{name}`" for name in dict.fromkeys(some)) for some in (silent, wrong)]
        lines.append(
            f"| {what} | {len(names)} | {len(names) - len(silent)} | {len(wrong)} | "
            f"{' | '.join(shown)} |"
        )
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[6:]))
    silent, wrong = scored(published)
    told = len(published) - len(silent)
    is_told, is_right = told >= 0.95 * len(published), len(wrong) <= 0.01 * told
    return 0 if is_told and is_right and len(scored(renamed)[0]) == len(renamed) else 1


if __name__ == "__main__":
    sys.exit(main())
