"""Choosing the language of a report: Korean where a Korean font is found, else English with a
note."""

import warnings

from deadzone.language.messages import _, speak, speaking
from deadzone.report.document.display import Prose
from deadzone.report.document.fonts import korean_font, use_in_figures

KOREAN = "ko"


def language_note(lang: str) -> str | None:
    """What to tell a user who asks for a report in a language, before anything is executed; None
    if all is well.

    Raises ReportError if the language is unknown.
    """
    with speaking(lang):
        pass
    return (
        _(
            "A report in Korean was asked for, but no Korean font was found here, so it is written "
            "in English. `pip install koreanize-matplotlib` brings one, and so does fonts-noto-cjk "
            "on Debian and Ubuntu."
        )
        if lang == KOREAN and korean_font() is None
        else None
    )


def use_language(lang: str) -> Prose | None:
    """Write everything from here on in a language; a note to display where another one had to be
    taken.

    lang: `en` or `ko`.

    Raises ReportError if the language is unknown.
    """
    speak(lang)
    if lang != KOREAN:
        return None
    if font := korean_font():
        use_in_figures(font)
        return None
    speak("en")
    note = language_note(lang) or ""
    warnings.warn(note, stacklevel=2)
    return Prose((note,), style="warnings")
