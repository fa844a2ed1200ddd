import nbformat.v4 as v4
import pandas as pd
import pytest

import deadzone as dz
from deadzone.report.document.display import PLAIN, Figure, Prose, Regression, Table, Title, Verdict
from deadzone.report.document.document import document_of
from deadzone.report.document.execution import execute
from deadzone.report.document.frames import summary_of, table_of
from deadzone.report.document.outputs import Markdown, Printed
from deadzone.report.document.publishing import write_report
from report.made_runs import write_notebook

DRAWING = "<?xml?><svg viewBox='0 0 1 1'><!-- threads --><!-- 2.5 --></svg>"

TRIALS = pd.DataFrame(
    {"pool": ["in", "in", "out", "out"], "rate": [100, 200, 100, 200],
     "wall_s": [1.5, None, 0.25, 3.0], "status": ["ok", "ok", "<b>", "ok"]}
)  # fmt: skip


def frame_output(frame):
    data = {PLAIN: table_of(frame).to_json(), "text/plain": repr(frame)}
    return v4.new_output("execute_result", data=data)


def code(source="", *outputs, **metadata):
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def drawing(text="<Figure size 640x480 with 1 Axes>"):
    return v4.new_output("display_data", data={"image/svg+xml": DRAWING, "text/plain": text})


def parts(*cells):
    return document_of(v4.new_notebook(cells=list(cells))).parts[1:]


def table(frame, caption="C."):
    (shown,) = parts(code(f"# {caption}", frame_output(frame)))
    return shown


def test_a_data_frame_is_a_table_with_units_and_numbers_to_the_right():
    shown = table(TRIALS, "Trials.")
    assert shown.columns == ["pool", "rate [requests/s]", "wall [s]", "status"]
    assert shown.numeric == ["rate [requests/s]", "wall [s]"]
    assert shown.rows[1:3] == [["in", "200", "-", "ok"], ["out", "100", "0.25", "<b>"]]
    assert shown.caption == "Trials."


def test_an_index_with_a_meaning_is_kept_and_the_count_of_rows_is_not():
    assert table(TRIALS[["wall_s"]].describe()).columns == ["", "wall [s]"]
    assert table(TRIALS.set_index("pool")[["wall_s"]]).rows[2] == ["out", "0.25"]
    assert table(TRIALS[TRIALS["pool"] == "out"]).columns[0] == ""  # rows 2 and 3 of something


def test_spans_cross_tables_and_columns_of_one_name_are_told_apart():
    by_pool = table(TRIALS.groupby(["pool", "rate"])[["wall_s"]].agg(["mean", "count"]))
    assert by_pool.columns == ["pool", "rate [requests/s]", "wall [s], mean", "wall [s], count"]
    pools, rates = ["in", "in", "out", "out"], ["100", "200"] * 2
    assert [row[:2] for row in by_pool.rows] == [[*row] for row in zip(pools, rates, strict=True)]
    crossed = table(TRIALS.pivot_table("wall_s", "pool", "rate"))
    assert crossed.columns == ["pool \\ rate", "100", "200"]
    assert crossed.rows == [["in", "1.50", "-"], ["out", "0.25", "3"]]
    twice = table(pd.concat([TRIALS[["wall_s"]], TRIALS[["wall_s"]]], axis=1))
    assert [name.rstrip("\u200b") for name in twice.columns] == ["wall [s]", "wall [s]"]
    assert twice.is_right == [True, True]


def test_cells_are_written_as_a_reader_writes_them():
    columns = {
        "cpu_limit": [1.0, None], "block_bytes": [1024, 20480000], "share_low": [0.5, 12345.25],
        "is_kept": [True, False], "label": ["dead_zone", "plateau"], "code": ["00042", "1e+08"],
    }  # fmt: skip
    shown = table(pd.DataFrame(columns))
    heads = ["cpu limit [cores]", "block [bytes]", "share low", "is kept", "label", "code"]
    assert shown.columns == heads
    assert shown.rows == [
        ["1", "1024", "0.50", "yes", "dead zone", "00042"],
        ["-", "20,480,000", "12,345.25", "no", "plateau", "1e+08"],
    ]


def test_a_summary_is_one_block_of_tables():
    summary = dz.fit_phases(
        dz.load_reference("ffmpeg-threads", "limit-equals-threads"), "cpu_limit", "wall_s"
    ).summary()
    shown = {PLAIN: summary_of(summary).to_json(), "text/plain": str(summary)}
    output = v4.new_output("execute_result", data=shown)
    (block,) = parts(code("# The curve.\nmodel.summary()", output))
    assert isinstance(block, Regression)
    assert block.caption == "The curve. Phase model: wall time (s) over CPU limit (cores)"
    tables = {one.caption: one for one in block.tables}
    assert tables["Fit"].paired and ["Levels", "16 (1 to 16)"] in tables["Fit"].rows
    assert tables["Phases"].rows[1][:3] == ["2", "4-6", "dead zone"]
    assert tables["Phases"].columns[6] == "P>|t|" and "elasticity" in tables["Phases"].numeric


def test_a_frame_shown_in_part_says_how_large_it_is():
    shown = table(pd.DataFrame({"n": range(100)}), "Counts.")
    assert shown.caption == "Counts. (100 rows × 1 columns)"
    assert ["..."] in shown.rows
    assert shown.numeric == ["n"]
    for options, rows in (
        (("max_rows", None), 100),
        (("max_rows", 5), 5),
        (("min_rows", None), 61),
    ):
        with pd.option_context(f"display.{options[0]}", options[1]):
            assert len(table(pd.DataFrame({"n": range(100)}), "Counts.").rows) == rows


def test_the_caption_is_the_last_comment_of_the_cell():
    cell = code("x = 1\n# One row\n# a trial.\nx  # not this\n", frame_output(TRIALS))
    guide = v4.new_markdown_cell("Read this first.")
    assert [type(part) for part in parts(guide, cell)] == [Markdown, Table]
    assert parts(guide, cell)[1].caption == "One row a trial."
    cell = code('# Real\nx = """\n# Not a comment\n"""\nx\n', frame_output(TRIALS))
    assert parts(guide, cell)[1].caption == "Real"


def test_else_it_is_the_paragraph_before_which_is_not_said_twice():
    guide = v4.new_markdown_cell("## Data\n\nA list:\n\n- one\n\nEvery `trial`, *by* level.")
    told, shown = parts(guide, code("frame", frame_output(TRIALS)))
    assert told == Markdown("## Data\n\nA list:\n\n- one")
    assert shown.caption == "Every trial, by level."


def test_else_it_is_the_heading():
    for guide in ("## Data", "## Data\n\n- a list"):
        told, shown = parts(v4.new_markdown_cell(guide), code("frame", frame_output(TRIALS)))
        assert (told, shown.caption) == (Markdown(guide), "Data")


def test_a_figure_takes_its_caption_and_tells_its_words():
    leftover = v4.new_output("execute_result", data={"text/plain": "<Axes: xlabel='threads'>"})
    (figure,) = parts(v4.new_markdown_cell("Times fall."), code("", leftover, drawing()))
    assert isinstance(figure, Figure)
    told = ("Times fall.", "Times fall. In the figure: threads.")
    assert (figure.caption, figure.description) == told


@pytest.mark.parametrize(
    "text",
    ["<Axes: >", "[<matplotlib.lines.Line2D at 0x7f>]", "<seaborn.axisgrid.FacetGrid at 0x7f>",
     "Text(0.5, 1.0, 'a')", "array([<Axes: >], dtype=object)", "<BarContainer object of 3 artists>",
     "[Text(0.5, 0, 'x')]", "(array([1.]), array([0.]), <BarContainer object of 1 artists>)"],
)  # fmt: skip
def test_what_drawing_leaves_behind_is_not_printed(text):
    assert not parts(code("", v4.new_output("execute_result", data={"text/plain": text})))


def test_a_value_is_printed_and_menus_and_sliders_that_need_a_kernel_are_left_out():
    view = {"model_id": "1", "version_major": 2, "version_minor": 0}
    data = {"application/vnd.jupyter.widget-view+json": view, "text/plain": "HBox(children=())"}
    assert parts(code("explorer", v4.new_output("display_data", data=data))) == ()
    value = v4.new_output("execute_result", data={"text/plain": "(1, 2)"})
    assert parts(code("", value)) == (Printed("(1, 2)"),)


def test_a_computed_sentence_is_markdown_and_leaves_the_text_before_it():
    data = {"text/markdown": "**2.1** times", "text/plain": "..."}
    said = v4.new_output("display_data", data=data)
    told, shown = parts(v4.new_markdown_cell("True if it holds."), code("", said))
    assert (told, shown) == (Markdown("True if it holds."), Markdown("**2.1** times"))


def test_the_first_heading_is_the_title_with_the_sentence_below_it():
    cell = v4.new_markdown_cell("# Pools & *threads*\n\nHow many?\n\nTwo tables.")
    document = document_of(v4.new_notebook(cells=[cell, v4.new_markdown_cell("# Second")]))
    assert (document.title.title, document.title.subtitle) == ("Pools & threads", "How many?")
    assert document.parts[1:] == (Markdown("Two tables."), Markdown("# Second"))


def test_an_appendix_comes_last_with_the_words_before_it():
    cells = (
        v4.new_markdown_cell("Raw."), code("", frame_output(TRIALS), tags=["appendix"]),
        v4.new_markdown_cell("Figure."), code("", drawing()),
    )  # fmt: skip
    assert [part.caption for part in parts(*cells)] == ["Figure.", "Raw."]


def test_a_block_of_ones_own_keeps_its_caption():
    block = Prose(("Said.",))
    shown = v4.new_output("display_data", data=block._repr_mimebundle_())
    told, kept = parts(v4.new_markdown_cell("Words before."), code("# A comment.\n", shown))
    assert (told, kept.paragraphs) == (Markdown("Words before."), ("Said.",))


@pytest.mark.night
@pytest.mark.programs
def test_a_notebook_of_pandas_and_seaborn_is_published_the_same_each_time(tmp_path):
    cells = (
        v4.new_markdown_cell("# Pools"),
        code("import pandas as pd\nimport seaborn as sns\nframe = pd.DataFrame({'n': [1, 2] * 9, " "'wall_s': range(18)})"),  # noqa: E501
        v4.new_markdown_cell("Every trial."), code("sns.stripplot(frame, x='n', y='wall_s')"),
        v4.new_markdown_cell("Times by level."), code("frame.groupby('n').mean()"),
        v4.new_markdown_cell("A sentence."), code("pd.DataFrame({'found': ['word ' * 40 + " "'end']})"),  # noqa: E501
    )  # fmt: skip
    notebook = write_notebook(tmp_path / "pools.ipynb", *cells)
    for name in ("one", "other"):
        execute(notebook, tmp_path / "executed.ipynb", {})
        write_report(tmp_path / "executed.ipynb", tmp_path / name)
    page = (tmp_path / "one" / "index.html").read_text()
    assert "<h1>Pools</h1>" in page and "&lt;Axes" not in page and "<dc:date>" not in page
    said = ("Figure 1.</span> Every trial.", "Table 1.</span> Times by level.", "wall [s]")
    assert all(text in page for text in said)
    assert "word end<" in page  # where pandas would cut it
    assert (
        page.count('id="figure-1-PathCollection') == 2
    )  # marks of the drawing, not a picture of them
    for name in ("index.html", "report.pdf", "report.ipynb"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_the_verdict_comes_first_with_its_figure_and_gives_the_head_of_a_run():
    head = Title("Pools of this machine", "How many?", host="vm")
    verdict = Verdict(("Set 2.", "A doubt."), heading="Verdict", of=head)
    shown = v4.new_output("display_data", data=verdict._repr_mimebundle_())
    document = document_of(v4.new_notebook(cells=[
        v4.new_markdown_cell("# Pools\n\nIn general."), code("frame", frame_output(TRIALS)),
        v4.new_markdown_cell("The curve."), code("", shown, drawing()),
    ]))  # fmt: skip
    assert [type(part) for part in document.parts[1:]] == [Verdict, Figure, Table]
    assert (document.title.title, document.title.subtitle, document.title.verdict) == (
        "Pools of this machine", "How many?", "Set 2.",
    )  # fmt: skip


def test_words_whose_cells_show_nothing_are_left_out_and_their_heading_goes_on():
    cells = [
        v4.new_markdown_cell("# T\n\nWhy."),
        code(),
        v4.new_markdown_cell("## Flames\n\nBlue became less."),
        code(),
        v4.new_markdown_cell("Orange became more."),
        code("", frame_output(pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name="k")))),
        v4.new_markdown_cell("## Alone\n\nWhat each did."),
        code(),
        v4.new_markdown_cell("## End\n\nIt holds here."),
    ]
    told = [part.source for part in parts(*cells) if isinstance(part, Markdown)]
    assert told == ["## Flames", "## End\n\nIt holds here."]


def test_probabilities_have_their_bounds_and_other_numbers_do_not():
    numbers = {"probability": [1.0, 0.97, 0.0], "p": [0.0, 0.04, 1.0], "rate": [1.0, 0.5, 0.0]}
    shown = table(pd.DataFrame(numbers))
    told = [[">99 %", "<0.001", "1.0"], ["97 %", "0.040", "0.5"], ["<1 %", "1.000", "0.0"]]
    assert shown.rows == told and shown.is_right == [True, True, True]
