"""An executed notebook as a self-contained HTML page: no code, no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from deadzone.errors import ReportError

TEMPLATES = Path(__file__).parent / "templates"
TEMPLATE = "deadzone"

HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def notebook_page(executed: Path) -> str:
    """The page of an executed notebook; the same notebook always gives the same page.

    Raises ReportError if the file is no notebook.
    """
    import nbformat

    try:
        document = nbformat.read(str(executed), as_version=4)
    except (OSError, ValueError) as error:
        raise ReportError(f"{executed}: cannot be read as a notebook: {error}.") from error
    return render(document)


def render(document: Any) -> str:
    """The page of a notebook document."""
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    exporter = HTMLExporter(
        template_name=TEMPLATE,
        config=Config({"HTMLExporter": {"extra_template_basedirs": [str(TEMPLATES)]}}),
    )
    shown = "\n".join(_html_outputs(document))
    found = TITLE.search(shown)
    resources = {
        "page_title": unescape(re.sub(r"<[^>]+>", "", found.group(1))) if found else "Report",
        "contents": [{"anchor": anchor, "text": text} for anchor, text in HEADING.findall(shown)],
    }
    page, _ = exporter.from_notebook_node(
        document, resources={"metadata": {"name": "report"}, "deadzone": resources}
    )
    return str(page)


def _html_outputs(document: Any) -> list[str]:
    return [
        str(output["data"]["text/html"])
        for cell in document.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
