"""fio 3: `--output-format=json`, one row a job and direction (read, write, trim, or mixed)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.plugins import FormatError, Results, Row, figures_of, own_name, reading, text_of
from deadzone.store.imports.document import documents

TOOL = "fio"

COMPLETION = (
    "fio's latencies are completion latencies (clat): the time to submit a call is not in them."
)
"""Of engines that submit and wait apart; those that do not have no time to submit (slat)."""

DIRECTIONS = ("read", "write", "trim", "mixed")

NOT_FACTORS = {"name", "filename", "directory", "output", "output-format", "description"}
"""Options that name things and set nothing."""

SIZES = {
    "bs": "block_size",
    "blocksize": "block_size",
    "size": "size_bytes",
    "io_size": "io_size_bytes",
}
"""Options that are sizes, and our columns for them."""

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
"""fio's default: k is 1024 (kb_base=1024)."""

LATENCIES = {
    **{f"latency_{name}_ms": name for name in ("mean", "min", "max")},
    **{
        f"latency_p{percent:g}_ms".replace(".", "_"): f'percentile."{percent:f}"'
        for percent in (50, 75, 90, 95, 99, 99.9)
    },
}
"""Our columns, and where fio tells them [ns]."""

MOVED = {
    "transferred_bytes": "io_bytes",
    "throughput_bytes_s": "bw_bytes",
    "iops": "iops",
    "requests": "total_ios",
}
"""Our columns, and where fio tells them of a direction."""

HISTOGRAM_ENDS_MS = 17112.76032
"""The last bucket of fio 3's histogram, 29 groups of 64 (stat.h): a longer latency is counted
there."""

ERROR = re.compile(r"\berr(?:or)?=|\berror\b", re.IGNORECASE)
"""In a line that fio prints beside its JSON."""


def read_fio(path: Path) -> Results:
    """Rows of a fio JSON: one a job and direction that moved anything; the job's options are
    factors.

    Bytes are counted in 1024s as fio does, nanoseconds become milliseconds. A file may hold several
    documents. Raises FormatError if it is none of fio 3 or later, or no job moved anything.
    """
    rows: list[Row] = []
    incomplete: dict[int, str] = {}
    remarks: list[str] = []
    submits_apart = False
    tool = f"{TOOL}, written with --output-format=json"
    parts = documents(text_of(path), path, tool)
    for part in parts:
        if part.around:
            remarks.append(f"Next to the JSON, the file has: {'; '.join(part.around)}")
        if part.value is None:
            incomplete[len(rows)] = f"line {part.line}"
            rows.append({})
        else:
            with reading(path, tool):
                rows += _document_rows(part.value, part.around, path)
                sides = (job.get(one) or {} for job in part.value["jobs"] for one in DIRECTIONS)
                submits_apart |= any((one.get("slat_ns") or {}).get("mean") for one in sides)
    complete = [row for i, row in enumerate(rows) if i not in incomplete]
    if not complete:
        raise FormatError(f"{path}: no job of this fio run read or wrote anything.")
    if len(parts) > 1 and _mark_final(complete):
        remarks.append(
            f"The file holds {len(parts)} documents (--status-interval?): of rows of the same job "
            "the last is marked as final; keep only those, the others are no repeats."
        )
    if any((row.get("latency_max_ms") or 0) > HISTOGRAM_ENDS_MS for row in complete):
        remarks.append(
            f"Percentiles end at the top of fio's histogram ({HISTOGRAM_ENDS_MS / 1e3:.1f} s): "
            "values at that top are longer, up to the longest."
        )
    version = str(next(part.value for part in parts if part.value)["fio version"])
    traps = [COMPLETION] if submits_apart else []
    return Results.read(path.name, version, rows, traps, remarks, incomplete)


def _document_rows(document: Mapping[str, Any], around: Sequence[str], path: Path) -> list[Row]:
    """The rows of one document; failed where fio printed an error beside it."""
    version = str(document["fio version"])
    if re.match(r"fio-([12])\.", version):
        raise FormatError(
            f"{path}: {version} wrote this. Results of fio 3 and later can be read, which have "
            "their latencies in nanoseconds. Run it again with fio 3 or later."
        )
    rows = [row for job in document["jobs"] for row in _job(job, document, str(path))]
    if error := next((line for line in around if ERROR.search(line)), None):
        rows = [{**row, "status": "failed", "error": row["error"] or error} for row in rows]
    return rows


def _mark_final(rows: Sequence[Row]) -> bool:
    """Mark the last row of each job and direction as final and the others as not; False, without a
    mark, where each is there once."""
    last = {(row["job"], row["operation"]): i for i, row in enumerate(rows)}
    if len(last) == len(rows):
        return False
    for i, row in enumerate(rows):
        row["final"] = last[row["job"], row["operation"]] == i
    return True


def _job(job: Mapping[str, Any], document: Mapping[str, Any], where: str) -> list[Row]:
    moved = [name for name in DIRECTIONS if (job.get(name) or {}).get("total_ios", 0) > 0]
    if len(moved) > 1 and moved[-1] == "mixed":  # with `both` it is the sum of the others
        moved.pop()
    error = int(job.get("error") or 0)
    cpu = _cpu_time(job, where) if len(moved) == 1 else {}
    return [
        {
            "job": job.get("jobname"),
            "operation": name,
            **_options(document.get("global options"), name),
            **_options(job.get("job options"), name),
            **_direction(job[name], where),
            **cpu,
            "exit_code": error,
            "status": "failed" if error else "ok",
            "error": f"fio error {error}" if error else None,
        }
        for name in moved
    ]


def _direction(side: Mapping[str, Any], where: str) -> Row:
    told = [side[key] for key in ("clat_ns", "lat_ns") if side.get(key) is not None]
    if not told:
        raise FormatError(
            f"{where}: has no latencies in nanoseconds; results of fio 3 and later can be read."
        )
    # fio counts no latency where its measuring is switched off (disable_clat, gtod_reduce)
    latency: Mapping[str, Any] = next(
        (latencies for latencies in told if latencies.get("N") != 0), {}
    )
    return {
        **figures_of(side, {"wall_s": "runtime"}, where, "ms"),
        **figures_of(side, MOVED, where),
        **figures_of(latency, LATENCIES, where, "ns"),
    }


def _cpu_time(job: Mapping[str, Any], where: str) -> Row:
    """CPU time from fio's percentages of the job's run time; of a job with one direction only."""
    runtime_s = figures_of(job, {"runtime_s": "job_runtime"}, where, "ms")["runtime_s"]
    shares = figures_of(job, {"user_s": "usr_cpu", "sys_s": "sys_cpu"}, where)
    if runtime_s is None:
        return {}
    return {
        name: None if share is None else share / 100 * runtime_s for name, share in shares.items()
    }


def _options(options: Mapping[str, Any] | None, direction: str) -> Row:
    """Options as factors: sizes in bytes, everything else as it was written."""
    factors: Row = {}
    for name, option in (options or {}).items():
        value = str(option)
        if option is None or name in NOT_FACTORS:
            continue
        if name in SIZES:
            factors[SIZES[name]] = _bytes(_of_direction(value, direction))
        elif name == "direct":
            factors[name] = value != "0"
        elif name == "runtime":
            factors["duration_s"] = value
        else:
            factors[own_name(name)] = value
    return factors


def _of_direction(value: str, direction: str) -> str:
    """fio takes one block size, or up to three for read, write and trim; the last given one counts
    for the rest."""
    parts = value.split(",")
    return parts[min(DIRECTIONS.index(direction), len(parts) - 1)] or parts[0]


def _bytes(value: str) -> str:
    """A size in bytes as text; a range or a percentage stays as it is."""
    match = re.fullmatch(r"(\d{1,18})\s*([kmgtp]?)(?:i?b)?", value.strip().lower())
    return str(int(match[1]) * UNITS[match[2]]) if match else value
