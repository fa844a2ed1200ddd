"""The formats that `descriptions.toml` describes, each written down from recorded output of the version it names."""

import tomllib
from pathlib import Path
from typing import Any

from deadzone.store.imports.described import Column, Description
from deadzone.store.imports.latency import CLOSED_LOOP


def _described(tool: str, told: dict[str, Any]) -> Description:
    labels = (Column(name, find, label=True) for name, find in told.pop("labels", {}).items())
    found = (
        (name, where if isinstance(where, dict) else {"find": where})
        for name, where in told.pop("columns").items()
    )
    columns = (*labels, *(Column(name, **where) for name, where in found))
    loop = CLOSED_LOOP.format(tool=tool)
    traps = tuple(trap.replace("{closed_loop}", loop) for trap in told.pop("traps"))
    doubts = {mark: doubt.replace("{closed_loop}", loop) for mark, doubt in told.pop("doubts", {}).items()}
    return Description(tool, columns=columns, traps=traps, doubts=doubts, **told)


_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
REDIS_CSV = _described("redis-benchmark", _TOLD.pop("redis-benchmark.csv"))
"""The second form of a tool's results."""

ALL = tuple(_described(tool, told) for tool, told in _TOLD.items())
"""One for each tool."""
