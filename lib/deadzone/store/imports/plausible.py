"""What a tool did not measure is missing, whatever it printed in its place.

A test without a request prints zeros, or the largest number that there is (2^64 - 1 ns are
18,446,744,073,709.55 ms), for latencies that were never measured.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from deadzone.store.imports.columns import LATENCIES

Row = dict[str, Any]
"""One trial: values by column; None, or no entry, where the tool does not tell."""

SLACK, SLACK_MS = 1.1, 1.0
"""Rounding, as of Locust to two digits and of JMeter to whole ms, may put two of them in the wrong
order by so much."""

NO_TIME_MS = 2.0**63 / 1e6
"""Beyond 292 years a number of ns is none: it is -1 or the largest number, and says nothing."""

NEEDED = {"p99": 100, "p99_9": 1000}
"""Requests of which at least one is beyond the percentile."""

ZERO = "Latencies of zero were not measured, or too short to be, and are missing."

NO_EVENT = "no request or event: nothing was measured"


def plausible(rows: Iterable[Row]) -> tuple[list[Row], list[str]]:
    """The rows without the figures that cannot be, and a sentence for each kind of them."""
    figures: dict[str, None] = {}
    kept = [_plausible(row, figures) for row in rows]
    return kept, [*figures, *_rests_on_few(kept)]


def _rests_on_few(rows: Sequence[Row]) -> Iterator[str]:
    """Percentiles of fewer requests than they take."""
    for key, needed in NEEDED.items():
        few = [
            requests
            for row in rows
            if row.get(f"latency_{key}_ms") is not None
            and 0 < (requests := row.get("requests") or 0) < needed
        ]
        if few:
            yield (
                f"{key.replace('_', '.')} of {min(few):,} requests rests on none or one of them; "
                f"it takes {needed:,}, and better several times as many."
            )


def _plausible(row: Row, said: dict[str, None]) -> Row:
    if row.get("requests") == 0 and not row.get("iterations"):
        said["A run without a request or event is failed, and its latencies are missing."] = None
        kept = {name: value for name, value in row.items() if not name.startswith("latency_")}
        return {**kept, "status": "failed", "error": row.get("error") or NO_EVENT}
    latencies = [name for name in row if name.startswith("latency_") and row[name] is not None]
    zeros = [name for name in latencies if not row[name] and name != "latency_stddev_ms"]
    if len(latencies) > 1 and zeros:
        said[ZERO] = None
        row = {**row, **dict.fromkeys(zeros)}
    impossible = _out_of_order(row)
    if row.get("requests") and row.get("achieved_rate") == 0:
        impossible.append("achieved_rate")
    if impossible:
        what = ", ".join(f"{name} {row[name]:.10g}" for name in impossible)
        said[f"Impossible beside the other figures of its run, and so missing: {what}."] = None
    return {name: None if name in impossible else value for name, value in row.items()}


def _out_of_order(row: Row) -> list[str]:
    """Latencies that cannot be: too long for a time, or longer than one that is no shorter."""
    named = [f"latency_{key}_ms" for key in ("mean", *LATENCIES[LATENCIES.index("min") :])]
    known = {name: float(row[name]) for name in named if row.get(name) is not None}
    endless = [name for name, value in known.items() if not 0 <= value < NO_TIME_MS]
    sound = [(name, value) for name, value in known.items() if name not in endless]
    wrong = [
        name
        for i, (name, value) in enumerate(sound)
        for later, other in sound[i + 1 :]
        if (name != "latency_mean_ms" or later == "latency_max_ms")
        and value > max(other * SLACK, other + SLACK_MS)
    ]
    return [*endless, *dict.fromkeys(wrong)]
