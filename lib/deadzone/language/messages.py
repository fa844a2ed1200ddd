"""Sentences, headings and labels, in English where they are made, and in the language of the reader
where they are shown.

`_("{n} of {all} trials failed.", n=2, all=9)` is a `Message`: the English text and its values,
which already reads as a sentence in the language spoken. gettext knows the other languages by the
English text: `locale/ko/LC_MESSAGES/deadzone.po`, which `scripts/translations.py` keeps equal to
the code. A text without a translation is shown in English.

A text names its values in braces, with a format of `deadzone.language.formats` where one is needed:
`{change:percent}`, `{trials:count}`, `{p:number}`; a translation may give a value a Korean particle,
as in `{name:은/는}`. `ngettext` chooses the plural by the value `n`, `pgettext` tells two uses of one
English text apart. Texts of a table are marked by `N_` and said by `say`: `say(REASONS[why], n=3)`.
"""  # noqa: E501

import gettext as standard
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from deadzone.errors import ReportError, check_known
from deadzone.language.formats import Template
from deadzone.visible import visible

LANGUAGES = ("en", "ko")
"""Languages that reports are written in; the first is spoken by default, and stands in the code."""

DOMAIN, LOCALE = "deadzone", Path(__file__).resolve().parent.parent / "locale"
"""What gettext calls our sentences, and the folder of their translations."""

_spoken = [LANGUAGES[0]]
"""The language spoken in this process; a stack, so that `speaking` can go back."""


class Text(NamedTuple):
    """An English text with its values in braces. other: its plural. context: tells a text without a
    plural from the same one in another use."""

    one: str
    other: str = ""
    context: str = ""

    def translated(self, language: str, n: Any = None) -> str:
        """The text in a language, or in English where it has no translation; n: how many there are,
        of a plural."""
        known = _translations(language)
        if self.other:
            count = int(n) if isinstance(n, Integral) else 1 if n == 1 else 2
            return known.ngettext(self.one, self.other, count)
        return known.pgettext(self.context, self.one) if self.context else known.gettext(self.one)


class Message(str):
    """A text in the language that was spoken when it was made, with the English text and the values
    behind it.

    text: None for messages that were joined. values: by name; numbers, texts or messages. It is a
    string wherever a string is wanted.
    """

    text: Text | None
    values: Mapping[str, Any]
    language: str

    def __new__(
        cls, text: Text | None, values: Mapping[str, Any], language: str | None = None
    ) -> "Message":
        """The message of a text, written in a language (default: the one spoken)."""
        language = language or spoken()
        made = super().__new__(cls, _written(text, values, language))
        made.text, made.values, made.language = text, dict(values), language
        return made

    def __getnewargs__(self) -> tuple[Text | None, Mapping[str, Any], str]:  # type: ignore[override]
        return self.text, self.values, self.language

    def translated(self, language: str) -> "Message":
        """The same message in another language; numbers that were written out before stay as they
        are."""
        values = {name: _translated(value, language) for name, value in self.values.items()}
        return Message(self.text, values, language)


def _(text: str, /, **values: Any) -> Message:
    """The message of an English text in the language spoken."""
    return Message(Text(text), values)


def ngettext(one: str, other: str, /, **values: Any) -> Message:
    """The message of a text that has a plural, which the value `n` chooses."""
    return Message(Text(one, other), values)


def pgettext(context: str, text: str, /, **values: Any) -> Message:
    """The message of an English text that is translated in more than one way."""
    return Message(Text(text, context=context), values)


def N_(one: str, other: str = "", /, context: str = "") -> Text:
    """A text that is said later; marked, so that it is found for translation."""
    return Text(one, other, context)


def say(text: Text, /, **values: Any) -> Message:
    """The message of a text that was marked by `N_`, in the language spoken."""
    return Message(text, values)


def join(parts: Sequence[str], separator: str = " ") -> Message:
    """Messages in a row as one; empty ones are left out."""
    return Message(None, {"parts": tuple(part for part in parts if part), "separator": separator})


def written(template: str, values: Mapping[str, Any]) -> str:
    """A template that is the same in every language, with its values."""
    return Template(spoken()).vformat(template, (), values)


def speak(language: str) -> None:
    """Write everything from here on in a language. Raises ReportError if there is no translation to
    it."""
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
def _translations(language: str) -> standard.NullTranslations:
    """English is the text itself."""
    return standard.translation(DOMAIN, LOCALE, [language], fallback=True)


def _written(text: Text | None, values: Mapping[str, Any], language: str) -> str:
    if text is None:
        return str(values["separator"]).join(map(visible, values["parts"]))
    return Template(language).vformat(text.translated(language, values.get("n")), (), values)


def _translated(value: Any, language: str) -> Any:
    if isinstance(value, Message):
        return value.translated(language)
    return (
        tuple(_translated(part, language) for part in value) if isinstance(value, tuple) else value
    )
