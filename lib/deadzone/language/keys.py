"""The templates of sentences that stand under a key still, in `en.toml` and `ko.toml` here and beside the code."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from deadzone.errors import ReportError

PACKAGE = Path(__file__).resolve().parent.parent
"""The package, whose folders keep their sentences; its packs lie beside it."""


@cache
def catalogue(language: str) -> dict[str, str | dict[str, str]]:
    """All templates of a language by their full key, `section.name`; plural ones as dictionaries."""
    beside_code = sorted(PACKAGE.parent.glob(f"{PACKAGE.name}*/**/*.{language}.toml"))
    return {
        f"{section}.{name}": entry
        for part in (PACKAGE / "language" / f"{language}.toml", *beside_code)
        for section, entries in tomllib.loads(part.read_text(encoding="utf-8")).items()
        for name, entry in entries.items()
    }


def entry_of(key: str, values: Mapping[str, Any], language: str) -> str:
    """The template of a key. Raises ReportError if there is none."""
    try:
        entry = catalogue(language)[key]
    except KeyError:
        raise ReportError(f"The catalogue of the language {language!r} has no message {key!r}.") from None
    return (
        entry
        if isinstance(entry, str)
        else entry["one" if values.get("n") == 1 and "one" in entry else "other"]
    )
