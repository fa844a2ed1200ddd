"""What the readers of single tools know of them, as `readers.toml` has it: columns, and how far the numbers can be believed."""

import tomllib
from pathlib import Path
from typing import Any

READERS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""By tool."""
