"""Templates: arguments in which {name} stands for a factor's level or a folder."""

import re
import string
from collections.abc import Mapping
from typing import Any

from deadzone.errors import StudyError, did_you_mean
from deadzone.study.levels import Level, format_level

NAME = re.compile(r"[a-z][a-z0-9_]*")


def placeholders(template: str) -> tuple[str, ...]:
    """Names in braces in a template; doubled braces are plain text.

    Raises ValueError, with the remedy, if its braces mean nothing.
    """
    remedy = "; a placeholder is {name}, and braces for the program are doubled: {{ and }}"
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"is {template!r}, with a single brace{remedy}") from error
    for _, name, form, conversion in parts:
        if name is not None and (form or conversion or not NAME.fullmatch(name)):
            raise ValueError(f"is {template!r}, where {{{name}}} is no name{remedy}")
    return tuple(name for _, name, _, _ in parts if name is not None)


def fill(template: str, values: Mapping[str, Level]) -> str:
    """Replace {name} by its value.

    Raises StudyError for a name that has none.
    """
    for name in placeholders(template):
        if name not in values:
            known = ", ".join(values)
            raise StudyError(
                f"{{{name}}} in {template!r} is no factor.{did_you_mean(name, values)} Known: {known}."
            )
    return template.format_map({name: format_level(level) for name, level in values.items()})


def filled(value: Any, values: Mapping[str, Level]) -> Any:
    """A value of JSON with the placeholders in its texts filled in; keys stay as they are. Raises StudyError as `fill`."""
    if isinstance(value, str):
        return fill(value, values)
    if isinstance(value, dict):
        return {name: filled(part, values) for name, part in value.items()}
    return type(value)(filled(part, values) for part in value) if isinstance(value, list | tuple) else value
