"""Blocks as Typst: calls of the functions that the template `report.typ` defines, with all texts as strings.

A text is always a Typst string literal, never markup, so nothing a program printed can become code.
"""

import re
from collections.abc import Iterable, Sequence

from deadzone.language.catalogue import say
from deadzone.reports.document import display
from deadzone.reports.document.document import Document
from deadzone.reports.document.html import unbroken

LABEL_CHARACTERS = re.compile(r"[^\w.:-]")


def block_typst(block: display.Block, document: Document, drawings: dict[str, str]) -> str:
    """A block as Typst code. drawings: file names to SVG; the figures that the code needs are added."""
    names = document.names
    match block:
        case display.Title():
            return ""
        case display.Prose():
            said = f"#dz-prose({string(block.style)}, {_heading(block.heading, block.level)}, {_claims(block.paragraphs, names)})"
            return said + _label(block.id)
        case display.Command():
            lines = array(string(line) for line in block.lines)
            return f"#dz-command({_heading(block.heading, block.level)}, {lines}){_label(block.id)}"
        case display.Table():
            return f"#dz-table-figure({string(block.caption)}, {_grid(block, names)}){_label(names.identity(block))}"
        case display.Figure():
            identity = names.identity(block)
            file = f"{identity}.svg"
            drawings[file] = block.svg
            return f"#dz-figure({string(block.caption)}, {string(file)}, {string(block.description)}){_label(identity)}"
        case display.Regression():
            grids = array(f"({string(table.caption)}, {_grid(table, names)})" for table in block.tables)
            return f"#dz-regression({string(block.caption)}, {grids}){_label(names.identity(block))}"
    raise TypeError(f"{type(block).__name__} is no block of a report.")


def head_typst(document: Document) -> str:
    """The title block: arguments of the template's `dz-report`."""
    title = document.title
    facts = array(f"({string(name)}, {string(value)})" for name, value in title.facts)
    words = ", ".join(
        f"{name}: {string(say(key, **values))}"
        for name, key, values in (
            ("abstract", "report.abstract_head", {}),
            ("figure", "report.figure", {"n": ""}),
            ("table", "report.table", {"n": ""}),
            ("page", "report.page_of", {"page": "\u0001", "pages": "\u0002"}),
        )
    )
    return (
        f"title: {string(title.title)}, subtitle: {string(title.subtitle)}, facts: {facts}, "
        f"doubts: {array(string(doubt) for doubt in title.doubts)}, "
        f"abstract: {_claims(title.abstract, document.names)}, study: {string(title.study)}, "
        f"lang: {string(document.language)}, date: {_date(title.date)}, words: ({words})"
    )


def string(text: object) -> str:
    """A Typst string literal."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "")
    return '"' + re.sub(r"[\x00-\x08\x0b-\x1f]", lambda m: f"\\u{{{ord(m.group()):x}}}", escaped) + '"'


def _date(moment: str) -> str:
    found = re.match(r"(\d{4})-(\d\d)-(\d\d)", moment)
    if not found:
        return "none"
    year, month, day = (int(part) for part in found.groups())
    return f"datetime(year: {year}, month: {month}, day: {day})"


def array(items: Iterable[str]) -> str:
    """A Typst array of what is code already."""
    return "(" + "".join(f"{item}, " for item in items) + ")"


def _heading(text: str, level: int) -> str:
    return f"({string(text)}, {level})" if text else "none"


def _label(identity: str) -> str:
    return f" #dz-anchor({string(label_of(identity))})" if identity else ""


def label_of(identity: str) -> str:
    """A Typst label made of an id."""
    return LABEL_CHARACTERS.sub("-", identity)


def _claims(paragraphs: Sequence[display.Paragraph], names: display.Names) -> str:
    return array(_claim(paragraph, names) for paragraph in paragraphs)


def _claim(paragraph: display.Paragraph, names: display.Names) -> str:
    links = [
        f"({string(names.text(item))}, {string(label_of(item.target))}, {'true' if names.is_file(item) else 'false'})"
        for item in (paragraph.evidence if isinstance(paragraph, display.Claim) else ())
        if names.knows(item)
    ]
    return f"({string(unbroken(str(paragraph)))}, {array(links)})"


def _grid(table: display.Table, names: display.Names) -> str:
    """A table's columns, sides, rows and anchors of the rows, as a Typst dictionary."""
    base = names.identity(table)
    rows = array(array(string(cell) for cell in cells) for cells in table.rows)
    ids = array(string(label_of(f"{base}-{row_id}")) for row_id in table.row_ids)
    heads = array(string(name) for name in table.columns)
    sides = array("true" if is_right else "false" for is_right in table.is_right)
    paired = "true" if table.paired else "false"
    return f"(heads: {heads}, right: {sides}, rows: {rows}, ids: {ids}, paired: {paired})"
