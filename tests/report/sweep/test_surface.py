"""Both knobs of a grid together in a report: the map, its regions and sentences, in both
languages."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from deadzone.language.messages import speaking
from deadzone.report.document.display import Figure, Table
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from deadzone.report.sweep.terminal import in_terminal

NOISE = (0.99, 1.0, 1.01)


def analysis_of(tmp_path, rows, columns, by):
    path = tmp_path / "trials.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return analyse(load_source(table=str(path), response="wall_s", knob="threads", by=by))


@pytest.fixture
def grid(tmp_path):
    """A program that uses as many cores as limit and threads both allow."""
    rows = [(a, b, 10 / min(a, b) * n) for a, b, n in product((1, 2, 4), (1, 2, 3, 4), NOISE)]
    return analysis_of(tmp_path, rows, ["cpu_limit", "threads", "wall_s"], "cpu_limit")


def test_the_map_has_an_arrow_in_each_cell_and_says_the_same_in_words(grid):
    heading, figure, table, prose = SweepReport(grid).section("surface")
    assert heading.heading == "Both knobs together"
    assert (
        isinstance(figure, Figure)
        and "The scarcer of CPU limit and threads decides" in figure.caption
    )
    assert "raising threads pays" in figure.description
    assert isinstance(table, Table) and len(table.frame) == len(grid.surface.regions)
    assert table.frame.iloc[0, 1] in ("→ CPU limit pays", "↑ threads pays")
    said = [str(one) for one in prose.paragraphs]
    assert "1 core with 2 threads to 4 threads" in said[1].replace("\N{NO-BREAK SPACE}", " ")
    assert said[-2].startswith("Raise them together: 1") or said[-1].startswith(
        "Raise them together: 1"
    )


def test_the_same_in_korean(grid):
    with speaking("ko"):
        heading, figure, table, _ = SweepReport(grid).section("surface")
        assert heading.heading == "두 인자를 함께 보기"
        assert "더 부족한 쪽이 결정합니다" in figure.caption
        assert "효과 있음" in table.frame.iloc[0, 1]


def test_a_terminal_has_a_line_a_region_and_the_ridge(grid):
    lines = in_terminal(grid, None, details=True).splitlines()
    assert sum("pays (elasticity" in line for line in lines) == 2
    assert any(line.startswith("Raise them together") for line in lines)


def test_a_knob_that_pays_the_same_everywhere_has_one_end_of_it(tmp_path):
    rows = [(a, b, 10 / a / min(b, 2) * n) for a, b, n in product((1, 2, 4), (1, 2, 3, 4), NOISE)]
    said = SweepReport(
        analysis_of(tmp_path, rows, ["readers", "threads", "wall_s"], "readers")
    ).surface()[2]
    assert "raising threads beyond 2 threads brings" in str(said.paragraphs[-1]).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_a_knob_that_pays_to_the_end_says_so(tmp_path):
    rows = [(a, b, 10 / a / b * n) for a, b, n in product((1, 2, 4), (1, 2, 3, 4), NOISE)]
    said = SweepReport(
        analysis_of(tmp_path, rows, ["readers", "threads", "wall_s"], "readers")
    ).surface()[2]
    assert "raising threads pays to the end of what was measured" in str(said.paragraphs[-1])


def test_words_and_a_single_knob_have_no_such_section(tmp_path, grid):
    rows = [
        (a, b, c / b * n) for (a, c), b, n in product((("gzip", 8), ("xz", 9)), (1, 2, 3, 4), NOISE)
    ]
    words = analysis_of(tmp_path, rows, ["tool", "threads", "wall_s"], "tool")
    assert SweepReport(words).section("surface") == []
    alone = analysis_of(
        tmp_path,
        [(b, 8 / b * n) for b, n in product((1, 2, 3, 4), NOISE)],
        ["threads", "wall_s"],
        "",
    )
    assert alone.surface is None and SweepReport(alone).section("surface") == []
