"""What a line of each journal of a run holds, and its file of facts: the one place that says
whether it does.

A journal has one JSON line a trial, on disk before the next trial starts. A line is complete when
it ends in a newline; a run killed while writing leaves at most one torn line at the end, which is
recognised and cut off before the next line is written.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from pydantic_core import CoreSchema, SchemaValidator, ValidationError
from pydantic_core import core_schema as form

from deadzone.contents import opened
from deadzone.errors import SaidAs, StoreError, resume_option
from deadzone.measurement import Status
from deadzone.store.provenance import IDENTITY
from deadzone.store.table import COLUMNS
from deadzone.study.loading import needed_by


def _moment(text: str) -> str:
    """A time in ISO 8601, as it is. Raises ValueError if it is none."""
    datetime.fromisoformat(text)
    return text


_TEXT, _COUNT = form.str_schema(), form.int_schema(ge=-(2**63), lt=2**63)
_NUMBER = form.float_schema(allow_inf_nan=False)
_LEVEL = form.union_schema(
    [{**_COUNT, "strict": True}, form.float_schema(strict=True, allow_inf_nan=False), _TEXT]
)
_ANYTHING = form.list_schema(form.dict_schema(_TEXT, form.any_schema()))
_LEVELS = form.dict_schema(_TEXT, _LEVEL)
_COLUMN_KINDS = {
    "Int64": _COUNT,
    "float64": _NUMBER,
    "boolean": form.bool_schema(),
    "string": _TEXT,
}
"""What a record may hold for a column of each kind."""


def _rows(*columns: CoreSchema) -> CoreSchema:
    """A list of rows of these columns."""
    return form.list_schema(form.tuple_schema([*columns]))


def _fields(
    needed: Mapping[str, CoreSchema], optional: Mapping[str, CoreSchema] = MappingProxyType({})
) -> CoreSchema:
    """A record with the fields it needs, and others that may be missing or null; what is not named
    may stand there too."""
    named = {name: form.typed_dict_field(kind) for name, kind in needed.items()}
    named |= {
        name: form.typed_dict_field(form.nullable_schema(kind), required=False)
        for name, kind in optional.items()
    }
    return form.typed_dict_schema(named, extra_behavior="allow")


_ATTEMPT = {"trial": _COUNT, "attempt": _COUNT}
_SAID = form.union_schema([_fields({"reason": _TEXT}), _fields({"en": _TEXT, "ko": _TEXT})])
_REASON = form.union_schema([_SAID, form.list_schema(_SAID)])
"""As of `deadzone.study.reasons`; in runs of 0.1.0 sentences, by language."""

_MEASURED = {
    **_ATTEMPT,
    "final": form.bool_schema(),
    "status": form.literal_schema([*get_args(Status)]),
    "levels": _LEVELS,
    "responses": form.dict_schema(_TEXT, form.nullable_schema(_NUMBER)),
    "wall_s": _NUMBER,
}
_SEEN = {
    **{name: _COLUMN_KINDS[kind] for name, kind in COLUMNS.items() if name not in _MEASURED},
    "started_at": form.no_info_after_validator_function(_moment, _TEXT),
    "profiles": form.dict_schema(_TEXT, form.str_schema(pattern=r"^profiles/[^/]+$")),
    "recognised": _ANYTHING,
}
_PROPOSED = _fields({"trial": _COUNT, "replicate": _COUNT, "levels": _LEVELS})
_BATCH = _fields({"batch": _COUNT, "trials": form.list_schema(_PROPOSED), "reason": _REASON})
_END = _fields({"stopped": _REASON, "open": form.list_schema(_REASON)})


class Form:
    """What a record must be, by the name that it is called when it is not."""

    def __init__(self, noun: str, schema: CoreSchema) -> None:
        self._noun, self._validator = noun, SchemaValidator(schema)

    def read(self, content: bytes, where: str) -> dict[str, Any]:
        """The record that a text of JSON holds. Raises StoreError, which begins with `where`, if it
        is none."""
        try:
            record: dict[str, Any] = self._validator.validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            key = ".".join(map(str, first["loc"]))
            why = f"{key and f'{key}: '}{needed_by(first)}"
            raise StoreError(
                f"{where} is no {self._noun if key else 'record'}: {why}; it was changed by "
                "something else. Put the file back from a copy, or start a new run."
            ) from error
        return record


RECORD = Form("record", _fields({}))
TRIAL = Form("trial", _fields(_MEASURED, _SEEN))
SERIES = Form("series", _fields({**_ATTEMPT, "samples": _rows(_NUMBER, _TEXT, _NUMBER)}))
"""Samples are rows of t_s, metric and value."""

HISTOGRAMS = Form(
    "histograms", _fields({**_ATTEMPT, "histograms": _rows(_TEXT, _NUMBER, _NUMBER, _COUNT, _TEXT)})
)
"""Histograms are rows of metric, t_s, duration_s, count and histogram."""

_FACTS = {
    "cores_usable": _COUNT,
    "earlier_parts": _ANYTHING,
    IDENTITY: form.dict_schema(_TEXT, _TEXT),
}
FACTS = Form("facts", _fields({}, _FACTS))
BATCH = Form(
    "batch",
    form.tagged_union_schema(
        {"batch": _BATCH, "end": _END},
        lambda record: "end" if isinstance(record, dict) and "stopped" in record else "batch",
    ),
)


def each_line(path: Path, form: Form = RECORD) -> Iterator[dict[str, Any]]:
    """The records of a journal, one at a time, without a torn last line.

    Raises StoreError if it cannot be read, or a line is no record of its form, which no interrupted
    run leaves behind.
    """
    with SaidAs(StoreError, f"{path}: cannot read the journal"):
        if not path.exists():
            return
        with opened(path) as handle:
            for number, line in enumerate(handle, start=1):
                if line.endswith(b"\n"):
                    yield form.read(line[:-1], f"{path}: line {number}")


def each_attempt(path: Path) -> Iterator[dict[str, Any]]:
    """The records of the trials, one at a time. Raises StoreError also where an attempt stands
    there again."""
    last: dict[int, int] = {}
    for number, record in enumerate(each_line(path, TRIAL), start=1):
        if record["attempt"] <= last.get(record["trial"], record["attempt"] - 1):
            raise StoreError(
                f"{path}: line {number} tells of trial {record['trial']} again; the journal was "
                "changed by something else. Remove one of the two lines, or put the file back "
                "from a copy."
            )
        last[record["trial"]] = record["attempt"]
        yield record


def last_records(
    path: Path, form: Form, attempts: Iterable[tuple[int, int]]
) -> Iterator[dict[str, Any]]:
    """What a journal tells beside the trials of attempts at them, the last of each.

    attempts: trial and attempt. A run killed between two journals has told of an attempt that is
    made again.
    """
    last = dict.fromkeys(starmap(_key, attempts), -1)
    for number, line in enumerate(each_line(path, form)):
        if (key := _key(line["trial"], line["attempt"])) in last:
            last[key] = number
    for number, line in enumerate(each_line(path, form)):
        if last.get(_key(line["trial"], line["attempt"])) == number:
            yield line


def _key(trial: int, attempt: int) -> int | tuple[int, int]:
    """Of an attempt; nearly all are first ones, whose number alone takes less memory."""
    return trial if attempt == 1 else (trial, attempt)


class Journal:
    """An append-only file of records."""

    def __init__(self, path: Path, durable: bool = True) -> None:
        """durable: flush each record to the disk before append returns."""
        self._path = path
        self._durable = durable
        self._cut_torn_line()

    def append(self, *records: dict[str, Any]) -> None:
        """Write records at the end.

        Raises StoreError if the disk is full or the file cannot be written; what was there before
        stays whole.
        """
        lines = (json.dumps(one, ensure_ascii=False, allow_nan=False) + "\n" for one in records)
        text = "".join(lines).encode()
        failed = SaidAs(
            StoreError,
            f"{self._path}: cannot write the journal",
            "The trials before it are safe; make room or repair the folder, then go on with "
            f"{resume_option()}.",
        )
        with failed, self._path.open("ab", buffering=0) as file:
            size = file.tell()
            try:
                while text:
                    text = text[file.write(text) :]
                if self._durable:
                    os.fdatasync(file.fileno())
            except OSError:
                file.truncate(size)
                raise

    def _cut_torn_line(self) -> None:
        with SaidAs(StoreError, f"{self._path}: cannot read the journal"):
            if not self._path.exists():
                return
            with opened(self._path) as handle:
                content = handle.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with SaidAs(StoreError, f"{self._path}: cannot cut off its torn last line"):
                os.truncate(self._path, whole)
