"""The formats that the table formats.toml describes: what tools print, and what they write as
JSON."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.result import CLOSED_LOOP
from deadzone.store.imports.text_format import TextFormat

PATTERNS = ("labels", "figures", "totals")
"""Keys of a text under which patterns stand by column."""


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))


def text_format(tool: str) -> TextFormat:
    """The text of a tool, as the table has it."""
    told = _table()[tool]
    patterns = {
        key: {name: _any_of(pattern) for name, pattern in told.get(key, {}).items()}
        for key in PATTERNS
    }
    begins = [_any_of(pattern) for pattern in told["begins"]]
    traps = [_sentence(trap, tool) for trap in told["traps"]]
    doubts = {mark: _sentence(doubt, tool) for mark, doubt in told.get("doubts", {}).items()}
    own = {**told, **patterns, "begins": begins, "traps": traps, "doubts": doubts}
    return TextFormat(tool, **own)


def json_format(tool: str, **more: Any) -> JsonFormat:
    """The JSON of a tool, as the table has it. more: what is no table, such as `rows`."""
    return JsonFormat(tool, **_table()[tool], **more)


def described() -> dict[str, TextFormat | JsonFormat]:
    """Every format of the table, by its tool."""
    return {
        tool: text_format(tool) if "begins" in told else json_format(tool)
        for tool, told in _table().items()
    }


def _sentence(text: str, tool: str) -> str:
    return text.replace("{closed_loop}", CLOSED_LOOP.format(tool=tool))


def _any_of(patterns: str | list[str]) -> str:
    return patterns if isinstance(patterns, str) else "|".join(patterns)
