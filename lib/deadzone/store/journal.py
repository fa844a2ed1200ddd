"""The journal: one JSON line a trial, on disk before the next trial starts.

A line is complete when it ends in a newline; a run killed while writing leaves at most one torn line at the
end, which is recognised and cut off before the next line is written.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deadzone.errors import SaidAs, StoreError


def _content(path: Path, offset: int = 0) -> bytes:
    """The bytes of a journal from an offset on; none where there is no journal yet."""
    with SaidAs(StoreError, f"{path}: cannot read the journal"):
        try:
            with path.open("rb") as handle:
                handle.seek(offset)
                return handle.read()
        except FileNotFoundError:
            return b""


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a journal, without a torn last line.

    Raises StoreError if a line in the middle is no record, which no interrupted run leaves behind.
    """
    *lines, _torn = _content(path).split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise StoreError(
                f"{path}: line {number} is no record; the journal was changed by something else. "
                "Put the file back from a copy, or start a new run."
            )
        yield record


class JournalTail:
    """Reads a journal while another process writes it, each record once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new_records(self) -> list[dict[str, Any]]:
        """Records that were completed since the last call; none before there is a journal."""
        content = _content(self._path, self._offset)
        whole = content[: content.rfind(b"\n") + 1]
        records = [json.loads(line) for line in whole.splitlines()]
        self._offset += len(whole)
        return records


class Journal:
    """An append-only file of records."""

    def __init__(self, path: Path, durable: bool = True) -> None:
        """durable: flush each record to the disk before append returns."""
        self._path = path
        self._durable = durable
        self._cut_torn_line()

    def append(self, *records: dict[str, Any]) -> None:
        """Write records at the end.

        Raises StoreError if the disk is full or the file cannot be written; what was there before stays whole.
        """
        text = "".join(
            json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records
        ).encode()
        with SaidAs(
            StoreError,
            f"{self._path}: cannot write the journal",
            "The trials before it are safe; make room or repair the folder, then go on with --resume.",
        ):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                self._write(descriptor, text, os.fstat(descriptor).st_size)
            finally:
                os.close(descriptor)

    def _write(self, descriptor: int, text: bytes, size: int) -> None:
        try:
            written = 0
            while written < len(text):
                written += os.write(descriptor, text[written:])
            if self._durable:
                os.fdatasync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise

    def _cut_torn_line(self) -> None:
        content = _content(self._path)
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with SaidAs(StoreError, f"{self._path}: cannot cut off its torn last line"):
                os.truncate(self._path, whole)
