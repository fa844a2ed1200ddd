"""What a notebook cell shows in a report: prose, tables and figures, each as accessible HTML."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as MatplotlibFigure


@dataclass(frozen=True)
class Prose:
    """Paragraphs, optionally under a heading (level 1 for the title, 2 for a section)."""

    paragraphs: tuple[str, ...]
    heading: str = ""
    level: int = 2
    kind: str = ""

    def _repr_html_(self) -> str:
        heading = ""
        if self.heading:
            anchor = re.sub(r"[^a-z0-9]+", "-", self.heading.lower()).strip("-")
            heading = f'<h{self.level} id="{anchor}">{html.escape(self.heading)}</h{self.level}>'
        body = "".join(f"<p>{html.escape(text)}</p>" for text in self.paragraphs)
        return f'<div class="dz-prose{" dz-" + self.kind if self.kind else ""}">{heading}{body}</div>'

    def __repr__(self) -> str:
        return "\n".join([self.heading, *self.paragraphs]).strip()


@dataclass(frozen=True, eq=False)
class Table:
    """A table of ready texts with a caption; columns named in `numeric` are set to the right."""

    frame: pd.DataFrame
    caption: str
    numeric: Sequence[str] = ()

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col"{self._side(name)}>{html.escape(str(name))}</th>' for name in self.frame.columns
        )
        rows = "".join(self._row(values) for values in self.frame.itertuples(index=False))
        return (
            f'<figure class="dz-table"><figcaption>{html.escape(self.caption)}</figcaption><div class="dz-scroll" '
            f'tabindex="0" role="region" aria-label="{html.escape(self.caption)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></figure>"
        )

    def _row(self, values: Sequence[object]) -> str:
        names = list(self.frame.columns)
        first = f'<th scope="row"{self._side(names[0])}>{html.escape(str(values[0]))}</th>'
        rest = (
            f"<td{self._side(n)}>{html.escape(str(v))}</td>"
            for n, v in zip(names[1:], values[1:], strict=True)
        )
        return f"<tr>{first}{''.join(rest)}</tr>"

    def _side(self, name: object) -> str:
        return ' class="dz-number"' if name in self.numeric else ""

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.frame.to_string(index=False)}"


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG with a caption, and a description for readers who do not see it."""

    svg: str
    caption: str
    description: str

    @classmethod
    def of(cls, drawing: MatplotlibFigure, caption: str, description: str) -> Figure:
        """Take a matplotlib figure; the same figure always gives the same bytes."""
        import matplotlib as mpl
        import matplotlib.pyplot as plt

        from deadzone.style import RC_PARAMS

        buffer = io.StringIO()
        with mpl.rc_context(RC_PARAMS):
            drawing.savefig(
                buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
            )
        plt.close(drawing)
        svg = buffer.getvalue()
        return cls(svg[svg.index("<svg") :], caption, description)

    def _repr_html_(self) -> str:
        label = html.escape(self.description, quote=True)
        drawing = self.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        return f'<figure class="dz-figure">{drawing}<figcaption>{html.escape(self.caption)}</figcaption></figure>'

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.description}"
