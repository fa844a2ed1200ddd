"""An analysis as a terminal shows it: the curve, a line a phase, the setting and how sure it is, every doubt."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.picture import picture
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.surfaces.wording import sentences
from deadzone.language.catalogue import say
from deadzone.reports.sweep import prose
from deadzone.reports.sweep.analysis import Analysis, analyse
from deadzone.reports.sweep.source import load_source
from deadzone.store.run import Run
from deadzone.visible import visible


@dataclass(frozen=True)
class Terminal:
    """What a terminal can show. width: in characters. coloured: it knows 256 colours. plain: ASCII alone."""

    width: int
    coloured: bool
    plain: bool

    def curve(self, model: PhaseModel, advice: Recommendation) -> str:
        """The picture of a phase model."""
        return picture(model, advice, self.width, coloured=self.coloured, plain=self.plain)

    def paragraph(self, text: str, indent: str = "") -> str:
        """A text in lines that fit."""
        return "\n".join(
            textwrap.wrap(visible(text), self.width, subsequent_indent=indent, break_long_words=False)
        )


def terminal_of(stream: TextIO, quiet: bool = False) -> Terminal | None:
    """The terminal behind a stream; None for a pipe or a file, and where nothing is to be drawn.

    Colour follows NO_COLOR (no-color.org) and TERM; ASCII is for encodings that have no other characters.
    """
    if quiet or not stream.isatty():
        return None
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    encoding = (stream.encoding or "ascii").lower().replace("-", "")
    return Terminal(
        width=shutil.get_terminal_size().columns,
        coloured=not dumb and not os.environ.get("NO_COLOR"),
        plain=dumb or not encoding.startswith("utf"),
    )


def drawn(quiet: bool, model: PhaseModel, advice: Recommendation) -> list[str]:
    """The picture of a model, if standard output is a terminal and somebody wants to see it; else nothing."""
    terminal = terminal_of(sys.stdout, quiet)
    return [terminal.curve(model, advice), ""] if terminal else []


def drawn_of(run: Run, quiet: bool) -> list[str]:
    """The curves of a run, where phases are fitted to it and there is a terminal to draw them in."""
    from deadzone.reports.document.publishing import PHASES

    if quiet or not sys.stdout.isatty() or run.study().analysis_notebook != PHASES:
        return []
    found = analyse(load_source(str(run.folder)))
    curves = [
        text for one in found for text in (visible(one.name), *drawn(quiet, one.model, one.advice)) if text
    ]
    return [*curves, *sentences(found.surface)]


def in_terminal(analysis: Analysis, terminal: Terminal | None) -> str:
    """The analysis in text; with the curve of each slice where there is a terminal to draw it in."""
    return "\n".join(_lines(analysis, terminal))


def _lines(analysis: Analysis, terminal: Terminal | None) -> Iterator[str]:
    wide = terminal or Terminal(10_000, False, False)
    for finding in analysis.findings:
        yield wide.paragraph(str(finding), "  ")
    for one in analysis:
        if one.name:
            yield visible(f"{one.name}:")
        if terminal:
            yield terminal.curve(one.model, one.advice)
            yield ""
        for paragraph in prose.phases_in_words(one).paragraphs:
            yield wide.paragraph(str(paragraph), "  ")
        yield ""
    for said in sentences(analysis.surface):
        yield wide.paragraph(said, "  ")
    if analysis.advice is None:
        yield wide.paragraph(say("report.no_fit_because", reason=analysis.problem))
    else:
        yield wide.paragraph(say("terminal.setting", reason=analysis.advice.reason), "  ")
    doubts = [*analysis.source.doubts, *(analysis.advice.caveats if analysis.advice else ())]
    for doubt in dict.fromkeys([*doubts, *(said for one in analysis for said in one.model.warnings)]):
        yield wide.paragraph(say("terminal.doubt", doubt=doubt), "  ")
