"""fio 3: `--output-format=json`, one row a job and direction (read, write, trim)."""

import re
from pathlib import Path

from deadzone.plugins import READERS, FormatError, Node, Results, Row, own_name, parse_json, text_of
from deadzone.store.imports.result import PERCENTILES

TOOL = "fio"

DIRECTIONS = ("read", "write", "trim")

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
    **{f"latency_{name}_ms": (name,) for name in ("mean", "min", "max")},
    **{ours: ("percentile", f"{percent:f}") for ours, percent in PERCENTILES.items()},
}
"""Our columns, and where fio tells them [ns]."""


def read_fio(path: Path) -> Results:
    """Rows of a fio JSON: one a job and direction that moved anything; the job's options are
    factors.

    Bytes are counted in 1024s as fio does, nanoseconds become milliseconds. Raises FormatError if
    the file is none.
    """
    text = text_of(path)
    # fio writes its own warnings before the document
    start = re.search(r"^\s*\{", text, re.MULTILINE)
    document = parse_json(text[start.start() :] if start else text, path, TOOL)
    version = document.child("fio version").value
    rows = [row for job in document.child("jobs").items() for row in _job(job, document)]
    if not rows:
        raise FormatError(f"{path}: no job of this fio run read or wrote anything.")
    return Results.read(path.name, str(version), rows, READERS[TOOL]["traps"])


def _job(job: Node, document: Node) -> list[Row]:
    moved = [
        name for name in DIRECTIONS if name in job and (job.number(name, "total_ios") or 0) > 0
    ]
    error = job.count("error") or 0
    cpu = _cpu_time(job) if len(moved) == 1 else {}
    return [
        {
            "job": job.text("jobname"),
            "operation": name,
            **_options(document, "global options", name),
            **_options(job, "job options", name),
            **_direction(job.child(name)),
            **cpu,
            "exit_code": error,
            "status": "failed" if error else "ok",
            "error": f"fio error {error}" if error else None,
        }
        for name in moved
    ]


def _direction(side: Node) -> Row:
    if "clat_ns" not in side and "lat_ns" not in side:
        raise FormatError(
            f"{side.where}: has no latencies in nanoseconds; results of fio 3 and later can be "
            "read."
        )
    latency = side.child("clat_ns" if "clat_ns" in side else "lat_ns")
    return {
        "wall_s": side.number("runtime", parts=1e3),
        "transferred_bytes": side.count("io_bytes"),
        "throughput_bytes_s": side.number("bw_bytes"),
        "iops": side.number("iops"),
        "requests": side.count("total_ios"),
        **{ours: latency.number(*theirs, parts=1e6) for ours, theirs in LATENCIES.items()},
    }


def _cpu_time(job: Node) -> Row:
    """CPU time from fio's percentages of the job's run time; of a job with one direction only."""
    runtime = job.number("job_runtime")
    parts = {"user_s": job.number("usr_cpu"), "sys_s": job.number("sys_cpu")}
    if runtime is None:
        return {}
    return {
        name: None if share is None else share / 100 * runtime / 1e3
        for name, share in parts.items()
    }


def _options(node: Node, key: str, direction: str) -> Row:
    """Options as factors: sizes in bytes, everything else as it was written."""
    factors: Row = {}
    for name, option in node.entries(key).items():
        value = str(option.value)
        if name in SIZES:
            factors[SIZES[name]] = _bytes(_of_direction(value, direction))
        elif name == "direct":
            factors[name] = value != "0"
        elif name == "runtime":
            factors["duration_s"] = value
        elif name not in NOT_FACTORS:
            factors[own_name(name)] = value
    return factors


def _of_direction(value: str, direction: str) -> str:
    """fio takes one block size, or up to three for read, write and trim; the last given one counts
    for the rest."""
    parts = value.split(",")
    return parts[min(DIRECTIONS.index(direction), len(parts) - 1)] or parts[0]


def _bytes(value: str) -> str:
    """A size in bytes as text; a range or a percentage stays as it is."""
    found = re.fullmatch(r"(\d{1,18})\s*([kmgtp]?)(?:i?b)?", value.strip().lower())
    return str(int(found[1]) * UNITS[found[2]]) if found else value
