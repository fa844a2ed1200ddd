"""What the explorer offers: runs, published curves, and of each the columns that make a curve."""

from __future__ import annotations

import pandas as pd
import pytest

from deadzone.report.explorer.choices import ExplorerTable, list_tables
from deadzone.store.table import rows_at


@pytest.fixture
def table():
    frame = pd.DataFrame([(t, r, 10.0 / t, 5.0, True, i, 0) for i, (t, r) in
                          enumerate([(t, r) for t in (1, 2, 4, 8) for r in (100, 200)])],
                         columns=["threads", "rate", "wall_s", "speed_x", "trusted", "trial", "exit_code"])  # fmt: skip  # noqa: E501
    return ExplorerTable(
        frame.assign(fps=range(1, 9)), "threads", "wall_s", ("threads", "rate"), {"wall_s": "min"}
    )


def test_a_knob_needs_three_levels_and_a_response_must_vary(table):
    assert table.knobs() == ["threads"]
    assert table.responses() == ["wall_s", "fps"]


def test_the_goal_is_the_studys_or_that_of_the_name(table):
    assert (
        table.goal("wall_s") == "min"
        and table.goal("fps") == "max"
        and table.goal("user_s") == "min"
    )


def test_another_factor_makes_slices(table):
    slices = table.slices("threads")
    assert list(slices) == ["rate = 100", "rate = 200"]
    assert len(rows_at(table.trials, slices["rate = 200"])) == 4


def test_a_factor_that_moves_with_the_knob_makes_none():
    frame = pd.DataFrame({"cpu_limit": [1, 2, 3], "threads": [1, 2, 3], "wall_s": [3.0, 2.0, 1.0]})
    both = ExplorerTable(frame, "cpu_limit", "wall_s", ("cpu_limit", "threads"), {})
    assert both.slices("cpu_limit") == {"": {}}
    assert both.knobs() == ["cpu_limit", "threads"]


def test_published_curves_are_there_without_any_run(home):
    found = list_tables()
    assert list(found) == ["ffmpeg-threads", "thread-pools"]
    outbound = found["thread-pools"]["outbound"]()
    assert outbound.knobs()[0] == "pool_size" and len(outbound.slices("pool_size")) == 5


def test_runs_come_first_and_the_newest_of_them_first(home, write_study, sweep):
    path = write_study(factors={"threads": [1, 2, 3]})
    runs = [sweep(path).run_id for _ in range(2)]
    found = list_tables()
    assert list(found["probe"]) == sorted(runs, reverse=True)
    loaded = found["probe"][runs[0]]()
    assert (loaded.knob, loaded.response) == ("threads", "wall_s") and len(loaded.trials) == 6


def test_levels_to_leave_out_stand_in_the_order_of_the_axis():
    frame = pd.DataFrame({"cpu_limit": [10.0, 2.125, 0.25, 10.0], "wall_s": [1.0, 2.0, 8.0, 1.1]})
    table = ExplorerTable(frame, "cpu_limit", "wall_s", ("cpu_limit",), {})
    assert table.levels("cpu_limit") == [("0.25", 0.25), ("2.125", 2.125), ("10", 10.0)]
