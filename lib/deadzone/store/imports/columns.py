"""The columns of imported tables, in their order, each with unit and meaning, as `columns.toml` has them."""

import tomllib
from pathlib import Path

_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

FIRST: dict[str, tuple[str, str]] = {name: tuple(told) for name, told in _TOLD["first"].items()}
"""Columns that say where a row comes from."""

MEASURED: dict[str, tuple[str, str]] = {name: tuple(told) for name, told in _TOLD["measured"].items()}
"""Columns of what was measured."""

NOTE = "note"
"""Last column: how far the tool's numbers can be believed."""

OURS = {*FIRST, *MEASURED, NOTE}
"""Every column that is no factor and no further measurement of a tool."""
