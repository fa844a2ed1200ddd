"""An analysis as a terminal shows it: the curve, a line a phase, the setting and how sure it is,
every doubt."""

import os
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TextIO

from deadzone.analysis.phases.decision import chosen, is_of_trials, measured_beside
from deadzone.analysis.phases.quantities import listing
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.language.messages import Message, _, ngettext
from deadzone.report.sweep.analysis import Analysis, Slice
from deadzone.visible import visible


@dataclass(frozen=True)
class Terminal:
    """What a terminal can show. width: in characters. coloured: it knows 256 colours."""

    width: int
    coloured: bool

    def paragraph(self, text: str, indent: str = "", most_lines: int | None = None) -> str:
        """A text in lines that fit, cut where it takes more than it may."""
        return textwrap.fill(
            visible(text),
            self.width,
            subsequent_indent=indent,
            max_lines=most_lines,
            placeholder=" ...",
        )


def terminal_of(stream: TextIO) -> Terminal | None:
    """The terminal behind a stream; None for a pipe or a file, and where no picture can be written:
    where TERM is dumb or the encoding is none of Unicode.

    Colour follows NO_COLOR (no-color.org).
    """
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    if not stream.isatty() or is_dumb or not (stream.encoding or "").lower().startswith("utf"):
        return None
    return Terminal(
        width=shutil.get_terminal_size().columns,
        coloured=not os.environ.get("NO_COLOR"),
    )


MOST_LIMITS = 3
"""Phases of which the answer says what limits them; the rest is counted."""

DOUBT_LINES = (2, 1, 1)
"""Lines of each doubt that the answer holds, so that it fits below its picture on a screen; the
rest is counted."""


def in_terminal(
    analysis: Analysis,
    terminal: Terminal | None,
    details: bool = False,
    quiet: bool = False,
    most_rows: int | None = None,
) -> str:
    """The answer of an analysis in text, with the curve of each slice where there is a terminal to
    draw it in.

    details: every sentence, in place of the setting with the first of its limits and doubts. quiet:
    the setting, what its trials say beside its curve, and the doubts alone. most_rows: of a table
    of the details, by default all.
    """
    wide = terminal or Terminal(10_000, False)
    if details:
        beside = (*analysis.further(), *_doubts(analysis))
        told = _answer(analysis, wide), *(wide.paragraph(one, "  ") for one in beside)
        whole = tuple(_details(analysis, terminal, wide, most_rows))
        # the end of what scrolls by, and the beginning of a file
        return "\n".join(whole + told if terminal else told + whole)
    curves = [] if quiet or terminal is None else [curve_lines(part, terminal) for part in analysis]
    return "\n".join(
        [
            *chain(*curves),
            _answer(analysis, wide, have_settings=bool(curves)),
            *(wide.paragraph(said, "  ") for said in _by_the_curve(analysis)),
            *(() if quiet else _limits(analysis, wide)),
            *_first_doubts(analysis, wide),
        ]
    )


def _answer(analysis: Analysis, wide: Terminal, have_settings: bool = False) -> str:
    """The setting, or why there is none; and that of each slice, unless its curve has it."""
    if analysis.stopped or analysis.is_unconfirmed:
        return wide.paragraph(analysis.problem)
    if analysis.advice is None:
        return wide.paragraph(_("No phases could be fitted: {reason}", reason=analysis.problem))
    alone = have_settings and len(analysis.slices) == len(analysis.in_each_slice)
    return wide.paragraph(analysis.advice.reason if alone else analysis.verdict, "  ")


def _by_the_curve(analysis: Analysis) -> Iterator[Message]:
    """What the curve and its own trials say of the setting, where these differ by more than what is
    told apart."""
    advice, answer = analysis.advice, analysis.answer
    if advice and answer and advice.setting is not None:
        row, measured, table = advice.chosen, advice.chosen["measured"], answer.candidates.table
        is_it = table["setting"].map(lambda setting: setting == advice.setting)
        is_apart = abs(row["estimate"] - measured) > PRACTICAL_TOLERANCE * abs(measured)
        if is_apart and (is_it & table["on_curve"]).any():
            yield measured_beside(row, advice.quantity, advice.unit)


def _first_doubts(analysis: Analysis, wide: Terminal) -> Iterator[str]:
    found = (*analysis.further("stops", "doubts"), *analysis.left_out, *_doubts(analysis))
    doubts = [*dict.fromkeys(found)]
    for doubt, lines in zip(doubts, DOUBT_LINES, strict=False):
        yield wide.paragraph(doubt, "  ", lines)
    if more := len(doubts[len(DOUBT_LINES) :]):
        yield ngettext("{n} more doubt: --details", "{n} more doubts: --details", n=more)


def curve_lines(part: Slice, terminal: Terminal | None) -> Iterator[str]:
    """The name of a slice with its setting, where it has a name, and its curve, where there is a
    terminal to draw it in."""
    if part.name:
        setting = None if part.advice.setting is None else part.advice.chosen
        yield visible(f"{part.name}: {chosen(setting, part.advice.quantity, part.advice.unit)}")
    if terminal:
        from deadzone.analysis.phases.picture import picture

        yield picture(part.model, part.advice, terminal.width, coloured=terminal.coloured)
        yield ""


def _limits(analysis: Analysis, wide: Terminal) -> Iterator[str]:
    """What limits the phases, a line each; nothing where the trials do not tell."""
    part = analysis.slices[0] if len(analysis.slices) == 1 else None
    if part is None or part.why is None:
        return
    from deadzone.report.sweep import prose

    claims = prose.limiting(part)
    for claim in claims[:MOST_LIMITS]:
        yield wide.paragraph(str(claim), "  ", 1)
    if more := len(claims[MOST_LIMITS:]):
        yield ngettext("{n} more phase: --details", "{n} more phases: --details", n=more)


def _doubts(analysis: Analysis) -> list[str]:
    """What is doubtful beside the findings, each once, with the slices that it is about unless it
    is about all of them."""
    general = (*analysis.source.doubts, *analysis.caveats)
    doubts: dict[str, list[str]] = {doubt: [] for doubt in general}
    for part in analysis:
        for warning in part.model.warnings:
            doubts.setdefault(warning, []).append(part.name)
    told = {
        doubt: f"{listing(names)}: {doubt}" if 0 < len(names) < len(analysis.slices) else doubt
        for doubt, names in doubts.items()
    }
    return [
        own if is_of_trials(doubt) else _("Doubt: {doubt}", doubt=own)
        for doubt, own in told.items()
    ]


def _details(
    analysis: Analysis, terminal: Terminal | None, wide: Terminal, most_rows: int | None
) -> Iterator[str]:
    """Each curve with its tables, and the settings where one curve has not all."""
    from deadzone.analysis.page import Page
    from deadzone.analysis.phases.candidates import places
    from deadzone.analysis.phases.summary import shape, summarise
    from deadzone.analysis.settings.wording import page

    for part in analysis:
        yield from curve_lines(part, terminal)
        summary = summarise(part.model, part.advice)
        yield Page(summary.title, summary.sections, {}).text(most_rows)
        if part.advice.setting in places(part.model):
            about = part.advice.quantity, part.advice.unit
            yield wide.paragraph(measured_beside(part.advice.chosen, *about), "  ")
        if told := shape(part.model):
            yield wide.paragraph(told, "  ")
        if "threads_s" in part.source.trials:
            from deadzone.report.sweep.prose import why_in_words

            for claim in why_in_words(part):
                yield wide.paragraph(str(claim), "  ")
        yield ""
    answer, advice = analysis.answer, analysis.advice
    if answer and advice and not answer.is_one_curve:
        yield page(answer, advice).text(most_rows)
