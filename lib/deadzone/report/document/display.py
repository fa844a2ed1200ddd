"""What a notebook cell shows in a report: the display contract between notebooks, the page and the
PDF.

A cell displays *blocks*: `Title`, `Prose`, `CommandBlock`, `Table`, `Figure`, `Regression`. Each
block goes into the executed notebook as one MIME bundle of three forms:

- `application/vnd.deadzone.block+json` (`MIME`): the block itself as data. Page and PDF are made
  from this alone: `block_of` reads the block back, `Names` numbers figures and tables over the
  whole notebook and resolves evidence; `html` and `typst` then write them.
- `text/html`: the same for a reader of the notebook itself (JupyterLab, GitHub), without
  numbers.
- `text/plain`: for a terminal.

A figure's drawing stands in its `text/html` only, so that a notebook holds it once.

What else a cell shows still reaches both formats, plainly: an SVG or PNG as a figure, printed or
`repr` text as preformatted text, Markdown cells as their parser reads them. HTML of unknown objects
reaches the page only; show a data frame as a `Table` and it reaches the PDF too.

Every text given to a block is plain text, never markup: what a program printed cannot become HTML
or Typst.

Evidence: a `Claim` is a sentence with pointers to what it rests on. A pointer names the `id` of a
block (`Figure(..., id="response")`), a row of a table (`Table(..., id="treatments", row_ids=[...])`
makes `treatments-<row_id>`), or a file that is published beside the report (`trials.parquet`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
from pydantic import TypeAdapter

from deadzone.errors import ReportError
from deadzone.language.markdown import markdown
from deadzone.language.messages import N_, _, say, spoken
from deadzone.language.rendering import rendered
from deadzone.language.tabling import Layout, Tabled, tabled
from deadzone.report.document.drawing import svg_of
from deadzone.report.document.html import FILTERS, TEMPLATES, apart, described, themed

NUMBERED = {
    "figure": N_("Figure {n}"),
    "table": N_("Table {n}"),
}


if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

MIME = "application/vnd.deadzone.block+json"
"""MIME type of a block as data, in the outputs of an executed notebook."""

PLAIN = "application/vnd.deadzone.plain+json"
"""The same of a data frame or a summary, which takes its caption from the notebook."""


@dataclass(frozen=True)
class Evidence:
    """What a claim rests on.

    target: id of a block or of a table's row, or the name of a file beside the report. text: what
    the link says; by default `Figure 2`, `Table 3`, the row's name, or the name of the file.
    """

    target: str
    text: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence, or a few, with the evidence for it."""

    text: str
    evidence: tuple[Evidence, ...] = ()

    def __str__(self) -> str:
        return self.text


Paragraph = str | Claim


class Block:
    """A displayed object: data for the report, HTML and text for the notebook."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """The block as plain JSON values, with its kind; `block_of` reads it back."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]

    def html(self, names: "Names | None" = None) -> str:
        """The block as accessible HTML. names: of the report; None in a notebook, where nothing is
        numbered or linked."""
        return rendered(
            TEMPLATES / "blocks.html.j2",
            *FILTERS,
            block=self,
            names=names or Names(()),
            is_page=names is not None,
        )

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self._repr_html_(), "text/plain": repr(self)}


@dataclass(frozen=True, repr=False)
class Title(Block):
    """The head of a report; one a notebook, and its first block.

    title, subtitle: one line each. doubts: what a reader must
    know before anything else. facts: names and values beneath the title, such as study, date and
    host. date: of what is reported (ISO 8601; not of the publishing). study, run_id, host, verdict:
    for the index of all reports. language: that the report is written in.
    """

    kind = "title"
    title: str
    subtitle: str = ""
    doubts: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    date: str = ""
    study: str = ""
    run_id: str = ""
    host: str = ""
    verdict: str = ""
    language: str = field(default_factory=spoken)

    def __repr__(self) -> str:
        return "\n".join(map(str, (self.title, self.subtitle, *self.doubts))).strip()


@dataclass(frozen=True, repr=False)
class Prose(Block):
    """Paragraphs, optionally under a heading (level 2 for a section, 3 within one).

    style: "" for plain text, "list" for an item each; "verdict" and "warnings" are set apart. id:
    for links to it;
    by default one is made for a heading.
    """

    kind = "prose"
    paragraphs: tuple[Paragraph, ...]
    heading: str = ""
    level: int = 2
    style: str = ""
    id: str = ""

    def __repr__(self) -> str:
        return "\n".join([self.heading, *map(str, self.paragraphs)]).strip()


@dataclass(frozen=True, repr=False)
class Verdict(Prose):
    """What to set, with every doubt; the first paragraph is the sentence of the setting.

    of: the head of the page, without its verdict; of a table without a title.
    """

    kind = "verdict"
    of: Title = field(default_factory=lambda: Title(""))

    @property
    def verdict(self) -> str:
        """The sentence of the setting."""
        return str(self.paragraphs[0])

    def head(self, title: str, subtitle: str = "") -> Title:
        """The head of a page that shows no `Title`. title, subtitle: where the verdict is of a
        table, not of a run."""
        of = self.of if self.of.title else replace(self.of, title=title, subtitle=subtitle)
        return replace(of, verdict=self.verdict)


@dataclass(frozen=True, repr=False)
class Notes(Block):
    """What the claims of a report rest on, by the numbers that stand beside them."""

    kind = "notes"
    evidence: tuple[Evidence, ...]
    heading: str = ""


def section(heading: str, anchor: str) -> Prose:
    """The heading of a section; its anchor is alike in every language."""
    return Prose((), heading=heading, id=f"section-{anchor.replace('_', '-')}")


@dataclass(frozen=True, repr=False)
class CommandBlock(Block):
    """Command lines to type, one an entry, under an optional heading."""

    kind = "command"
    lines: tuple[str, ...]
    heading: str = ""
    level: int = 3
    id: str = ""

    def __repr__(self) -> str:
        return "\n".join([self.heading, *self.lines]).strip()


@dataclass(frozen=True, eq=False, repr=False)
class Table(Block):
    """A table of ready texts with a caption, which is a true sentence about the data.

    columns: the heads, from left to right. rows: shape (rows, columns); the first cell names the
    row. numeric: columns set to the right. id: for links to the table. row_ids: shape (rows,), for
    links to its rows. paired: names and values without a row of heads.
    """

    kind = "table"
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    numeric: Sequence[str] = ()
    id: str = ""
    row_ids: Sequence[str] = ()
    paired: bool = False

    @classmethod
    def of(
        cls, layout: Layout, rows: Iterable[Mapping[Any, Any]], identity: str, /, **values: Any
    ) -> "Table":
        """These rows as a layout shows them. identity: of the block. values: see
        `deadzone.language.tabling`."""
        return cls.shown(tabled(layout, rows, **values), identity)

    @classmethod
    def shown(cls, table: Tabled, identity: str, caption: str = "") -> "Table":
        """A table in words as a block. caption: in place of its own."""
        told = (table.numeric, identity, table.row_ids, table.paired)
        return cls.of_frame(table.frame, caption or table.caption, *told)

    @classmethod
    def of_frame(cls, frame: pd.DataFrame, caption: str, *more: Any, **named: Any) -> "Table":
        """The cells of a frame as texts. more, named: numeric and what follows it."""
        rows = [list(map(str, row)) for row in frame.itertuples(index=False, name=None)]
        return cls([*map(str, frame.columns)], rows, caption, *more, **named)

    @property
    def frame(self) -> pd.DataFrame:
        """The cells under their heads."""
        return pd.DataFrame(self.rows, columns=list(self.columns), dtype=object)

    def markdown(self, whole: str) -> str:
        """The caption and the table as a comment on a pull request. whole: see `markdown`."""
        return markdown(self.caption, self.frame, (), whole)

    @property
    def is_right(self) -> list[bool]:
        """Which columns are set to the right."""
        return [name in self.numeric for name in self.columns]

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.frame.to_string(index=False)}"


@dataclass(frozen=True, repr=False)
class Figure(Block):
    """A drawing as SVG with a caption, and a description for readers who do not see it.

    caption: a true sentence made from the data. description: what the figure shows, in words. id:
    for links.
    """

    kind = "figure"
    svg: str
    caption: str
    description: str
    id: str = ""

    @classmethod
    def of(
        cls, drawing: "MatplotlibFigure", caption: str, description: str, **more: Any
    ) -> "Figure":
        """Take a matplotlib figure and close it; the same figure always gives the same bytes. more:
        id."""
        return cls(svg_of(drawing), caption, description, **more)

    def to_json(self) -> dict[str, Any]:
        """The figure as plain JSON values; the drawing itself stands in the HTML."""
        return {**super().to_json(), "svg": ""}

    def drawing(self, identity: str, is_page: bool) -> str:
        """The drawing with its description; on a page its colours follow the page, and its ids are
        its own."""
        drawing = themed(apart(self.svg, identity)) if is_page else self.svg
        return described(drawing, self.description)

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.description}"


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Block):
    """A regression-style summary: several tables under one caption.

    tables: their captions are the titles within.
    """

    kind = "regression"
    caption: str
    tables: tuple[Table, ...]
    id: str = ""

    def __repr__(self) -> str:
        return "\n\n".join([self.caption, *map(repr, self.tables)])


KINDS: dict[str, type[Block]] = {
    block.kind: block for block in (Title, Prose, Verdict, CommandBlock, Table, Figure, Regression)
}
"""What a cell may display, by the name in its MIME bundle."""


def block_of(bundle: Mapping[str, Any]) -> Block | None:
    """The block of a notebook output's MIME bundle; None if it holds none."""
    fields = bundle.get(MIME) or bundle.get(PLAIN, {})
    if fields.get("kind") not in KINDS:
        return None
    block: Block = TypeAdapter(KINDS[fields["kind"]]).validate_python(fields)
    if isinstance(block, Figure):
        return replace(block, svg=_drawing(str(bundle.get("text/html", ""))))
    return block


def _drawing(html: str) -> str:
    """The drawing within a figure's HTML, without what describes it there."""
    svg = re.search(r"<svg.*</svg>", html, re.DOTALL)
    return re.sub(r'^<svg role="img" aria-label="[^"]*"', "<svg", svg[0] if svg else "", count=1)


class Names:
    """Numbers and anchors of the figures and tables of a report, and numbers and addresses of the
    evidence for its claims.

    Figures and tables with a caption are numbered in order, each by themselves. parts: of the
    report, of which those that are no blocks have neither. files: names of the files published
    beside it.
    """

    def __init__(self, parts: Sequence[object], files: Sequence[str] = ()) -> None:
        self._files = tuple(files)
        self._identities: dict[int, str] = {}
        self._texts: dict[str, str] = {}
        counts = {"figure": 0, "table": 0}
        for part in parts:
            if isinstance(part, Figure | Table | Regression):
                kind = "figure" if isinstance(part, Figure) else "table"
                counts[kind] += 1
                identity = part.id or f"{kind}-{counts[kind]}"
                number = say(NUMBERED[kind], n=counts[kind])
                self._identities[id(part)] = identity
                self._call(identity, number)
                named = (part.row_ids, part.rows) if isinstance(part, Table) else ((), ())
                for row_id, cells in zip(*named, strict=False):
                    told = _("{table}, row {row}", table=number, row=cells[0])
                    self._call(f"{identity}-{row_id}", told)
            elif isinstance(part, Block) and (identity := getattr(part, "id", "")):
                self._texts[identity] = getattr(part, "heading", "") or identity
        claims = (claim for part in parts for claim in getattr(part, "paragraphs", ()))
        self.evidence = tuple(dict.fromkeys(item for one in claims for item in self._known(one)))

    def _call(self, identity: str, text: str) -> None:
        if identity in self._texts:
            raise ReportError(
                f"Two blocks or rows have the id {identity!r}; evidence needs one to point to."
            )
        self._texts[identity] = text

    def identity(self, block: Block) -> str:
        """The anchor of a figure or table."""
        return self._identities.get(id(block), getattr(block, "id", ""))

    def number(self, block: Block) -> str:
        """`Figure 2` or `Table 3`; empty for what is not numbered."""
        return self._texts.get(self._identities.get(id(block), ""), "")

    def links(self, said: object) -> list[dict[str, Any]]:
        """What a claim, or notes, point to in the report: its number among all evidence, what the
        link says, the id or name of a file, and whether it is a file. Nothing of a plain text."""
        return [
            {
                "number": self.evidence.index(item) + 1,
                "text": item.text or self._texts.get(item.target, item.target),
                "target": item.target,
                "is_file": item.target in self._files,
            }
            for item in self._known(said)
        ]

    def _known(self, said: object) -> list[Evidence]:
        """The evidence of a claim that the report has."""
        there = {*self._texts, *self._files}
        return [item for item in getattr(said, "evidence", ()) if item.target in there]
