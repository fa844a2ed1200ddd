import pandas as pd
import pytest

from deadzone.measurement import Sample
from deadzone.store import table
from deadzone.store.table import IDENTITY, SHARED, long_pieces, tidy_pieces, whole, write_pieces


def record(trial, limit, **responses):
    return {
        "trial": trial, "attempt": 1, "final": True, "warmup": trial == 1, "wall_s": 1.5,
        "nr_throttled": None, "status": "ok", "trusted": True, "levels": {"cpu_limit": limit},
        "responses": responses,
    }  # fmt: skip


def tidied(*records):
    """The table of records."""
    return whole(tidy_pieces(lambda: records, "r", ["cpu_limit"]))


def test_columns_stand_in_the_order_identity_factors_shared_responses():
    table = tidied(record(1, 0.5, fps=9.0), record(2, 1, speed_x=2.0))
    assert list(table.columns) == [*IDENTITY, "cpu_limit", *SHARED, "fps", "speed_x"]
    assert table["warmup"].tolist() == [True, False]
    assert table["nr_throttled"].isna().all()
    assert table["fps"].isna().tolist() == [False, True]


def test_no_trials_are_a_table_without_rows():
    assert tidied().empty
    columns = ["run_id", "trial", "attempt", "t_s", "metric", "value"]
    assert list(whole(long_pieces([], "r", "samples", Sample)).columns) == columns


def test_a_series_has_a_row_a_reading():
    samples = [[0.1, "nr_periods", 1.0], [0.2, "nr_periods", 2.0]]
    lines = [{"trial": 3, "attempt": 2, "samples": samples}]
    table = whole(long_pieces(lines, "r", "samples", Sample))
    assert table.to_numpy().tolist() == [["r", 3, 2, *reading] for reading in samples]


RECORDS = [
    record(1, 1, fps=9.0), record(2, 2, fps=None),
    {**record(3, 0.5, speed_x=2.0), "exit_code": 3, "pod": "a"}, {**record(4, 1), "levels": {}},
    record(5, "none", fps=1.0),
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_a_table_made_in_pieces_is_the_whole_table(n, tmp_path, monkeypatch):
    expected = tidied(*RECORDS[:n])
    monkeypatch.setattr(table, "PIECE", 2)
    pieces = list(table.tidy_pieces(lambda: RECORDS[:n], "r", ["cpu_limit"]))
    assert len(pieces) == -(-n // 2)
    pd.testing.assert_frame_equal(table.whole(pieces), expected)
    write_pieces(iter(pieces), tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), expected)


def test_levels_are_numbers_where_all_are_and_text_where_one_is_a_word():
    assert tidied(*RECORDS[:2])["cpu_limit"].dtype == "int64"
    assert tidied(*RECORDS[:3])["cpu_limit"].tolist() == [1.0, 2.0, 0.5]
    assert tidied(*RECORDS[:4])["cpu_limit"].isna().tolist() == [False, False, False, True]
    assert tidied(*RECORDS)["cpu_limit"].tolist()[:3] == ["1", "2", "0.5"]
    words = tidied(record(2, 1_099_511_627_776), record(3, "none"))
    assert words["cpu_limit"].tolist() == ["1099511627776", "none"]


@pytest.mark.parametrize(
    ("changes", "counts"),
    [({}, True), ({"warmup": True}, False), ({"trusted": False}, False),
     ({"status": "failed"}, False)],
)  # fmt: skip
def test_a_trial_counts_that_ended_well_is_trusted_and_is_no_warm_up(changes, counts):
    read = {**record(2, 4.0), **changes}
    assert tidied(read)["counted"].tolist() == [counts]
