"""wrk: the text it prints, with or without `--latency`; one row a test, several tests in one file."""

from __future__ import annotations

import re
from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.document import text_of
from deadzone.store.imports.latency import CLOSED_LOOP
from deadzone.store.imports.result import Results, Row

TOOL = "wrk"

START = re.compile(r"^Running (\S+) test @ (\S+)", re.MULTILINE)
CLIENTS = re.compile(r"^\s*(\d{1,9}) threads and (\d{1,9}) connections", re.MULTILINE)
LATENCY = re.compile(r"^\s*Latency\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+\s*$", re.MULTILINE)
PERCENTILE = re.compile(r"^\s*(50|75|90|99|99\.9)\.?0*%\s+(\d[\d.]*\D+)\s*$", re.MULTILINE)
TOTAL = re.compile(r"^\s*(\d{1,18}) requests in (\S+), (\S+) read", re.MULTILINE)
RATE = re.compile(r"^Requests/sec:\s*(\d[\d.]*)\s*$", re.MULTILINE)
TRANSFER = re.compile(r"^Transfer/sec:\s*(\S+)\s*$", re.MULTILINE)
SOCKET_ERRORS = re.compile(
    r"^\s*Socket errors: connect (\d{1,18}), read (\d{1,18}), write (\d{1,18}), timeout (\d{1,18})",
    re.MULTILINE,
)
REFUSED = re.compile(r"^\s*Non-2xx or 3xx responses: (\d{1,18})", re.MULTILINE)

TIME_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}
"""Units of time in ms; wrk's m is a minute."""

SIZE_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "PB": 2**50}
"""wrk counts in 1024s."""

NO_PERCENTILES = "wrk tells no percentiles unless asked with --latency; only mean and maximum are there."
ROUNDED = "wrk prints two to three digits, so every figure but the number of requests is rounded."

CORRECTED = "HdrHistogram"
"""Printed by wrk2, which sends at a rate and counts from when a request was due."""


def read_wrk(path: Path) -> Results:
    """Rows of wrk's output, one a test. Raises FormatError if the text is none, or a test did not end."""
    text = text_of(path)
    starts = [found.start() for found in START.finditer(text)]
    if not starts:
        raise FormatError(f"{path}: is no output of wrk: no line begins with 'Running ... test @'.")
    parts = [text[start:stop] for start, stop in zip(starts, [*starts[1:], len(text)], strict=True)]
    rows = tuple(_row(part, path) for part in parts)
    doubts = [ROUNDED]
    if any("latency_p50_ms" not in row for row in rows):
        doubts.append(NO_PERCENTILES)
    if CORRECTED not in text:
        doubts.append(CLOSED_LOOP.format(tool=TOOL))
    return Results(rows, tuple(doubts))


def _row(part: str, path: Path) -> Row:
    total, rate = TOTAL.search(part), RATE.search(part)
    if total is None or rate is None:
        raise FormatError(
            f"{path}: wrk's output is not complete: its totals are missing. Was the test stopped?"
        )
    clients, latency, transfer = CLIENTS.search(part), LATENCY.search(part), TRANSFER.search(part)
    started = START.search(part)
    return {
        "source": path.name,
        "tool": TOOL,
        "url": started[2] if started else None,
        "client_threads": clients[1] if clients else None,
        "client_connections": clients[2] if clients else None,
        "wall_s": _ms(total[2], path) / 1e3,
        "requests": int(total[1]),
        "achieved_rate": _plain(rate[1], path),
        "latency_mean_ms": _ms(latency[1], path) if latency else None,
        **{
            f"latency_p{found[1].replace('.', '_')}_ms": _ms(found[2], path)
            for found in PERCENTILE.finditer(part)
        },
        "latency_max_ms": _ms(latency[3], path) if latency else None,
        "errors": _errors(part),
        "transferred_bytes": round(_bytes(total[3], path)),
        "throughput_bytes_s": _bytes(transfer[1], path) if transfer else None,
    }


def _errors(part: str) -> int:
    """wrk names errors only where there were some."""
    sockets, refused = SOCKET_ERRORS.search(part), REFUSED.search(part)
    return sum(map(int, sockets.groups() if sockets else ())) + int(refused[1] if refused else 0)


def _ms(text: str, path: Path) -> float:
    return _with_unit(text, TIME_UNITS, "a time", path)


def _bytes(text: str, path: Path) -> float:
    return _with_unit(text, SIZE_UNITS, "a size", path)


def _with_unit(text: str, units: dict[str, float] | dict[str, int], what: str, path: Path) -> float:
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?)([A-Za-z]+)", text.strip())
    if found is None or found[2] not in units:
        raise FormatError(f"{path}: wrk's output has {text.strip()[:40]!r} where {what} stands.")
    return float(found[1]) * units[found[2]]


def _plain(text: str, path: Path) -> float:
    if text.count(".") > 1 or len(text) > 30:
        raise FormatError(f"{path}: wrk's output has {text[:40]!r} where a number stands.")
    return float(text)
