"""Templates of HTML and SVG beside the code, whose lines are joined without their indentation."""

from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any


def rendered(path: Path, *filters: Callable[..., Any], **values: Any) -> str:
    """A template with its values; filters: further ones that it knows by their names.

    Every text passes through `attribute`, which escapes it; `px` writes a length on a drawing.
    """
    return str(_template(path, filters).render(values))


def attribute(words: object) -> str:
    """Escaped, to stand between tags or quotes."""
    return escape(str(words), quote=True)


def px(value: float) -> str:
    """A length on a drawing."""
    return f"{value:.1f}"


@cache
def _template(path: Path, filters: tuple[Callable[..., Any], ...]) -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {own.__name__: own for own in (attribute, px, *filters)}
    written = path.read_text(encoding="utf-8")
    return environment.from_string("".join(map(str.strip, written.splitlines())))
