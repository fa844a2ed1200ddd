"""The Korean letters of figures and PDFs, which neither matplotlib's nor Typst's own fonts have: a
package of the extra [notebooks] carries them, so a report looks the same on every machine. Pages
take them from their reader's system.
"""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from deadzone.language.messages import speak
from deadzone.style import RC_PARAMS

FONT_PACKAGE, FAMILY = "koreanize_matplotlib", "NanumGothic"
"""The dependency that carries the font (SIL Open Font License); its code is never imported."""

KOREAN = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
"""Korean letters, in any text: a study may have a Korean title in an English report."""


def font_folder() -> Path:
    """Where the font's files lie."""
    spec = find_spec(FONT_PACKAGE)
    return Path(spec.origin or "").parent / "fonts" if spec else Path(FONT_PACKAGE)


def use_language(lang: str) -> None:
    """Write everything from here on in a language, figures too.

    lang: `en` or `ko`. Raises ReportError if the language is unknown.
    """
    speak(lang)
    if lang == "ko":
        use_in_figures()


@cache
def use_in_figures() -> None:
    """Let figures draw letters that their usual font lacks with this one."""
    from matplotlib import font_manager

    for name in (f"{FAMILY}.ttf", f"{FAMILY}Bold.ttf"):
        font_manager.fontManager.addfont(str(font_folder() / name))
    RC_PARAMS["font.family"] = [*RC_PARAMS["font.family"], FAMILY]
