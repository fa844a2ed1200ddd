"""What a reader of another tool's file hands back, and how several of them become one tidy table:
its columns in their order, of which data/imported.md has the units and meanings.

Response times of single requests are summed up here in the columns that load tools report
themselves.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.errors import FormatError

if TYPE_CHECKING:
    import pandas as pd

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

MOST_PLACES = 10
"""Places that a sentence names."""

WIDEST = 2.0**53
"""Beyond, a float no longer holds every whole number; such values stay floats."""


def own_name(name: str) -> str:
    """A tool's own name as that of a column: letters, digits and underscores, and not the name of
    another column."""
    plain = re.sub(r"\W", "_", name.strip()).strip("_").lower() or "unnamed"
    return f"parameter_{plain}" if plain in OURS else plain


@dataclass(frozen=True)
class Results:
    """The trials in a file. warnings: sentences on how far the tool's numbers can be believed.
    remarks: sentences on what was found in the file. incomplete: of runs that were cut off, by
    position among the rows, where they stand. cut_lines: lines of a file of requests that were cut
    off, and are in no row."""

    rows: tuple[Row, ...]
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    incomplete: Mapping[int, str] = field(default_factory=dict)
    cut_lines: tuple[int, ...] = ()

    @classmethod
    def read(
        cls,
        source: str,
        tool: str,
        rows: Iterable[Row],
        warnings: Iterable[str] = (),
        remarks: Iterable[str] = (),
        incomplete: Mapping[int, str] | None = None,
        cut_lines: Sequence[int] = (),
    ) -> "Results":
        """What a file holds, each row with the name of the file and its tool. Figures that cannot
        be are missing, and said; a run that was cut off is failed."""
        cut = incomplete or {}
        kept, doubts = plausible(
            {**row, "status": "failed", "error": f"incomplete, at {cut[i]}"} if i in cut else row
            for i, row in enumerate(rows)
        )
        accounts = []
        if cut:
            accounts.append(f"{len(kept)} runs, {len(cut)} incomplete, at {_listed(cut.values())}.")
        if cut_lines:
            places = _listed(f"line {line}" for line in cut_lines)
            accounts.append(f"{len(cut_lines)} incomplete and left out, at {places}.")
        return cls(
            tuple({"source": source, "tool": tool, **row} for row in kept),
            (*warnings, *doubts),
            (*accounts, *remarks),
            cut,
            tuple(cut_lines),
        )

    @property
    def is_partly_read(self) -> bool:
        """Whether something in the file was cut off."""
        return bool(self.incomplete or self.cut_lines)


def _listed(places: Iterable[str]) -> str:
    """Places in a file, as many as a sentence holds."""
    every = list(places)
    more = f" and {len(every) - MOST_PLACES} more" if len(every) > MOST_PLACES else ""
    return ", ".join(every[:MOST_PLACES]) + more


Reader = Callable[[Path], Results]
"""Reads one result file of a tool. Raises FormatError if it is no such file, or damaged."""


def tidy(results: Sequence[Results], settings: Mapping[str, str]) -> "pd.DataFrame":
    """One table of all trials: where they come from, then one column a factor, then what was
    measured.

    settings: levels that the files do not tell, by column. Columns without any value are left out;
    a factor whose levels are all numbers becomes a column of numbers.

    Raises FormatError if a setting has the name of something measured, or contradicts a file.
    """
    import pandas as pd

    # Warnings stand in each row, so that they stay with the table.
    rows = [
        {**row, NOTE: " ".join(result.warnings) or None}
        for result in results
        for row in result.rows
    ]
    if any(row.get("status") == "failed" for row in rows):
        rows = [{**row, "status": row.get("status") or "ok"} for row in rows]
    for name, level in settings.items():
        _check_setting(name, level, rows)
        rows = [{**row, name: level} for row in rows]
    seen = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    further = [name for name in seen if name not in OURS]
    # Further measurements are numbers already; factors come as the text in which they were set.
    factors = [n for n in further if any(isinstance(row.get(n), str | bool) for row in rows)]
    order = dict.fromkeys((*FIRST, *factors, *MEASURED, *further, NOTE))
    return pd.DataFrame(
        {name: _column([row.get(name) for row in rows]) for name in order if name in seen}
    )


def _check_setting(name: str, level: str, rows: Sequence[Row]) -> None:
    if name in OURS:
        raise FormatError(
            f"{name} is not set but measured or recorded; name a factor, for example "
            "`--set threads=4`."
        )
    told = {str(row[name]) for row in rows if row.get(name) is not None}
    if told - {level}:
        raise FormatError(
            f"--set {name}={level} contradicts the file, which says {', '.join(sorted(told))}."
        )


def _column(values: Sequence[Any]) -> "pd.Series":
    import pandas as pd

    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        return pd.Series(values, dtype="boolean")
    if not all(map(_is_number, known)):
        return pd.Series(
            [None if value is None else str(value) for value in values], dtype="string"
        )
    if all(_is_whole(value) for value in known):
        return pd.Series(
            [None if value is None else int(float(value)) for value in values], dtype="Int64"
        )
    return pd.Series([None if value is None else float(value) for value in values], dtype="float64")


def _is_whole(value: object) -> bool:
    """Whole numbers that were counted, or set as such."""
    return isinstance(value, int | str) and float(value).is_integer() and abs(float(value)) < WIDEST


def _is_number(value: object) -> bool:
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


PERCENTILES = {
    f"latency_p{percent:g}_ms".replace(".", "_"): percent
    for percent in (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
}

CLOSED_LOOP = (
    "{tool} waits for an answer before it sends the next request, so a server that stalls is asked "
    "less often during the stall (coordinated omission): the percentiles flatter it."
)
"""Said of tools whose virtual users send one request after the other (Tene 2013, How NOT to Measure
Latency)."""


def requests_row(milliseconds: np.ndarray, wall_s: float, errors: int) -> dict[str, Any]:
    """The columns of a test of which every request is known: response times, shape (n,), n > 0, in
    ms, of a test of so long.

    Percentiles interpolate linearly between neighbouring requests, as numpy's and k6's do.
    """
    percentiles = map(float, np.percentile(milliseconds, [*PERCENTILES.values()]))
    return {
        "wall_s": wall_s,
        "requests": len(milliseconds),
        "achieved_rate": len(milliseconds) / wall_s if wall_s > 0 else None,
        "latency_mean_ms": float(milliseconds.mean()),
        "latency_min_ms": float(milliseconds.min()),
        **dict(zip(PERCENTILES, percentiles, strict=True)),
        "latency_max_ms": float(milliseconds.max()),
        "errors": errors,
    }


def counted_percentiles(counts: Mapping[float, int]) -> dict[str, float]:
    """Percentiles of rounded response times by how often each occurred: the smallest that so many
    requests kept.

    counts: by response time in ms. Returns nothing where nothing was counted.
    """
    total = sum(counts.values())
    if not total:
        return {}
    times = np.array(sorted(counts))
    reached = np.cumsum([counts[time] for time in times]) / total
    return {
        name: float(times[np.searchsorted(reached, percent / 100 - 1e-12)])
        for name, percent in PERCENTILES.items()
    }


LEVEL = re.compile(r"[/ ,(\[]([A-Za-z_]\w*)[=:]([^/:,\s)\]]+)")


def levels_of(name: str | None, more: Mapping[str, Any] | None = None) -> Row:
    """Levels that stand in the name of a benchmark, and more of them: `Sort/n=100/threads:4` has n
    and threads."""
    levels = {**dict(LEVEL.findall(name or "")), **(more or {})}
    return {own_name(key): str(value) for key, value in levels.items() if value is not None}


def is_complete(row: Row, needs: Sequence[str]) -> bool:
    """Whether a run has what it needs, or the tool itself says that it failed."""
    return row.get("status") == "failed" or all(row.get(name) is not None for name in needs)


def results_of(
    runs: Sequence[tuple[str, Row]],
    path: Path,
    tool: str,
    needs: Sequence[str],
    warnings: Iterable[str],
    *,
    write: str,
) -> Results:
    """The results of the runs in a file, those that were cut off failed. runs: where each stands,
    and its row. needs: columns without which a row is no result. write: how the tool is asked
    for it.

    Raises FormatError where none is complete.
    """
    cut = {i: where for i, (where, row) in enumerate(runs) if not is_complete(row, needs)}
    if len(cut) == len(runs):
        raise FormatError(
            f"{path}: is no complete result of {tool}: it has no {needs[0]}. It was cut off, or is "
            f"another format; write it with `{write}`."
        )
    return Results.read(path.name, tool, (row for _, row in runs), warnings, (), cut)


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
        row = {name: value for name, value in row.items() if not name.startswith("latency_")}
        return {**row, "status": "failed", "error": row.get("error") or NO_EVENT}
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
        said[f"Counted as missing, because the other figures of the run rule it out: {what}."] = (
            None
        )
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
