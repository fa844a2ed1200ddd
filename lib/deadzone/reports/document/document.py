"""An executed notebook as a document: its blocks in order, numbered, with what their evidence points to.

Page and PDF are both made from this, so that they say the same and number it alike.
"""

import ast
import struct
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadzone.errors import ReportError
from deadzone.language.catalogue import speaking
from deadzone.reports.document.display import Block, Figure, Names, Table, Title, Verdict, block_of, section

NOTEBOOK_ONLY = "notebook-only"
"""Tag of a Markdown cell that guides through the notebook and is no part of the report."""

PARAMETERS, INJECTED = "parameters", "injected-parameters"
"""Tags of the cells with a notebook's defaults and with what papermill was given."""


@dataclass(frozen=True)
class Markdown:
    """A Markdown cell."""

    source: str


@dataclass(frozen=True)
class Printed:
    """Text that a cell printed, or an object that is no block. html: the object's own, for the page only."""

    text: str
    html: str = ""


Part = Block | Markdown | Printed


@dataclass(frozen=True, eq=False)
class Document:
    """A report before it is written in a format.

    title: its head. parts: in order, the title first. names: numbers and anchors. language: of the texts.
    files: names of the files published beside the report.
    """

    title: Title
    parts: tuple[Part, ...]
    names: Names
    language: str
    files: tuple[str, ...] = ()

    @property
    def face(self) -> Figure | None:
        """The figure that stands for the report, None if it has none."""
        figures = [part for part in self.parts if isinstance(part, Figure)]
        return next((figure for figure in figures if figure.is_face), figures[0] if figures else None)


def read_notebook(path: Path) -> Any:
    """A notebook as nbformat reads it. Raises ReportError if the file is none."""
    import nbformat

    try:
        return nbformat.read(str(path), as_version=4)
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read as a notebook: {error}.") from error


def document_of(notebook: Any, files: Sequence[str] = ()) -> Document:
    """The document of an executed notebook. files: names of the files published beside the report.

    Raises ReportError if a cell failed: a report of a failed notebook would be half a report.
    """
    parts = [part for cell in notebook.cells for part in _parts(cell)]
    verdict = next((part for part in parts if isinstance(part, Verdict)), None)
    title = next((part for part in parts if isinstance(part, Title)), None)
    title = title or (verdict.head("Report") if verdict else Title("Report"))
    parts = [title, *(part for part in parts if not isinstance(part, Title))]
    with speaking(title.language):
        parts += _parameters(notebook)
        names = Names(parts, files)
    return Document(title, tuple(parts), names, title.language, tuple(files))


def _parts(cell: Any) -> list[Part]:
    tags = cell.metadata.get("tags", [])
    if cell.cell_type == "markdown":
        return [] if NOTEBOOK_ONLY in tags else [Markdown(cell.source)]
    found = [_part(output) for output in cell.get("outputs", ())]
    return [part for part in found if part is not None]


def _part(output: Any) -> Part | None:
    if output.output_type == "error":
        raise ReportError(
            f"A cell of the notebook failed with {output.ename}: {output.evalue}. It is not published."
        )
    if output.output_type == "stream":
        return Printed(output.text) if output.name == "stdout" and output.text.strip() else None
    data = output.get("data", {})
    if block := block_of(data):
        return block
    text = str(data.get("text/plain", ""))
    if "image/svg+xml" in data:
        svg = str(data["image/svg+xml"])
        return Figure(svg[svg.index("<svg") :], text, text)
    if "image/png" in data:
        return Figure(_wrapped_png(str(data["image/png"])), text, text)
    return Printed(text, str(data.get("text/html", "")))


def _wrapped_png(encoded: str) -> str:
    """A PNG inside an SVG of its size."""
    compact = "".join(encoded.split())
    width, height = struct.unpack(">II", b64decode(compact[:64])[16:24])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<image width="{width}" height="{height}" href="data:image/png;base64,{compact}"/></svg>'
    )


def _parameters(notebook: Any) -> list[Part]:
    """The exact parameters: the notebook's defaults with what papermill was given in their place."""
    given = dict(notebook.metadata.get("papermill", {}).get("parameters", {}))
    cells = {tag: cell for cell in notebook.cells for tag in cell.metadata.get("tags", [])}
    if not given and INJECTED in cells:
        given = _assigned(cells[INJECTED].source)
    known = (_assigned(cells[PARAMETERS].source) if PARAMETERS in cells else {}) | given
    if not known:
        return []
    rows = [
        {"name": name, "value": _shown(value), "origin": "given" if name in given else "default"}
        for name, value in known.items()
    ]
    return [section("report.parameters"), Table.of("document.parameters", rows, n=len(given), all=len(known))]


def _assigned(source: str) -> dict[str, Any]:
    """Names and values that a cell of plain assignments sets."""
    values: dict[str, Any] = {}
    for node in ast.parse(source).body:
        match node:
            case ast.Assign([ast.Name(name)], ast.expr() as value) | ast.AnnAssign(
                ast.Name(name), _, ast.expr() as value
            ):
                try:
                    values[name] = ast.literal_eval(value)
                except ValueError:
                    values[name] = ast.unparse(value)
    return values


def _shown(value: Any) -> str:
    return "-" if value in ("", None) else str(value)
