"""The journal: one JSON line a trial, on disk before the next trial starts.

A line is complete when it ends in a newline; a run killed while writing leaves at most one torn line at the
end, which is recognised and cut off before the next line is written.
"""

import json
import os
from pathlib import Path
from typing import Any

from deadzone.contents import opened
from deadzone.errors import SaidAs, StoreError
from deadzone.store.records import RECORD, Form


def _content(path: Path, offset: int = 0) -> bytes:
    """The bytes of a journal from an offset on; none where there is no journal yet."""
    with SaidAs(StoreError, f"{path}: cannot read the journal"):
        try:
            with opened(path) as handle:
                handle.seek(offset)
                return handle.read()
        except FileNotFoundError:
            return b""


class JournalTail:
    """Reads a journal while another process writes it, each record once."""

    def __init__(self, path: Path, form: Form = RECORD) -> None:
        self._path, self._form = path, form
        self._offset = self._lines = 0

    def new_records(self) -> list[dict[str, Any]]:
        """Records that were completed since the last call, without a torn last line; none before there is a journal.

        Raises StoreError if a line is no record of its form, which no interrupted run leaves behind.
        """
        *lines, torn = (content := _content(self._path, self._offset)).split(b"\n")
        first = self._lines + 1
        self._offset += len(content) - len(torn)
        self._lines += len(lines)
        return [self._form.read(line, f"{self._path}: line {n}") for n, line in enumerate(lines, first)]


def read_lines(path: Path, form: Form = RECORD) -> list[dict[str, Any]]:
    """The records of a journal. Raises StoreError as `JournalTail` does."""
    return JournalTail(path, form).new_records()


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
        lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records]
        text = "".join(lines).encode()
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
