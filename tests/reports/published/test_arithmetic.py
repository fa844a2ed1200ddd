"""A document's own arithmetic, and what it measured twice."""

from __future__ import annotations

import pandas as pd
import pytest

from deadzone.reports.published.arithmetic import arithmetic, repeats, repeats_table, usual_difference


def test_cells_measured_twice_differ_by_four_percent_and_one_by_a_quarter():
    pairs = repeats("ffmpeg-threads")
    assert usual_difference(pairs) == pytest.approx(0.043)
    table = repeats_table(pairs)
    assert "up to 4.3 %" in table.caption and "27 %" in table.caption
    assert table.rows[-1] == ["11 cores, 11 threads", "5.080", "3.720", "-26.8"]


def test_a_study_without_repeats_has_no_usual_difference():
    assert usual_difference(repeats("disk-io")) == 0.0
    assert usual_difference(pd.DataFrame({"difference_percent": [30.0]})) == 0.0


@pytest.mark.parametrize(
    ("study", "wrong"),
    [("ffmpeg-threads", 5), ("pod-cpu-limit", 0), ("thread-pools", 2), ("media-server", 5), ("disk-io", 1)],
)
def test_only_figures_that_do_not_come_out_are_listed(study, wrong):
    blocks = arithmetic(study)
    tables = [block for block in blocks if getattr(block, "id", "") == "arithmetic"]
    assert sum(len(table.rows) for table in tables) == wrong
    if not wrong:
        assert "None is wrong." in map(str, blocks[-1].paragraphs)


def test_a_wrong_sum_is_named_with_what_it_should_be():
    row = next(row for row in arithmetic("media-server")[-1].rows if "sum" in row[0])
    assert row[1:] == ["26.04", "49.36", "s", "wrong"]
