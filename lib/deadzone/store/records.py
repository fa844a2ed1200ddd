"""What a line of each journal of a run holds, and its file of facts: the one place that says whether it does.

A journal has one JSON line a trial, on disk before the next trial starts. A line is complete when it ends in a newline; a run killed while writing leaves at most one torn line at the
end, which is recognised and cut off before the next line is written.
"""

import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from pydantic_core import CoreSchema, SchemaValidator, ValidationError
from pydantic_core import core_schema as form

from deadzone.contents import beside, opened
from deadzone.errors import SaidAs, StoreError
from deadzone.measurement import Status
from deadzone.store.table import COLUMNS
from deadzone.study.loading import PLAIN_WORDS

_TOLD: dict[str, Any] = beside(__file__)


def _moment(text: str) -> str:
    """A time in ISO 8601, as it is. Raises ValueError if it is none."""
    datetime.fromisoformat(text)
    return text


_TEXT, _COUNT = form.str_schema(), form.int_schema(ge=-(2**63), lt=2**63)
_KIND: dict[str, CoreSchema] = {
    "any": form.dict_schema(_TEXT, form.any_schema()),
    "string": _TEXT,
    "Int64": _COUNT,
    "float64": form.float_schema(allow_inf_nan=False),
    "boolean": form.bool_schema(),
    "level": form.union_schema(
        [{**_COUNT, "strict": True}, form.float_schema(strict=True, allow_inf_nan=False), _TEXT]
    ),
    "moment": form.no_info_after_validator_function(_moment, _TEXT),
    "profile": form.str_schema(pattern=r"^profiles/[^/]+$"),
    "status": form.literal_schema([*get_args(Status)]),
}


def _schema(told: Any) -> CoreSchema:
    """The schema of what is told in the words of `records.toml`."""
    if isinstance(told, str):
        return _KIND[told]
    if isinstance(told, list):
        parts = [_schema(one) for one in told]
        return form.list_schema(parts[0]) if len(parts) == 1 else form.tuple_schema(parts)
    kinds = {name: _schema(one) for name, one in told.items()}
    kinds |= {name: form.nullable_schema(one) for name, one in kinds.items() if name.endswith("?")}
    if len(kinds) == 1 and (any_key := next(iter(kinds))).startswith("*"):
        return form.dict_schema(_TEXT, kinds[any_key])
    fields = {
        name.rstrip("?"): form.typed_dict_field(kind, required=not name.endswith("?"))
        for name, kind in kinds.items()
    }
    return form.typed_dict_schema(fields, extra_behavior="allow")


@dataclass(frozen=True)
class Form:
    """What a record must be, by the name that it is called when it is not."""

    noun: str
    validator: SchemaValidator

    def read(self, content: bytes, where: str) -> dict[str, Any]:
        """The record that a text of JSON holds. Raises StoreError, which begins with `where`, if it is none."""
        try:
            record: dict[str, Any] = self.validator.validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            key = ".".join(map(str, first["loc"]))
            why = f"{key and f'{key}: '}{PLAIN_WORDS.get(first['type'], first['msg'])}"
            raise StoreError(
                f"{where} is no {self.noun if key else 'record'}: {why}; it was changed by something else. "
                "Put the file back from a copy, or start a new run."
            ) from error
        return record


_COLUMNS = {f"{name}?": kind for name, kind in COLUMNS.items() if name not in _TOLD["trial"]}
_BATCHES = {name: _schema(_TOLD[name]) for name in ("batch", "end")}
_BATCH_OR_END = form.tagged_union_schema(
    _BATCHES, lambda one: "end" if isinstance(one, dict) and "stopped" in one else "batch"
)

RECORD, SERIES, HISTOGRAMS, FACTS = (
    Form(name, SchemaValidator(_schema(_TOLD[name]))) for name in ("record", "series", "histograms", "facts")
)
TRIAL = Form("trial", SchemaValidator(_schema(_COLUMNS | _TOLD["trial"])))
BATCH = Form("batch", SchemaValidator(_BATCH_OR_END))


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
