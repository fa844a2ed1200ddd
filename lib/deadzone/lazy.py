"""Names that a module offers and loads when they are first used.

The module lists them once, as imports for type checkers, below `if TYPE_CHECKING:`.
"""

import re
from pathlib import Path

LISTED = re.compile(r"^    from (\S+) import (\([^)]*\)|.+$)", re.MULTILINE)


def listed(module: str) -> dict[str, str]:
    """The names that a module lists, each with the module that defines it. module: the
    `__file__`."""
    found = LISTED.findall(Path(module).read_text(encoding="utf-8"))
    return {name: home for home, names in found for name in re.findall(r"\w+", names)}
