"""The formats that the table formats.toml describes: what tools print, and what they write as JSON,
one document or several, each with one result or a list of them."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jmespath

from deadzone.errors import FormatError
from deadzone.store.imports.columns import own_name
from deadzone.store.imports.document import documents, quoted, reading, text_of
from deadzone.store.imports.result import CLOSED_LOOP, Results, Row, levels_of, results_of
from deadzone.store.imports.text_format import TextFormat
from deadzone.store.imports.units import figure
from deadzone.study.levels import is_number


def figures_of(entry: Any, paths: Mapping[str, str], where: str, unit: str = "") -> Row:
    """Numbers in JSON by column. paths: a JMESPath of each. unit: in which they stand; each comes
    in the unit of its column.

    Raises FormatError for what is no number, and within `reading` for a path that leads nowhere.
    """
    return {
        column: figure(jmespath.search(path, entry), column, where, unit)
        for column, path in paths.items()
    }


def labels_of(entry: Any, paths: Mapping[str, str], where: str) -> Row:
    """Texts in JSON by column, as far as they are there. paths: a JMESPath of each.

    Raises FormatError for a list or an object.
    """
    found = {column: jmespath.search(path, entry) for column, path in paths.items()}
    for column, label in found.items():
        if isinstance(label, dict | list):
            raise FormatError(f"{where}: {column} is {quoted(label)}, no text.")
    return {c: str(label) for c, label in found.items() if label is not None and label is not False}


@dataclass(frozen=True)
class JsonFormat:
    """How the JSON of a tool is read. A reader: called with a file, it gives its results.

    write: how it is asked for what is read. needs:
    columns without which a row is no result. traps: sentences on how far the numbers can be
    believed.
    JMESPaths: rows, of a document, to its results or the only one; levels and further, of a result,
    to an object of levels, and to one of texts and numbers that a person added, `besides` left out;
    unit, to the unit of the figures `in_unit`. JMESPaths by column: shared, labels of a document;
    labels, of which an `error` says that the result failed; figures, in the unit of the column.
    more: further columns of a result.
    """

    tool: str
    write: str
    needs: Sequence[str]
    traps: Sequence[str]
    rows: str | Callable[[Any], Iterable[Any]] = "@"
    levels: str = "`{}`"
    further: str = "`{}`"
    besides: Sequence[str] = ()
    unit: str = "`null`"
    shared: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)
    in_unit: Mapping[str, str] = field(default_factory=dict)
    more: Callable[[Any], Row] = lambda entry: {}

    def __call__(self, path: Path) -> Results:
        """The results in a file; those that were cut off are failed. Raises FormatError if none is
        complete, it is none of this tool, or damaged."""
        runs: list[tuple[str, Row]] = []
        tool = f"{self.tool}, written with {self.write}"
        for document in documents(text_of(path), path, tool):
            rows: list[Row] = [{}]
            if document.value is not None:
                with reading(path, tool):
                    rows = [*self._rows(document.value, str(path))]
            runs += [
                (f"entry {position} of the document at line {document.line}", row)
                for position, row in enumerate(rows, 1)
            ]
        return results_of(runs, path, self.tool, self.needs, self.traps, write=self.write)

    def _rows(self, document: Any, where: str) -> Iterator[Row]:
        rows = self.rows
        found = jmespath.search(rows, document) if isinstance(rows, str) else [*rows(document)]
        shared = labels_of(document, self.shared, where)
        for position, entry in enumerate(found if isinstance(found, list) else [found], 1):
            yield self._row(entry, f"{where}: entry {position}", shared)

    def _row(self, entry: Any, where: str, shared: Row) -> Row:
        """The columns of one result. where: file and place, for messages. shared: labels of its
        document."""
        labels = {**shared, **labels_of(entry, self.labels, where)}
        levels = levels_of(labels.get("benchmark"), jmespath.search(self.levels, entry))
        row = {**levels, **labels, **figures_of(entry, self.figures, where), **self.more(entry)}
        if "error" in labels:
            return {**row, "status": "failed"}
        unit = jmespath.search(self.unit, entry) or ""
        row |= figures_of(entry, self.in_unit, where, unit)
        for name, value in (jmespath.search(self.further, entry) or {}).items():
            if name not in self.besides and (isinstance(value, str) or is_number(value)):
                row.setdefault(own_name(name), value)
        return row


CUT_OFF = "aborted due to deadline"
"""What oha says of requests that were under way when the test ended."""


def _outcomes_of_oha(document: Any) -> Row:
    """What became of the requests, from how often each kind of answer and failure happened."""
    answers = document.get("statusCodeDistribution") or {}
    failures = {**(document.get("errorDistribution") or {})}
    unfinished = failures.pop(CUT_OFF, 0)
    refused = sum(n for code, n in answers.items() if code[:1] not in "123")
    return {
        "requests": sum(answers.values()),
        "errors": sum(failures.values()) + refused,
        "unfinished": unfinished,
    }


def _runs_of_hyperfine(document: Any) -> Iterator[dict[str, Any]]:
    """Each run of each command; a command whose runs are left out, as old releases did, itself."""
    for result in document["results"]:
        if result.get("times") is None:
            yield result
            continue
        treatment = {key: result.get(key) for key in ("command", "parameters", "parameter")}
        codes, sizes = (result.get(key) or [] for key in ("exit_codes", "memory_usage_byte"))
        for i, time in enumerate(result["times"]):
            code = codes[i] if i < len(codes) else 0
            yield {
                **treatment,
                "time": time,
                "memory": sizes[i] if i < len(sizes) else None,
                "run": {
                    "replicate": i + 1,
                    "exit_code": code if codes and isinstance(code, int) else None,
                    "status": "ok" if code == 0 else "failed",  # null stands for a signal
                },
            }


PATTERNS = ("labels", "figures", "totals")
"""Keys of a text under which patterns stand by column."""

IN_CODE: Mapping[str, Mapping[str, Any]] = {
    "oha": {"more": _outcomes_of_oha},
    "hyperfine": {
        "rows": _runs_of_hyperfine,
        "more": lambda entry: entry.get("run") or {},
    },
}
"""What no table says of the JSON of a tool."""


def _text_format(tool: str, told: Mapping[str, Any]) -> TextFormat:
    closed_loop = ("{closed_loop}", CLOSED_LOOP.format(tool=tool))
    own = {
        key: {name: _any_of(pattern) for name, pattern in told.get(key, {}).items()}
        for key in PATTERNS
    } | {
        "begins": [_any_of(pattern) for pattern in told["begins"]],
        "traps": [trap.replace(*closed_loop) for trap in told["traps"]],
        "doubts": {k: doubt.replace(*closed_loop) for k, doubt in told.get("doubts", {}).items()},
    }
    return TextFormat(tool, **{**told, **own})


def described() -> dict[str, TextFormat | JsonFormat]:
    """Every format of the table, by its tool."""
    table = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))
    return {
        tool: _text_format(tool, told)
        if "begins" in told
        else JsonFormat(tool, **told, **IN_CODE.get(tool, {}))
        for tool, told in table.items()
    }


def _any_of(patterns: str | list[str]) -> str:
    return patterns if isinstance(patterns, str) else "|".join(patterns)
