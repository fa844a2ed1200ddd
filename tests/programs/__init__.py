"""The programs that the bundled studies measure."""

from pathlib import Path

PROGRAMS = Path(__file__).parents[2] / "notebooks" / "studies" / "programs"
