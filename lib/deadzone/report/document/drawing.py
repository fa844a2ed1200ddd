"""Matplotlib figures in the project's style, and as SVG: the same figure always gives the same
bytes.

The Korean letters of figures and PDFs are in neither matplotlib's nor Typst's own fonts: a package
of the extra [notebooks] carries them, so a report looks the same on every machine. Pages take them
from their reader's system.
"""

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadzone.language.messages import speak
from deadzone.style import RC_PARAMS, WIDTH_IN, figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "image/svg+xml"
"""The type under which a notebook holds a drawing."""


@contextmanager
def new_figure(height_in: float, rows: int = 1, **more: Any) -> "Iterator[tuple[Figure, Any]]":
    """A figure to draw in the project's style, with its axes; more: options of `plt.subplots`."""
    import matplotlib.pyplot as plt

    with figure_style():
        yield plt.subplots(rows, 1, figsize=(WIDTH_IN, height_in), layout="constrained", **more)


def svg_of(drawing: "Figure") -> str:
    """The drawing as SVG; the figure is closed."""
    import matplotlib.pyplot as plt

    _find_letters(drawing)
    buffer = io.StringIO()
    with figure_style():
        drawing.savefig(
            buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
    plt.close(drawing)
    svg = buffer.getvalue()
    return compacted(numbered(svg[svg.index("<svg") :]))


def compacted(svg: str) -> str:
    """A drawing as SVG in half the bytes: paths on one line with hundredths of a point, no
    comments."""

    def rounded(path: re.Match[str]) -> str:
        return re.sub(r"(\.\d\d)\d+", r"\1", " ".join(path[0].split()))

    return re.sub(r'(?<= d=")[^"]*', rounded, re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL))


def numbered(svg: str) -> str:
    """A drawing of matplotlib whose ids follow their order: they were made from the last bits of
    what they name, in which the solver of the layout ends apart from one process to the next.
    """
    made = dict.fromkeys(re.findall(r'\bid="([A-Za-z]+[0-9a-f]{10})"', svg))
    for position, identity in enumerate(made):
        svg = svg.replace(identity, f"{identity[:-10]}{position}")
    return svg


def _find_letters(drawing: "Figure") -> None:
    """Give Korean letters in a drawing a font that has them."""
    from matplotlib.text import Text

    for text in drawing.findobj(Text):
        assert isinstance(text, Text)
        if KOREAN.search(text.get_text()):
            use_in_figures()
            text.set_fontfamily(RC_PARAMS["font.family"])


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

    # It takes the bold face for a semibold one, and would say so below a figure.
    logging.getLogger(font_manager.__name__).setLevel(logging.ERROR)
    for name in (f"{FAMILY}.ttf", f"{FAMILY}Bold.ttf"):
        font_manager.fontManager.addfont(str(font_folder() / name))
    RC_PARAMS["font.family"] = [*RC_PARAMS["font.family"], FAMILY]
