"""What the readers of single tools know of them, as `readers.toml` has it: columns, and how far the numbers can be believed."""

import tomllib
from pathlib import Path

READERS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""By tool."""
