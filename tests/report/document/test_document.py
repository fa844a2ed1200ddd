import re

import nbformat.v4 as v4
import pandas as pd
import pytest
from nbformat import from_dict

from deadzone.errors import ReportError
from deadzone.report.document.display import Figure, Prose, Table, Title
from deadzone.report.document.document import Document, Names, document_of, page
from deadzone.report.document.execution import scrubbed
from deadzone.report.document.outputs import Markdown, Printed

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="  # noqa: E501


def shown(*blocks):
    outputs = [v4.new_output("display_data", data=block._repr_mimebundle_()) for block in blocks]
    return v4.new_code_cell("...", outputs=outputs)


def table(caption, **more):
    return Table.of_frame(pd.DataFrame({"a": ["1"]}), caption, **more)


def figure(caption, **more):
    return Figure('<svg viewBox="0 0 1 1"></svg>', caption, "D.", **more)


def test_figures_and_tables_are_numbered_each_by_themselves_in_order():
    cells = [shown(figure("A."), table("B.")), shown(table("C."), figure("D."))]
    document = document_of(v4.new_notebook(cells=cells))
    numbers = [document.names.number(part) for part in document.parts[1:]]
    assert numbers == ["Figure 1", "Table 1", "Table 2", "Figure 2"]


def test_the_title_comes_first_and_its_language_rules():
    notebook = v4.new_notebook(cells=[shown(table("A.")), shown(Title("T", language="ko"))])
    document = document_of(notebook)
    assert document.parts[0].title == "T"
    assert document.names.number(document.parts[1]) == "표 1"


def test_what_has_no_caption_takes_the_heading_above_it():
    cells = [
        v4.new_markdown_cell("# T"),
        shown(figure("")),
        v4.new_markdown_cell("## Look\n\nAt this."),
        v4.new_code_cell("a = 1"),
        shown(table("Mine."), table("")),
    ]
    first, *_, second, third = document_of(v4.new_notebook(cells=cells)).parts[1:]
    assert [part.caption for part in (first, second, third)] == ["T", "Mine.", "Look"]


def test_a_pasted_picture_a_raw_cell_and_a_styled_frame_are_shown_as_what_they_are():
    pasted = v4.new_markdown_cell("# T\n\n![a](attachment:image.png)")
    pasted["attachments"] = {"image.png": {"image/png": PNG}}
    styled = {"text/plain": "<pandas.io.formats.style.Styler at 0x7f3c>", "text/html": "<b>1</b>"}
    formula = {"text/plain": "<IPython.core.display.Math object>", "text/latex": "$x^2$"}
    outputs = [v4.new_output("display_data", data=data) for data in (styled, formula)]
    guide, raw = v4.new_markdown_cell("Read this."), v4.new_raw_cell("raw")
    cells = [pasted, guide, raw, v4.new_code_cell("...", outputs=outputs)]
    notebook = from_dict(scrubbed(v4.new_notebook(cells=cells)))
    document = document_of(notebook)
    printed = [part.text for part in document.parts if isinstance(part, Printed)]
    assert printed == ["", "$x^2$"]
    written = page(document)
    assert f"data:image/png;base64,{PNG}" in written and "Read this." in written


def test_a_number_in_markdown_is_not_parted_from_its_unit():
    cell = v4.new_markdown_cell("At 96 % it takes 20.48 MB on 12 cores and 5 apples, see `5 MB`.")
    written = page(document_of(v4.new_notebook(cells=[cell])))
    for words in ("96 %", "20.48 MB", "12 cores"):
        assert words.replace(" ", "\N{NO-BREAK SPACE}") in written
    assert "5 apples" in written and "<code>5 MB</code>" in written


def test_a_long_name_of_a_row_keeps_a_width_at_which_it_is_read():
    rows = pd.DataFrame({"setting": ["a long name / " * 6], "wall_s": ["1"]})
    written = page(document_of(v4.new_notebook(cells=[shown(Table.of_frame(rows, "A."))])))
    assert '<th scope="row" class="dz-sentences">' in written


def test_the_face_is_the_first_figure():
    document = document_of(v4.new_notebook(cells=[shown(figure("A."), figure("B."))]))
    assert document.face.caption == "A."
    assert document_of(v4.new_notebook()).face is None


def test_guidance_stays_in_the_notebook_and_other_outputs_are_kept_plainly():
    cells = [
        v4.new_markdown_cell("Guide", metadata={"tags": ["notebook-only"]}),
        v4.new_markdown_cell("Read me"),
        v4.new_code_cell("", outputs=[
            v4.new_output("stream", name="stdout", text="printed"),
            v4.new_output("stream", name="stderr", text="/a/path: warning"),
            v4.new_output("display_data", data={"image/png": PNG, "text/plain": "a dot"}),
            v4.new_output("display_data", data={"text/plain": "repr", "text/html": "<b>bold</b>"}),
        ]),
    ]  # fmt: skip
    _, printed, dot, other = document_of(v4.new_notebook(cells=cells)).parts
    assert printed == Printed("printed")
    assert dot.caption == "Read me"
    assert 'viewBox="0 0 1 1"' in dot.svg and PNG in dot.svg
    assert other == Printed("repr", "<b>bold</b>")


def test_the_heading_of_cells_that_show_nothing_stands_over_no_other_section():
    empty = v4.new_code_cell("", outputs=[])
    cells = [
        *(v4.new_markdown_cell("# A title"), empty),
        *(v4.new_markdown_cell("## Nothing\n\nWhat is missing."), empty),
        v4.new_markdown_cell("What is there.", metadata={"tags": ["notebook-only"]}),
        shown(Prose((), heading="Exceptions"), Prose(("One.",))),
    ]
    html = page(document_of(v4.new_notebook(cells=cells)))
    assert "Exceptions" in html and "Nothing" not in html


def test_a_failed_cell_makes_no_document():
    error = v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    cell = v4.new_code_cell("", outputs=[error])
    with pytest.raises(ReportError, match="ValueError: no"):
        document_of(v4.new_notebook(cells=[cell]))


def test_parameters_are_those_that_papermill_was_given():
    told = {"papermill": {"parameters": {"run": "run-1"}}}
    heading, parameters = document_of(v4.new_notebook(metadata=told)).parts[1:]
    assert isinstance(heading, Prose)
    assert parameters.frame.values.tolist() == [["run", "run-1"]]


@pytest.mark.parametrize(
    "blocks",
    [(figure("A.", id="same"), table("B.", id="same")),
     (table("A.", id="t", row_ids=["2"]), figure("B.", id="t-2")),
     (table("A.", id="t"), Table(["a"], [["1"], ["2"]], "B.", id="u", row_ids=["x", "x"]))],
)  # fmt: skip
def test_two_things_with_one_id_are_told_to_the_author(blocks):
    with pytest.raises(ReportError, match="id"):
        document_of(v4.new_notebook(cells=[shown(*blocks)]))


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
