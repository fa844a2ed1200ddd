"""A document as a self-contained HTML page: no code, nothing loaded from elsewhere, no script but
the zoom of a flame graph.
"""

import re
from collections.abc import Mapping
from html import escape, unescape
from types import MappingProxyType
from typing import Any

from deadzone.language.formats import spaced
from deadzone.language.messages import N_, say, speaking
from deadzone.report.document.display import Block
from deadzone.report.document.document import Document
from deadzone.report.document.html import TEMPLATES, anchor
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
            return str(super().text(spaced(text)))

    return str(MarkdownWithMath(renderer=Renderer(escape=True)).render(source))


def plain(text: str) -> str:
    """HTML without its tags, as a reader sees it."""
    return unescape(re.sub(r"<[^>]+>", "", text))
