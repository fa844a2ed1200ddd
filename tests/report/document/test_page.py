import re

import pandas as pd

from deadzone.report.document.display import Prose, Table, Title
from deadzone.report.document.document import Document, Names, page
from deadzone.report.document.outputs import Markdown, Printed


def document(*parts, language="en", files=()):
    title = Title("The title", "The question?", language=language)
    parts = (title, *parts)
    return Document(title, parts, Names(parts, files), language, tuple(files))


SECTIONS = (
    Prose((), heading="First & last", id="section-first"),
    Table.of_frame(pd.DataFrame({"a": ["1"]}), "A table."),
    Markdown("## Written\n\nBy *hand*."),
    Printed("<b>printed</b>"),
)


def test_the_page_loads_nothing_and_runs_nothing():
    written = page(document(*SECTIONS, Markdown("<script>alert(1)</script>")))
    assert "<script" not in written
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*//', written)
    assert "@import" not in written and "url(http" not in written


def test_contents_list_the_sections_of_blocks_and_of_markdown():
    written = page(document(*SECTIONS))
    assert '<a href="#section-first">First &amp; last</a>' in written
    assert '<a href="#written">Written</a>' in written
    assert "<title>The title</title>" in written and "&lt;b&gt;printed" in written
    assert written.count("<h1") == 1
    written = page(document(Markdown('## The author\'s "5 % rule", <b>*judged*')))
    assert 'href="#the-author-s-5-rule-b-judged"' in written
    assert '<h2 id="the-author-s-5-rule-b-judged">' in written


def test_the_page_speaks_the_language_of_the_report():
    written = page(document(language="ko", files=("report.pdf",)))
    assert '<html lang="ko">' in written
    assert "본문으로 건너뛰기" in written
