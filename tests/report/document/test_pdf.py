import re
import zlib

import pandas as pd
from pypdfium2 import PdfDocument

from deadzone.report.document.display import (
    Claim,
    CommandBlock,
    Evidence,
    Figure,
    Notes,
    Prose,
    Regression,
    Table,
    Title,
)
from deadzone.report.document.document import Document, Names
from deadzone.report.document.outputs import Markdown, Printed
from deadzone.report.document.pdf import part_values, pdf

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><rect width="150" height="80" '
    'fill="#0072b2"/></svg>'
)


def document(*parts, language="en"):
    title = Title("A title", "A question?", ("A doubt.",), (("Host", "here"),), "2026-03-05", "probe",  # noqa: E501
                  language=language)  # fmt: skip
    return Document(
        title, (title, *parts), Names(parts, ["trials.parquet"]), language, ("trials.parquet",)
    )


def table(rows, columns=3, **more):
    cells = [[f"{row}.{column}" for column in range(columns)] for row in range(rows)]
    frame = pd.DataFrame(cells, columns=[f"column number {i}" for i in range(columns)])
    return Table.of_frame(frame, "A table.", **more)


EVERYTHING = (
    Prose((Claim("So it is.", (Evidence("f"), Evidence("t-1"), Evidence("trials.parquet"))),), heading="Verdict", style="verdict"),  # noqa: E501
    Prose(("Careful.",), heading="Warnings", level=3, style="warnings"),
    Figure(SVG, "It falls.", "A line", id="f"),
    table(3, id="t", row_ids=["0", "1", "2"]),
    Regression("A model.", (table(2), Table.of_frame(pd.DataFrame({"n": ["a"], "v": ["1"]}), "Pairs", paired=True))),  # noqa: E501
    CommandBlock(("deadzone run x",), heading="Reproduce", id="r"),
    Markdown("## Written\n\nBy *hand*, with a [link](https://example.org) and `code`."),
    Printed("printed"),
    Notes((Evidence("f"), Evidence("t-1"), Evidence("trials.parquet")), "Evidence"),
)  # fmt: skip


def text_of(data: bytes) -> str:
    """The words of a PDF, a form feed after each page."""
    with PdfDocument(data) as written:
        return "\f".join(page.get_textpage().get_text_range() for page in written)


def test_everything_that_is_displayed_reaches_the_pdf():
    text = text_of(pdf(document(*EVERYTHING)))
    for words in ("A title", "A question?", "A doubt.", "So it is.", "Figure 1", "Table 1, row 1.0", "Careful.",  # noqa: E501
                  "It falls.", "2.2", "A model.", "deadzone run x", "Written", "printed", "Page 1 of"):  # fmt: skip  # noqa: E501
        assert words in text


def test_figures_stay_vectors():
    assert b"/Subtype/Image" not in pdf(document(EVERYTHING[2])).replace(b" ", b"")


def test_tables_are_whole_on_a_page_repeat_their_head_on_the_next_and_fit_its_width():
    filler = Prose(tuple(f"Line {i}." for i in range(25)))
    pages = text_of(pdf(document(filler, table(20)))).split("\f")
    assert sum(bool(re.search(r"\b\d+\.2\b", page)) for page in pages) == 1
    pages = text_of(pdf(document(table(120)))).split("\f")
    assert sum("column number 0" in page for page in pages) >= 2
    assert "1.13" in text_of(pdf(document(table(2, columns=14))))


def test_korean_is_set_in_a_korean_font():
    data = pdf(document(Prose(("포화는 2코어에서 시작됩니다.",)), language="ko"))
    assert "포화는 2코어에서 시작됩니다." in text_of(data)
    names = b"".join(_streams(data)) + data
    assert b"Nanum" in names
    assert "한글 제목" in text_of(pdf(document(Prose(("한글 제목",)))))


def _streams(data):
    for found in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        try:
            yield zlib.decompress(found)
        except zlib.error:
            yield b""


def test_long_numbers_have_thin_spaces_and_commands_are_copied_as_they_are():
    parts = (
        Prose(("At 15,632 bytes.",)),
        Table.of_frame(pd.DataFrame({"a": ["1,600"], "b": ["20,480"]}), "C."),
        Markdown("Of 12,345, `run 12,345`."),
        CommandBlock(("run 12,345",)),
    )
    told = str([part_values(part, document(*parts).names) for part in parts])
    assert "15\\u202f632" in told and "20\\u202f480" in told and "'1600'" in told
    assert "Of 12\\u202f345, " in told and told.count("run 12,345") == 2
