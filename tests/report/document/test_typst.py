import json

import pandas as pd
import pytest
import typst

from deadzone.report.document.display import (
    Claim,
    CommandBlock,
    Evidence,
    Figure,
    Prose,
    Regression,
    Table,
)
from deadzone.report.document.pdf import TEMPLATE, part_values, template_input
from report.document.test_pdf import document

HOSTILE = 'a "quoted" \\ #panic("no") $x$ ``` *bold* <label> @ref {=typst}\nnext \x01'


def of_template(expression: str, *blocks) -> object:
    """The value of an expression in the template, where it knows what some blocks say."""
    code = f'#import "report.typ": *\n#metadata({expression}) <asked>'.encode()
    told = {"report": template_input(document(*blocks))}
    found = typst.query(
        code, "<asked>", field="value", one=True, root=str(TEMPLATE.parent), sys_inputs=told
    )
    return json.loads(found)


@pytest.mark.parametrize("text", [HOSTILE, "한글", "", '"', "\\"])
def test_a_string_is_read_back_as_it_was(text):
    assert of_template("report.parts.at(1).lines.at(0)", CommandBlock((text,))) == text


def test_evidence_becomes_links_within_and_beside_the_report():
    figure = Figure("<svg></svg>", "C.", "D.", id="f")
    prose = Prose((Claim("So.", (Evidence("f"), Evidence("trials.parquet"), Evidence("gone"))),))
    [claim] = part_values(prose, document(figure, prose).names)["paragraphs"]
    links = [tuple(link.values()) for link in claim["links"]]
    file = "trials.parquet"
    assert links == [(1, "Figure 1", "f", False), (2, file, file, True)]


def test_a_figure_hands_over_its_drawing():
    figure = Figure('<svg role="img">1<script>zoom()</script></svg>', "C.", "D.", id="f")
    told = part_values(figure, document(figure).names)
    assert (told["svg"], told["id"], told["description"]) == ("<svg>1</svg>", "f", "D.")


def test_tables_commands_and_regressions_carry_all_their_texts():
    table = Table.of_frame(pd.DataFrame({"h": [HOSTILE]}), "Cap.", id="t", row_ids=["0.5"])
    for block in (table, CommandBlock((HOSTILE,)), Regression("Cap.", (table,))):
        assert json.dumps(HOSTILE) in json.dumps(part_values(block, document(block).names))
    grid = of_template("dz-grid-of(report.parts.at(1))", table)
    told = {"heads": ["h"], "rows": [[HOSTILE]], "ids": ["t-0.5"], "paired": False}
    assert grid == {**told, "right": [False]}
    table = Table.of_frame(pd.DataFrame({"h": ["a"], 2: ["1"]}), "Cap.", numeric=("2",))
    assert of_template("dz-grid-of(report.parts.at(1)).right", table) == [False, True]


@pytest.mark.parametrize(
    ("expression", "value"),
    [('str(dz-label("treatments-0.25"))', "treatments-0.25"), ('str(dz-label("a b/c"))', "a-b-c"),
     ('dz-date("2026-03-05T10:11:12Z").display()', "2026-03-05"),
     ('repr(dz-date("long ago"))', "none")],
)  # fmt: skip
def test_labels_are_made_of_what_typst_allows_and_dates_are_days(expression, value):
    assert of_template(expression) == value
