"""A document as a self-contained HTML page: no code, nothing loaded from elsewhere, no script but
the zoom of a flame graph.

The page's frame is an nbconvert template, `templates/deadzone/index.html.j2`, with blocks to
override. To change it, make a folder with a `conf.json` of `{"base_template": "deadzone"}` and an
`index.html.j2` that begins with `{% extends "deadzone/index.html.j2" %}`, and pass the folder above
it as `extra_templates`.
"""

import re
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deadzone.language.formats import spaced
from deadzone.language.messages import N_, say, speaking
from deadzone.report.document.display import Block
from deadzone.report.document.document import Document
from deadzone.report.document.fonts import with_korean_letters
from deadzone.report.document.html import anchor
from deadzone.report.document.outputs import Markdown, Part

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


TEMPLATES = Path(__file__).parent / "templates"
TEMPLATE = "deadzone"

HEADING = re.compile(r'<h2 id="([^"]+)"[^>]*>(.*?)</h2>', re.DOTALL)


def page(
    document: Document,
    template: str = TEMPLATE,
    extra_templates: Path | None = None,
    links: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The page of a document; the same document always gives the same page.

    template: name of an nbconvert template. extra_templates: a folder in which it is looked up
    first. links: what the page links to besides the document's files, address to text.
    """
    from nbconvert.exporters.templateexporter import TemplateExporter
    from nbformat.v4 import new_notebook
    from traitlets.config import Config

    folders = [str(folder) for folder in (extra_templates, TEMPLATES) if folder]
    places = {"extra_template_basedirs": folders, "extra_template_paths": [str(TEMPLATES)]}
    config = Config({"TemplateExporter": places})
    exporter = TemplateExporter(template_name=template, file_extension=".html", config=config)
    with speaking(document.language):
        parts = [part_html(part, document) for part in document.parts]
        files = {name: say(FILES[name]) for name in document.files}
        resources = {
            "lang": document.language,
            "page_title": document.title.title,
            "description": document.title.verdict or document.title.subtitle,
            "parts": parts,
            "contents": [
                {"anchor": identity, "text": plain(text)}
                for identity, text in HEADING.findall("".join(parts))
            ],
            "files": [
                {"name": address, "text": text} for address, text in {**files, **links}.items()
            ],
            "words": {key: say(WORDS[key]) for key in ("contents", "skip", "files")},
        }
        written, _ = exporter.from_notebook_node(
            new_notebook(), resources={"metadata": {"name": "report"}, "deadzone": resources}
        )
    return with_korean_letters(str(written))


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
            return str(super().text(spaced(text)))

    return str(MarkdownWithMath(renderer=Renderer(escape=True)).render(source))


def plain(text: str) -> str:
    """HTML without its tags, as a reader sees it."""
    return unescape(re.sub(r"<[^>]+>", "", text))
