"""Blocks as Typst: every text a string, nothing that could become code."""

from __future__ import annotations

import pandas as pd
import pytest
import typst

from deadzone.reports.document.display import (
    Claim,
    Command,
    Evidence,
    Figure,
    Prose,
    Regression,
    Table,
    Title,
)
from deadzone.reports.document.document import Document, Names
from deadzone.reports.document.typst import block_typst, label_of, string

HOSTILE = 'a "quoted" \\ #panic("no") $x$ ``` *bold* <label> @ref {=typst}\nnext \x01'


def document(*blocks):
    title = Title("T")
    return Document(title, (title, *blocks), Names(blocks, ["trials.parquet"]), "en")


@pytest.mark.parametrize("text", [HOSTILE, "한글", "", '"', "\\"])
def test_a_string_is_read_back_as_it_was(text):
    source = f"#metadata({string(text)}) <x>".encode()
    assert __import__("json").loads(typst.query(source, "<x>", field="value", one=True)) == text.replace(
        "\r", ""
    )


def test_evidence_becomes_links_within_and_beside_the_report():
    figure = Figure("<svg></svg>", "C.", "D.", id="f")
    prose = Prose((Claim("So.", (Evidence("f"), Evidence("trials.parquet"), Evidence("gone"))),))
    code = block_typst(prose, document(figure, prose), {})
    assert '("Figure 1", "f", false)' in code
    assert '("trials.parquet", "trials.parquet", true)' in code
    assert "gone" not in code


def test_a_figure_hands_over_its_drawing():
    drawings = {}
    figure = Figure("<svg>1</svg>", "C.", "D.", id="f")
    code = block_typst(figure, document(figure), drawings)
    assert drawings == {"f.svg": "<svg>1</svg>"}
    assert '"f.svg"' in code and '"D."' in code


def test_tables_commands_and_regressions_carry_all_their_texts():
    table = Table(pd.DataFrame({"h": [HOSTILE]}), "Cap.", id="t", row_ids=["0.5"])
    for block in (table, Command((HOSTILE,)), Regression("Cap.", (table,))):
        assert string(HOSTILE) in block_typst(block, document(block), {})
    assert '"t-0.5"' in block_typst(table, document(table), {})


def test_labels_are_made_of_what_typst_allows():
    assert label_of("treatments-0.25") == "treatments-0.25"
    assert label_of("a b/c") == "a-b-c"
