"""Matplotlib figures in the project's style, and as SVG: the same figure always gives the same
bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deadzone.style import HOVER, WIDTH_IN, figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "image/svg+xml"
"""The type under which a notebook holds a drawing."""

PLACE_DIGITS = 4
"""Digits kept of the place of axes, as a share of the figure: a tenth of a point."""


@contextmanager
def new_figure(height_in: float, rows: int = 1, **more: Any) -> Iterator[tuple[Figure, Any]]:
    """A figure to draw in the project's style, with its axes; more: options of `plt.subplots`."""
    import matplotlib.pyplot as plt

    with figure_style():
        yield plt.subplots(rows, 1, figsize=(WIDTH_IN, height_in), layout="constrained", **more)


def svg_of(drawing: Figure) -> str:
    """The drawing as SVG; the figure is closed."""
    import matplotlib.pyplot as plt

    _find_letters(drawing)
    _settle(drawing)
    buffer = io.StringIO()
    with figure_style():
        drawing.savefig(
            buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
    plt.close(drawing)
    svg = buffer.getvalue()
    return compacted(_with_titles(svg[svg.index("<svg") :]))


def _with_titles(svg: str) -> str:
    """Links that stand for what a mark is become titles, which browsers show to who points at it,
    without a script."""
    return re.sub(
        rf'<a xlink:href="{HOVER}([^"]*)"[^>]*>(.*?)</a>',
        r"<g><title>\1</title>\2</g>",
        svg,
        flags=re.DOTALL,
    )


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


def _settle(drawing: Figure) -> None:
    """Fix the places of the axes, rounded.

    The solver of the layout ends a few last bits apart from one process to the next, and the ids
    within an SVG are made from such numbers.
    """
    if engine := drawing.get_layout_engine():
        engine.execute(drawing)
    drawing.set_layout_engine("none")
    for ax in drawing.axes:
        x, y, width, height = (round(value, PLACE_DIGITS) for value in ax.get_position().bounds)
        ax.set_position((x, y, width, height))


def _find_letters(drawing: Figure) -> None:
    """Give Korean letters in a drawing a font that has them; without one they are written as
    question marks."""
    from matplotlib.text import Text

    from deadzone.report.document.fonts import (
        KOREAN,
        family_of,
        korean_font,
        needs_korean,
        use_in_figures,
    )
    from deadzone.style import RC_PARAMS

    font = None
    for text in drawing.findobj(Text):
        assert isinstance(text, Text)
        if not needs_korean(text.get_text()):
            continue
        font = font or korean_font()
        if font is None:
            text.set_text(KOREAN.sub("?", text.get_text()))
        elif family_of(font) not in text.get_fontfamily():
            use_in_figures(font)
            text.set_fontfamily(RC_PARAMS["font.family"])
