import re

import pytest

from deadzone.report.document.outputs import Markdown
from deadzone.report.document.pdf import pdf
from report.document.test_pdf import document, text_of
from report.document.test_typst import of_template


def printed(source: str) -> str:
    """What a reader of the PDF sees of a Markdown cell."""
    return text_of(pdf(document(Markdown(source)))).replace("\r\n", "\n")


def laid_out(source: str) -> str:
    """What the template makes of a Markdown cell, as Typst writes its content."""
    return str(of_template("repr(dz-markdown(report.parts.at(1)))", Markdown(source)))


@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("# Head", "heading(level: 1, body: [Head])"),
        ("### Third *a*", "heading(level: 2, body: sequence([Third ], emph(body: [a])),)"),
        ("**b** ~~s~~", "strong(body: [b]), [ ], strike(body: [s])"),
        ("[words](https://example.org)", 'link(dest: "https://example.org", body: [words])'),
        ("`a\\b`", 'raw(text: "a\\\\b")'),
        ("```sh\nls\n```", 'raw(text: "ls", block: true)'),
        ("- a\n- b", "list(children: (item(body: [a]), item(body: [b])))"),
        ("3. a", "enum(start: 3, children: (item(body: [a]),))"),
        ("> said", "quote(block: true, body: sequence([said], parbreak()))"),
        ("a &amp; b", "[a & b]"),
        ("`a &amp; b`", 'raw(text: "a &amp; b")'),
        ("$x_1 y_1$", 'raw(text: "x_1 y_1")'),
        ("a  \nb", "[a], linebreak(), [b]"),
        ("---", "line(length: 100%"),
    ],
)
def test_markdown_has_its_word_in_typst(source, content):
    assert content in re.sub(r"\n *", " ", laid_out(source)).replace("( ", "(").replace(", )", ",)")


def test_what_a_cell_says_is_read_in_the_pdf():
    text = "## Head\n\nOne\ntwo, 1 < 2 &amp; <b>bold</b>.\n\n- item\n  - inner\n\n"
    table = "| name | n |\n|---|--:|\n| *x* | 200 |\n\n"
    seen = printed(f"{text}{table}$$\ny\n$$\n\nLast.")
    said = ("Head", "One two, 1 < 2 & <b>bold</b>.", "item", "inner", "name", "x", "200", "y")
    assert not [words for words in (*said, "Last.") if words not in seen]


def test_no_text_of_a_cell_becomes_code():
    hostile = 'see #panic("no") "quoted" \\ @nobody <label> [x] $'
    text = f"{hostile}\n\n    {hostile}\n\n# {hostile}\n\n| {hostile} |\n|---|\n| {hostile} |"
    seen = printed(text)
    assert seen.count('#panic("no")') == 5
