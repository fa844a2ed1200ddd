"""Files of other tools, read with suspicion: whatever is wrong with one becomes a sentence that
names it.

A unit that changes with the size of a number (`1.2s`, `950ms`) is one unit afterwards: that of the
column, which ends its name.
"""

import csv
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TextIO, cast

from jmespath.exceptions import JMESPathError

from deadzone import contents
from deadzone.errors import FormatError, did_you_mean
from deadzone.store.text_form import SEPARATORS
from deadzone.study.quantity import PRINTED_SECONDS, UNITS

MOST_CHARACTERS = 100_000_000
"""Of a result that is read as a whole; a small zipped file may stand for more than memory holds."""

DAMAGE = (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""What a document of another kind than the one that was expected raises."""

NO_NUMBER = ("", "nan", "inf", "-inf", "n/a", "null")
"""What tools write where they have no number."""

EMPTY = "the file is empty; the tool was stopped before it wrote its result."

SHOWN = 40
"""Characters of a damaged value that a message quotes."""


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A text file, unpacked where its name ends in .gz.

    Raises FormatError if it is missing, unreadable, damaged or no text, also while it is being
    read.
    """
    if not path.exists():
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise FormatError(f"{path}: there is no such file.{did_you_mean(path.name, near)}")
    try:
        with contents.opened(path) as raw:
            content = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
            with io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as file:
                yield file
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: is no text file (byte {error.start} is not UTF-8).") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or "it ends too early"
        raise FormatError(f"{path}: cannot be read: {reason}.") from error


def text_of(path: Path) -> str:
    """The whole text of a file. Raises FormatError as `opened` does, and for an empty file."""
    with opened(path) as file:
        text = file.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise FormatError(
            f"{path}: holds more than {MOST_CHARACTERS:,} characters, no result does."
        )
    if not text.strip():
        raise FormatError(f"{path}: {EMPTY}")
    return text


def parse_json(text: str, path: Path, tool: str) -> Any:
    """A JSON document. Raises FormatError, with the line, if it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _no_json(error, path, tool) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: is no JSON of {tool}: {error}.") from error


@contextmanager
def reading(path: Path, tool: str) -> Iterator[None]:
    """Raises FormatError for whatever is missing in a document of a tool, or of another kind than
    what it writes."""
    try:
        yield
    except KeyError as error:
        raise FormatError(f"{path}: is no result of {tool}: {error} is missing.") from error
    except (*DAMAGE, JMESPathError) as error:
        raise FormatError(
            f"{path}: is no result of {tool}: a part of it is missing or of another kind."
        ) from error


def _no_json(error: json.JSONDecodeError, path: Path, tool: str) -> FormatError:
    return FormatError(
        f"{path}: is no complete JSON of {tool} (line {error.lineno}: {error.msg}); was it cut "
        "off, or is it another format?"
    )


@dataclass(frozen=True)
class JsonDocument:
    """One of the JSON documents in a file. value: None where it was cut off. line: at which it
    begins, counted from 1. around: the lines before it that are no JSON, and those after the
    last."""

    value: Any
    line: int
    around: tuple[str, ...]


BEGINS = re.compile(r"^[ \t]*(?:\{|\[(?=\s*(?:[\[{\]\"]|\Z)))", re.MULTILINE)
"""A line such as `[INFO] ready` begins none."""

BEGINS_AT_ONCE = re.compile(BEGINS.pattern.replace(r"^[ \t]*", r"\s*"))
"""Behind the end of another: some tools write none of their lines to an end."""

BEGINS_ANEW = re.compile(BEGINS.pattern.replace(r"[ \t]*", ""), re.MULTILINE)


def documents(text: str, path: Path, tool: str) -> list[JsonDocument]:
    """The JSON documents of a text, one or more, with what stands around each: a tool that is run
    again appends one, and prints its errors in between.

    Raises FormatError, with the line, if none is complete.
    """
    documents: list[JsonDocument] = []
    damage: json.JSONDecodeError | None = None
    after, from_line, place = 0, 0, BEGINS.search(text)
    while place:
        start, stop = place.end() - 1, len(text)
        try:
            value, stop = json.JSONDecoder().raw_decode(text, start)
        except json.JSONDecodeError as error:
            anew = BEGINS_ANEW.search(text, place.end())
            stop, value = anew.start() if anew else stop, None
            damage = damage or error
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path}: is no JSON of {tool}: {error}.") from error
        from_line += text.count("\n", after, start)
        documents.append(JsonDocument(value, from_line + 1, _lines(text[after:start])))
        from_line += text.count("\n", start, stop)
        after, place = stop, BEGINS_AT_ONCE.match(text, stop) or BEGINS.search(text, stop)
    if all(document.value is None for document in documents):
        if damage is None:
            parse_json(text, path, tool)
        else:
            raise _no_json(damage, path, tool) from damage
    if documents and (rest := _lines(text[after:])):
        documents[-1] = replace(documents[-1], around=(*documents[-1].around, *rest))
    return documents


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def csv_rows(
    file: TextIO, path: Path, tool: str, needed: Sequence[str], cut: list[int]
) -> Iterator[dict[str, str]]:
    """Rows of a CSV file with a header, one by one; its cells are apart by commas, semicolons, tabs
    or bars, whichever gives the columns that are needed. cut: gets the lines of rows that have
    fewer or more fields than the header, which are left out.

    Raises FormatError if a needed column is missing.
    """
    first = file.readline()
    cells = {mark: {cell.strip('"\r\n') for cell in first.split(mark)} for mark in SEPARATORS}
    mark = max(SEPARATORS, key=lambda mark: len({*needed} & cells[mark]))
    reader = csv.reader(chain([first] if first else [], file), delimiter=mark)
    try:
        header = next(reader, None)
        if header is None:
            raise FormatError(f"{path}: {EMPTY}")
        missing = [name for name in needed if name not in header]
        if missing:
            raise FormatError(
                f"{path}: is no CSV of {tool}: it has no column {missing[0]!r}. Its first line is "
                f"{quoted(','.join(header))}."
            )
        for row in reader:
            if row == header:
                raise FormatError(
                    f"{path}: line {reader.line_num} repeats the header: the file holds several "
                    f"results of {tool}; import each from a file of its own."
                )
            if len(row) == len(header):
                yield dict(zip(header, row, strict=True))
            elif row:
                cut.append(reader.line_num)
    except csv.Error as error:
        raise FormatError(
            f"{path}: line {reader.line_num} is no CSV of {tool}: {error}."
        ) from error


def number_in(value: object, where: Path | str, what: str) -> float | None:
    """A finite number in JSON or in a cell, or None where there is none, it says N/A, or is not a
    number. Raises FormatError for anything else."""
    if value is None or value is False or str(value).strip().lower() in NO_NUMBER:
        return None
    try:
        number = float(cast(float, value)) if value is not True else math.inf
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{where}: {what} is {quoted(value)}, no number.") from error
    if not math.isfinite(number):
        raise FormatError(f"{where}: {what} is {quoted(value)}, no finite number.")
    return number


def whole(number: float, where: str, what: str) -> int:
    """A number that counts something. Raises FormatError if it is not whole or below zero."""
    if number < 0 or number != int(number):
        raise FormatError(
            f"{where}: {what} is {number:g}; a count is a whole number of zero or more."
        )
    return int(number)


def quoted(value: object) -> str:
    """A damaged value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


SIZES = {**UNITS, "KB": 2**10, "kbytes": 2**10, "bits": 1 / 8}
"""Bytes; most tools that print KB count in 1024s."""

RATES = {
    "ops/s": 1.0,
    "ops/ms": 1e3,
    "ops/us": 1e6,
    "ops/ns": 1e9,
    "ops/min": 1 / 60,
    **{f"{letter}elem/s": 1e3**power for power, letter in enumerate(("", *"KMGT"))},
}

KINDS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "_rate": ("a rate", RATES),
    "_bytes_s": ("an amount", SIZES),
    "_bytes": ("an amount", SIZES),
}
"""What a column holds, by the ending of its name, with its units; every other holds a time."""


def in_own_unit(
    column: str,
    number: float,
    unit: str,
    where: str,
    sizes: Mapping[str, float] = SIZES,
) -> float | int | None:
    """A number in the unit of its column, None where it is too large. where: file and tool, for
    messages. sizes: units of bytes, where a tool means others.

    Raises FormatError for a unit that is not known.
    """
    known = (own for end, own in KINDS.items() if column.endswith(end))
    kind, units = next(known, ("a time", PRINTED_SECONDS))
    units = sizes if units is SIZES else units
    unit = unit.removesuffix("/op")
    if unit not in units:
        raise FormatError(
            f"{where}: {column} is in {quoted(unit)}, a unit that is not known where {kind} stands."
        )
    own = 1e-3 if column.endswith("_ms") else 1.0
    # 190 us are 0.19 ms, and not 0.18999999999999997
    size = float(f"{number * units[unit] / own:.15g}")
    is_whole = column.endswith("_bytes")
    return (round(size) if is_whole else size) if math.isfinite(size) else None


def figure(value: Any, column: str, where: str, unit: str = "") -> float | int | None:
    """A number in JSON or in a cell, in the unit of its column; None where the tool has none.
    where: file and tool, for messages. unit: in which it stands, if not in that of the column.

    Raises FormatError for anything else, and for a unit that is not known.
    """
    number = number_in(value, where, column)
    if number is None:
        return None
    if unit:
        return in_own_unit(column, number, unit, where)
    is_count = not column.endswith(("_s", "_ms", "_rate", "_share", "iops"))
    return whole(number, where, column) if is_count else number
