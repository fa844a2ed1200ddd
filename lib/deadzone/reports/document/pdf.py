"""A document as a PDF, without LaTeX and without a browser: written as Typst, which typesets it.

Blocks become calls of the functions in `templates/report.typ`. Figures stay vectors. The same document always
gives the same bytes.
"""

import json
import re
import tempfile
from pathlib import Path

from deadzone.errors import ReportError
from deadzone.language.catalogue import speaking
from deadzone.reports.document.display import Block
from deadzone.reports.document.document import Document, Markdown, Part
from deadzone.reports.document.fonts import KOREAN, REMEDY, family_of, korean_font, needs_korean, weights_of
from deadzone.reports.document.markdown import markdown_typst
from deadzone.reports.document.typst import array, block_typst, head_typst, string

TEMPLATE = Path(__file__).parent / "templates" / "report.typ"

TEXT_FONTS = ("Libertinus Serif",)
"""Fonts that Typst brings itself, so that a PDF looks the same everywhere."""

EPOCH_S = 0
"""Typst's own time stamp, where the document has no date: a publishing time would change the bytes."""


def pdf(document: Document) -> bytes:
    """The PDF of a document.

    Raises ReportError if Typst refuses the document, or a Korean one finds no font.
    """
    import typst

    drawings: dict[str, str] = {}
    with speaking(document.language), tempfile.TemporaryDirectory(prefix="deadzone-pdf-") as scratch:
        folder = Path(scratch)
        (folder / "fonts").mkdir()
        source = typst_source(document, _fonts(document, folder / "fonts"), drawings)
        if korean_font() is None:
            source = KOREAN.sub("?", source)
        (folder / "report.typ").write_text(source, encoding="utf-8")
        for name, svg in drawings.items():
            (folder / name).write_text(_plain_svg(svg), encoding="utf-8")
        try:
            written = typst.compile(
                str(folder / "report.typ"), root=str(folder), font_paths=[str(folder / "fonts")],
                ignore_system_fonts=True, timestamp=EPOCH_S,
            )  # fmt: skip
        except (typst.TypstError, ValueError, RuntimeError) as error:
            raise ReportError(f"Typst cannot typeset the report: {error}") from error
    return bytes(written)


def typst_source(document: Document, fonts: list[str], drawings: dict[str, str]) -> str:
    """The document as Typst, after the template; drawings are added by file name."""
    body = "\n\n".join(_part(part, document, drawings) for part in document.parts)
    arguments = f"{head_typst(document)}, fonts: {array(map(string, fonts))}"
    return f"{TEMPLATE.read_text(encoding='utf-8')}\n#show: dz-report.with({arguments})\n\n{body}"


def _part(part: Part, document: Document, drawings: dict[str, str]) -> str:
    if isinstance(part, Block):
        return block_typst(part, document, drawings)
    if isinstance(part, Markdown):
        return markdown_typst(part.source)
    return f"#dz-printed({string(part.text)})" if part.text else ""


def _fonts(document: Document, folder: Path) -> list[str]:
    """Names of the fonts, the first one first; the files that Typst lacks are linked into the folder."""
    is_korean = document.language == "ko"
    if not is_korean and not any(needs_korean(_texts(part)) for part in document.parts):
        return list(TEXT_FONTS)
    font = korean_font()
    if font is None:
        if not is_korean:
            return list(TEXT_FONTS)
        raise ReportError(f"A PDF in Korean needs a Korean font, and none was found: {REMEDY}.")
    for path in weights_of(font):
        (folder / path.name).symlink_to(path)
    return [family_of(font)] if is_korean else [*TEXT_FONTS, family_of(font)]


def _texts(part: Part) -> str:
    """All texts of a part in one."""
    return json.dumps(part.to_json(), ensure_ascii=False) if isinstance(part, Block) else str(part)


def _plain_svg(svg: str) -> str:
    """A drawing as a file of its own, without the marks and scripts that are for a page."""
    unmarked = re.sub(r' (role|aria-label)="[^"]*"', "", svg)
    return re.sub(r"<script>.*?</script>", "", unmarked, flags=re.DOTALL)
