"""Docstrings of the project for Sphinx: lines such as `knob: column of the levels` become a list of
the parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx


def parameters(subject: object) -> set[str]:
    """The names that a docstring may explain."""
    try:
        return set(inspect.signature(subject).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return set()


def listed(paragraph: str, names: set[str]) -> list[str]:
    """A paragraph, or the list of the parameters that it explains, each with its text."""
    parts = re.split(r"(?:^|(?<=[.;] ))((?:\w+, )*\w+): ", paragraph)
    kept, text = [], parts[0]
    for label, said in zip(parts[1::2], parts[2::2], strict=True):
        if set(label.split(", ")) <= names:
            kept.append(text)
            text = f"- **{label}**: {said}"
        else:
            text += f"{label}: {said}"
    return [part.strip() for part in [*kept, text] if part.strip()]


def arranged(lines: list[str], names: set[str]) -> Iterator[str]:
    """A docstring's lines, its paragraphs joined and its parameters listed; examples stay as they
    are."""
    for paragraph in "\n".join(lines).split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            yield from (*paragraph.splitlines(), "")
        else:
            for part in listed(" ".join(paragraph.split()), names):
                yield from (part, "")


def process(
    _app: Sphinx, _what: str, _name: str, subject: object, _options: Any, lines: list[str]
) -> None:
    """Called by autodoc for each docstring."""
    lines[:] = list(arranged(lines, parameters(subject)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
