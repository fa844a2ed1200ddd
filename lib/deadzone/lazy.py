"""Names that a module offers and loads when they are first used.

The module lists them once, as imports for type checkers: `if TYPE_CHECKING:`, and below it a line
`from package.module import name as name` each.
"""

import re
from pathlib import Path

LISTED = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)


def listed(module: str) -> dict[str, str]:
    """The names that a module lists, each with the module that defines it. module: the
    `__file__`."""
    text = Path(module).read_text(encoding="utf-8")
    return {name: home for home, name in LISTED.findall(text)}
