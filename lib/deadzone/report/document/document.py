"""An executed notebook as a document: its blocks in order, numbered, with what their evidence
points to.

Page and PDF are both made from this, so that they say the same and number it alike. The cell that
shows the verdict comes first and cells tagged `appendix` last, each with the Markdown before it; a
notebook without a verdict keeps its order. Markdown whose cells all show nothing is left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deadzone.errors import ReportError
from deadzone.language.messages import N_, _, say, speaking
from deadzone.language.tabling import Layout
from deadzone.report.document.display import (
    Block,
    Figure,
    Names,
    Notes,
    Prose,
    Regression,
    Table,
    Title,
    Verdict,
    section,
)
from deadzone.report.document.html import TEMPLATES, anchor, unbroken
from deadzone.report.document.outputs import (
    Markdown,
    Part,
    is_above,
    is_captioned,
    last_comment,
    last_heading,
    opening_heading,
    part_of,
    without_last_paragraph,
    without_title,
)

PARAMETERS_TABLE = Layout(
    columns={N_("parameter"): "{name}", N_("value"): "{value}"},
    caption=N_("What the notebook was given for this report."),
)

NOTEBOOK_ONLY = "notebook-only"
"""Tag of a cell that guides through the notebook, or looks at the data, and is no part of the
report."""

APPENDIX = "appendix"
"""Tag of a cell that is for those who look things up: it comes last."""

PARAMETERS = "parameters"
"""Tag of the cell with a notebook's defaults."""


@dataclass(frozen=True, eq=False)
class Document:
    """A report before it is written in a format.

    title: its head. parts: in order, the title first. names: numbers and anchors. language: of the
    texts. files: names of the files published beside the report.
    """

    title: Title
    parts: tuple[Part, ...]
    names: Names
    language: str
    files: tuple[str, ...] = ()

    @property
    def face(self) -> Figure | None:
        """The figure that stands for the report in the index, the first; None if it has none."""
        return next((part for part in self.parts if isinstance(part, Figure)), None)


def read_notebook(path: Path) -> Any:
    """A notebook as nbformat reads it. Raises ReportError if the file is none."""
    import nbformat

    try:
        return nbformat.read(str(path), as_version=4)
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read as a notebook: {error}.") from error


def document_of(
    notebook: Any, files: Sequence[str] = (), head: Mapping[str, Any] = MappingProxyType({})
) -> Document:
    """The document of an executed notebook. files: names of the files published beside the report.

    Its head is the `Title` that a cell shows, else the first heading of level 1 with the paragraph
    below it; without a verdict the first sentence that a cell computed stands for the report in the
    index. head: fields of the title that the notebook does not know.

    Raises ReportError if a cell failed: a report of a failed notebook would be half a report.
    """
    words, cells = _headed([cell for cell in notebook.cells if cell["cell_type"] != "raw"])
    chapters = _with_content([_chapter(guide, cell) for guide, cell in _paired(cells)])
    # the verdict first, appendices last
    in_order = sorted(chapters, key=lambda chapter: chapter.place)
    parts = [part for chapter in in_order for part in chapter.parts]
    title = next((part for part in parts if isinstance(part, Title)), None)
    verdict = next((part for part in parts if isinstance(part, Verdict)), None)
    title = title or (
        verdict.head(*words) if verdict else Title(*words, verdict=_computed(chapters))
    )
    title = replace(title, **head)
    shown = [part for part in parts if not isinstance(part, Title)]
    parts = [title, *_captioned(shown, title.title)]
    with speaking(title.language):
        parts += _parameters(notebook)
        names = Names(parts, files)
        parts += [Notes(names.evidence, _("Evidence"))] if names.evidence else []
    return Document(title, tuple(parts), names, title.language, tuple(files))


def _captioned(parts: Iterable[Part], heading: str) -> Iterator[Part]:
    """The parts; a figure or table without a caption takes the heading that it stands below."""
    for part in parts:
        if isinstance(part, Markdown):
            heading = last_heading(part.source) or heading
        elif isinstance(part, Figure | Table | Regression) and not part.caption:
            part = replace(part, caption=heading)
        yield part


@dataclass(frozen=True)
class _Chapter:
    """A code cell with the Markdown cell before it.

    guide: what the Markdown says. shown: what the cell shows. begins: whether there is a Markdown
    cell. has_code: whether there is a code cell that may show something. place: -1 for the verdict,
    1 for an appendix, else 0.
    """

    guide: str
    shown: tuple[Part, ...]
    begins: bool
    has_code: bool
    place: int = 0

    @property
    def parts(self) -> tuple[Part, ...]:
        """The Markdown, if any, and what the cell shows."""
        return (*([Markdown(self.guide)] if self.guide.strip() else []), *self.shown)


def _computed(chapters: Iterable[_Chapter]) -> str:
    """The first paragraph in Markdown that a cell computed, without its emphasis; empty without
    any."""
    shown = (part for chapter in chapters for part in chapter.shown if isinstance(part, Markdown))
    return next((part.source.partition("\n\n")[0].strip("*") for part in shown), "")


def _headed(cells: Sequence[Any]) -> tuple[tuple[str, str], list[Any]]:
    """The title and subtitle that the first heading of level 1 makes, and the cells without
    them."""
    for i, cell in enumerate(cells):
        title, rest = without_title(cell.source) if cell.cell_type == "markdown" else ("", "")
        if title:
            first, _, more = rest.partition("\n\n")
            _, subtitle = without_last_paragraph(first)
            left = {**cell, "source": more if subtitle else rest}
            return (title, subtitle), [*cells[:i], left, *cells[i + 1 :]]
    return ("Report", ""), [*cells]


def _paired(cells: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each code cell with the Markdown cell right before it; None stands for a missing one."""
    pairs: list[tuple[Any, Any]] = []
    guide: Any = None
    for cell in cells:
        is_markdown = cell["cell_type"] == "markdown"
        if guide is not None and is_markdown:
            pairs.append((guide, None))
        if not is_markdown:
            pairs.append((guide, cell))
        guide = cell if is_markdown else None
    return pairs if guide is None else [*pairs, (guide, None)]


def _chapter(guide: Any, cell: Any) -> _Chapter:
    """What a report shows of a cell and the Markdown before it, whose last paragraph may caption a
    table or figure."""
    tags = {tag for item in (guide, cell) if item for tag in item["metadata"].get("tags", [])}
    is_stated = _is_stated(guide)
    source = guide["source"] if is_stated else ""
    outputs = cell.get("outputs", ()) if _is_stated(cell) else ()
    caption = last_comment(cell["source"]) if cell else ""
    if not caption and any(map(is_captioned, outputs)):
        source, caption = without_last_paragraph(source)
    parts = (
        part_of(output, caption or last_heading(guide["source"] if is_stated else ""))
        for output in outputs
    )
    shown = tuple(part for part in parts if part is not None)
    has_code = _is_stated(cell) and PARAMETERS not in tags
    place = -1 if any(isinstance(part, Verdict) for part in shown) else int(APPENDIX in tags)
    return _Chapter(source, shown, guide is not None, has_code, place)


def _with_content(chapters: Sequence[_Chapter]) -> list[_Chapter]:
    """The chapters, without the Markdown whose cells all show nothing; its heading goes on to the
    next Markdown below it. The first Markdown is of the whole notebook and stays."""
    kept: list[_Chapter] = []
    heading = ""
    for i, chapter in enumerate(chapters):
        rest = takewhile(lambda after: not after.begins, chapters[i + 1 :])
        cells = [chapter, *rest] if chapter.begins and i else []
        is_shown = chapter.place < 0 or any(cell.shown for cell in cells if cell.place >= 0)
        if not is_shown and any(cell.has_code for cell in cells):
            heading = opening_heading(chapter.guide) or heading
            chapter = replace(chapter, guide="")
        elif heading and chapter.begins and chapter.parts:
            if not _begins_with(chapter, heading):
                chapter = replace(chapter, guide=f"{heading}\n\n{chapter.guide}".strip())
            heading = ""
        kept.append(chapter)
    return kept


def _begins_with(chapter: _Chapter, heading: str) -> bool:
    """Whether a chapter begins with a heading, of Markdown or of a block, of the level of another
    or of a higher one."""
    first = chapter.shown[0] if chapter.shown else None
    own = f"{'#' * first.level} {first.heading}" if isinstance(first, Prose) else ""
    return is_above(chapter.guide or own, heading)


def _is_stated(cell: Any) -> bool:
    """Whether there is a cell, and it is part of the report."""
    return cell is not None and NOTEBOOK_ONLY not in cell["metadata"].get("tags", [])


def _parameters(notebook: Any) -> list[Part]:
    """The exact parameters that papermill was given."""
    given = notebook.metadata.get("papermill", {}).get("parameters", {})
    rows = [{"name": name, "value": value} for name, value in given.items()]
    table = Table.of(PARAMETERS_TABLE, rows, "parameters")
    return [section(_("Parameters"), "parameters"), table] if rows else []


FILES = {
    "report.pdf": N_("PDF"),
    "report.ipynb": N_("notebook"),
    "trials.parquet": N_("trials", context="file"),
}


WORDS = {
    "contents": N_("Contents"),
    "skip": N_("Skip to the report"),
    "files": N_("Files"),
}


HEADING = re.compile(r'<h2 id="([^"]+)"[^>]*>(.*?)</h2>', re.DOTALL)


def page(document: Document, links: Mapping[str, str] = MappingProxyType({})) -> str:
    """The page of a document; the same document always gives the same page.

    links: what the page links to besides the document's files, address to text.
    """
    from jinja2 import Environment, FileSystemLoader

    frame = Environment(loader=FileSystemLoader(TEMPLATES / "deadzone"))
    with speaking(document.language):
        parts = [part_html(part, document) for part in document.parts]
        return frame.get_template("index.html.j2").render(
            lang=document.language,
            page_title=document.title.title,
            description=document.title.verdict or document.title.subtitle,
            parts=parts,
            contents=[
                {"anchor": identity, "text": plain(text)}
                for identity, text in HEADING.findall("".join(parts))
            ],
            files={**{name: say(FILES[name]) for name in document.files}, **links},
            words={key: say(text) for key, text in WORDS.items()},
        )


def part_html(part: Part, document: Document) -> str:
    """One part of a document as HTML."""
    if isinstance(part, Block):
        return part.html(document.names)
    if isinstance(part, Markdown):
        return markdown_html(part.source)
    if part.html:  # as wide as it is, so that it scrolls and the page does not
        return f'<div class="dz-scroll" tabindex="0">{part.html}</div>'
    return f'<pre tabindex="0">{escape(part.text)}</pre>'


def markdown_html(source: str) -> str:
    """Markdown as HTML, its headings with anchors like those of blocks."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Renderer(IPythonRenderer):
        def heading(self, text: str, level: int, **attrs: Any) -> str:
            return f'<h{level} id="{anchor(plain(text))}">{text}</h{level}>'

        def text(self, text: str) -> str:
            return str(super().text(unbroken(text)))

    return str(MarkdownWithMath(renderer=Renderer(escape=True)).render(source))


def plain(text: str) -> str:
    """HTML without its tags, as a reader sees it."""
    return unescape(re.sub(r"<[^>]+>", "", text))
