"""The message catalogue: every sentence, heading and label that Deadzone writes, in each language.

A catalogue is the TOML files of a language: `en.toml` and `ko.toml` beside this module, and those that lie beside
the code that says them (`report/sweep/shared.en.toml`, ...): sections of templates by key. A template names its values in braces, with a format where one is needed: `{change:percent}`,
`{trials:count}`, `{p:.2g}`, or a Korean particle as in `{name:은/는}`. A key with `one` and `other` is
chosen by the value `n`. Functions that explain numbers call `say(key, **values)` and thereby return data
(the key and the values) that already reads as a sentence in the language spoken.

To add a language: copy the English files, translate them, and name it in `LANGUAGES`; the tests compare the
keys and the values of all catalogues.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from deadzone.errors import ReportError, check_known
from deadzone.language import formats
from deadzone.language.formats import Template
from deadzone.visible import visible

LANGUAGES = ("en", "ko")
"""Languages with a catalogue; the first is spoken by default."""

PACKAGE = Path(__file__).resolve().parent.parent
"""The package, whose folders keep their sentences; its packs lie beside it."""

_spoken = [LANGUAGES[0]]
"""The language spoken in this process; a stack, so that `speaking` can go back."""


class Message(str):
    """A text in the language that was spoken when it was made, with the key and the values behind it.

    key: of its template, empty for messages that were joined. values: by name; numbers, texts or messages.
    It is a string wherever a string is wanted.
    """

    key: str
    values: Mapping[str, Any]
    language: str

    def __new__(cls, key: str, values: Mapping[str, Any], language: str | None = None) -> Message:
        """The message of a key, written in a language (default: the one spoken)."""
        language = language or spoken()
        made = super().__new__(cls, _written(key, values, language))
        made.key, made.values, made.language = key, dict(values), language
        return made

    def __getnewargs__(self) -> tuple[str, Mapping[str, Any], str]:  # type: ignore[override]
        return self.key, self.values, self.language

    def translated(self, language: str) -> Message:
        """The same message in another language; numbers that were written out before stay as they are."""
        values = {name: _translated(value, language) for name, value in self.values.items()}
        return Message(self.key, values, language)


def say(key: str, **values: Any) -> Message:
    """The message of a key in the language spoken. Raises ReportError if no catalogue has the key."""
    return Message(key, values)


def written(template: str | Mapping[str, str], values: Mapping[str, Any]) -> str:
    """A template that stands in no catalogue, or the one of the language spoken, with its values."""
    entry = template if isinstance(template, str) else template[spoken()]
    return Template(spoken()).vformat(entry, (), values)


def join(parts: Sequence[str], separator: str = " ") -> Message:
    """Messages in a row as one; empty ones are left out."""
    return Message("", {"parts": tuple(part for part in parts if part), "separator": separator})


def term(section: str, word: str, default: str | None = None, n: float | None = None) -> str:
    """A word by itself, such as a unit or the name of a column, or `default` (the word) where none is known.

    n: how many there are, where the word has a plural.
    """
    entry = catalogue(spoken()).get(f"{section}.{word}")
    if entry is None:
        return word if default is None else default
    return entry if isinstance(entry, str) else entry["one" if n == 1 and "one" in entry else "other"]


def speak(language: str) -> None:
    """Write everything from here on in a language. Raises ReportError if there is no catalogue for it."""
    said = f"There is no report in the language {language!r}"
    check_known(ReportError, said, language, LANGUAGES, "Languages are")
    _spoken[-1] = language


def spoken() -> str:
    """The language spoken: `en` or `ko`."""
    return _spoken[-1]


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language for as long as the context lasts."""
    _spoken.append(spoken())
    try:
        speak(language)
        yield
    finally:
        _spoken.pop()


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


def tenths(fraction: float) -> str:
    """A share in percent with one decimal, as the documents print their changes: `31.8 %`."""
    return formats.tenths(fraction, spoken())


def keys_of(section: str) -> tuple[str, ...]:
    """The keys of a section, as they are written in the files."""
    return tuple(key.partition(".")[2] for key in catalogue(LANGUAGES[0]) if key.startswith(f"{section}."))


def _written(key: str, values: Mapping[str, Any], language: str) -> str:
    if not key:
        return str(values["separator"]).join(map(visible, values["parts"]))
    try:
        entry = catalogue(language)[key]
    except KeyError:
        raise ReportError(f"The catalogue of the language {language!r} has no message {key!r}.") from None
    if isinstance(entry, dict):
        entry = entry["one" if values.get("n") == 1 and "one" in entry else "other"]
    return Template(language).vformat(entry, (), values)


def _translated(value: Any, language: str) -> Any:
    if isinstance(value, Message):
        return value.translated(language)
    return tuple(_translated(part, language) for part in value) if isinstance(value, tuple) else value
