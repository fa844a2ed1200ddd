"""Markdown cells in the PDF: what the page shows of them, with every text a string."""

from __future__ import annotations

import pytest

from deadzone.reports.document.display import Title
from deadzone.reports.document.document import Document, Markdown, Names
from deadzone.reports.document.markdown import markdown_typst
from deadzone.reports.document.pdf import pdf
from reports.document.test_pdf import text_of


def printed(source: str) -> str:
    """What a reader of the PDF sees of a Markdown cell."""
    parts = (Title("T"), Markdown(source))
    return text_of(pdf(Document(parts[0], parts, Names(parts), "en"))).replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("# Head", '#heading(level: 1)[#"Head";]'),
        ("### Third *a*", '#heading(level: 2)[#"Third ";#(emph)[#"a";]]'),
        ("**b** ~~s~~", '#(strong)[#"b";]#" ";#(strike)[#"s";]'),
        ("[words](https://example.org)", '#link("https://example.org")[#"words";]'),
        ("`a\\b`", '#raw("a\\\\b")'),
        ("```sh\nls\n```", '#raw(block: true, "ls")'),
        ("- a\n- b", '#(list)(..([#"a";], [#"b";], ))'),
        ("3. a", '#(enum.with(start: 3))(..([#"a";], ))'),
        ("> said", '#(quote.with(block: true))[#"said";'),
        ("a &amp; b", '#"a & b";'),
        ("$x_1 y_1$", '#raw("x_1 y_1")'),
        ("a  \nb", "#linebreak()"),
        ("---", "#line(length: 100%)"),
    ],
)
def test_markdown_has_its_word_in_typst(source, code):
    assert code in markdown_typst(source)


def test_what_a_cell_says_is_read_in_the_pdf():
    seen = printed(
        "## Head\n\nOne\ntwo, 1 < 2 &amp; <b>bold</b>.\n\n- item\n  - inner\n\n| name | n |\n|---|--:|\n| *x* | 200 |\n\n$$\ny\n$$\n\nLast."
    )
    for words in ("Head", "One two, 1 < 2 & <b>bold</b>.", "item", "inner", "name", "x", "200", "y", "Last."):
        assert words in seen


def test_no_text_of_a_cell_becomes_code():
    hostile = 'see #panic("no") "quoted" \\ @nobody <label> [x] $'
    seen = printed(f"{hostile}\n\n    {hostile}\n\n# {hostile}\n\n| {hostile} |\n|---|\n| {hostile} |")
    assert seen.count('#panic("no")') == 5
