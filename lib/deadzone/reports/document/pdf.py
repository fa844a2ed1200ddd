"""A document as a PDF, without LaTeX and without a browser: laid out by Typst.

The template `templates/report.typ` is told the document as JSON. Figures stay vectors. The same document always
gives the same bytes.
"""

import json
import tempfile
from pathlib import Path

from deadzone.errors import ReportError
from deadzone.language.catalogue import speaking
from deadzone.reports.document.document import Document
from deadzone.reports.document.fonts import KOREAN, REMEDY, family_of, korean_font, needs_korean, weights_of
from deadzone.reports.document.typst import told

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

    with speaking(document.language), tempfile.TemporaryDirectory(prefix="deadzone-pdf-") as fonts:
        values = template_input(document, Path(fonts))
        try:
            written = typst.compile(
                str(TEMPLATE), root=str(TEMPLATE.parent), font_paths=[fonts], ignore_system_fonts=True,
                sys_inputs={"report": values}, timestamp=EPOCH_S,
            )  # fmt: skip
        except (typst.TypstError, ValueError, RuntimeError) as error:
            raise ReportError(f"Typst cannot typeset the report: {error}") from error
    return bytes(written)


def template_input(document: Document, folder: Path) -> str:
    """The document and its fonts as JSON; the fonts that Typst lacks are linked into the folder."""
    values = told(document)
    values["fonts"] = _fonts(document.language, json.dumps(values, ensure_ascii=False), folder)
    text = json.dumps(values, ensure_ascii=False)
    return text if korean_font() else KOREAN.sub("?", text)


def _fonts(language: str, text: str, folder: Path) -> list[str]:
    """Names of the fonts for a text, the first one first."""
    is_korean = language == "ko"
    if not is_korean and not needs_korean(text):
        return list(TEXT_FONTS)
    font = korean_font()
    if font is None:
        if not is_korean:
            return list(TEXT_FONTS)
        raise ReportError(f"A PDF in Korean needs a Korean font, and none was found: {REMEDY}.")
    for path in weights_of(font):
        (folder / path.name).symlink_to(path)
    return [family_of(font)] if is_korean else [*TEXT_FONTS, family_of(font)]
