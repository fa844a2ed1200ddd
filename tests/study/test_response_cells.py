import json

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.fit import fit_phases
from deadzone.errors import PhaseError
from deadzone.study.response_cells import by_distinct, level_names, said_of, with_numbers
from deadzone.study.scales import level_name


@pytest.mark.parametrize(
    ("cells", "numbers", "said"),
    [(["12.5 ms", "8ms", "1e3 ms"], [12.5, 8, 1000], None),
     (["10m43s", "1h 0m 2s", "54.07s", "1h02m"], [643, 3602, 54.07, 3720], None),
     (["38:50:07", "1:02.5", "0:13"], [139807, 62.5, 13], None),
     (["28,893.18", "1,234", "7"], [28893.18, 1234, 7], None),
     (["0,5", "12,25"], [0.5, 12.25], None), (["0,123,456 ms", "5 ms"], [123456, 5], None),
     (["56111K", "60000K"], [56111000, 60000000], "k is 1,000"),
     (["950", "1.2k", "1.1M"], [950, 1200, 1.1e6], "M, k in the cells"),
     (["1,234 s", "7 s"], [1234, 7], None),
     (["1 ± 0.2", "2+-3%", "12 +/- 2"], [1, 2, 12], "The spread behind ± in 'y', or half of a"),
     (["57.90s", "102 s (cold)"], [57.9, 102], "Remarks behind numbers in 'y' are left out."),
     (["43632.7 (1.56x)", "27913 (1.0x)"], [43632.7, 27913], "Remarks behind numbers"),
     (["1 (± 0.2)", "2 (+-3%)"], [1, 2], "The spread behind ± in 'y', or half of a range"),
     (["1h02m", "42m10s", "42m"], [3720, 2530, 2520], "(m, s), all are converted to s."),
     (["~90 secs", "35 secs"], [90, 35], "rounded by hand"), (["45 %", "7%"], [45, 7], None),
     (["587 µs", "1.87 ms", "6.14 ms"], [0.587, 1.87, 6.14], "(ms, µs), all are converted to ms."),
     (["78,39", "72,973", "130,515"], [78.39, 72.973, 130.515],
      "A comma in 'y' stands for decimals: 72,973 is read as 72.973."),
     (["1,200 (8,16 conns)", "2,300"], [1200, 2300], "Remarks behind numbers in 'y' are left"),
     (["1,5 (1,234 x)", "2,345"], [1.5, 2.345], "2,345 is read as 2.345"),
     (["1,234 ± 5,5", "2,345 ± 6,1"], [1234, 2345], "The spread behind ±"),
     (["1,234,567", "78,39"], [1234567, 78.39], None),
     (["0 ms", "5", "7"], [0, 5, 7], "Only the first cell of 'y' has a unit, ms"),
     (["8 ms", "4", "0.1"], [8, 4, 0.1], "Only the first cell of 'y' has a unit, ms"),
     (["0.53 GiB/s", "1.41"], [0.53, 1.41], "Only the first cell of 'y' has a unit, GiB/s"),
     (["0", "5 ms"], [0, 5], None), (["$100-200", "$200-400"], [150, 300], "the middle counts"),
     (["500 ms", "2 s", "1min"], [0.5, 2, 60], "several units (min, ms, s), all are converted"),
     (["1 MB/s", "2 GB/s", "3 MiB/s"], [1e6, 2e9, 3 * 2**20], "converted to B/s"),
     (["896 M/s", "1.0 G/s"], [896e6, 1e9], "(G/s, M/s), all are converted to /s."),
     (["900 ops/s", "1.2 Kops/s"], [900, 1200], "converted to ops/s"),
     (["2 673", "10 311 k"], [2673, 10311000], "k is 1,000"), (["1.8×", "3x"], [1.8, 3], None),
     (["3,939", "~3,900*"], [3939, 3900], "Remarks behind numbers in 'y' are left out."),
     (["$0.02", "$1.5"], [0.02, 1.5], None), (["4.5:1", "1:1"], [4.5, 1], None),
     (["22-28ms", "500–600 ms"], [25, 550], "of a range the middle counts"),
     (["~10 min", "~1-1.5 min"], [10, 1.25], "or half of a range, is taken for the noise"),
     (["440 /sec", "1,229 /sec"], [440, 1229], None), (["1e-3", "2e-3"], [0.001, 0.002], None),
     (["4 s", "n/a", "-", ""], [4, np.nan, np.nan, np.nan], None)],
)  # fmt: skip
def test_cells_become_numbers_of_one_unit(cells, numbers, said):
    frame = with_numbers(pd.DataFrame({"y": cells}), "y")
    np.testing.assert_allclose(frame["y"], numbers)
    words = " ".join(said_of(frame, "y"))
    assert (words == "") if said is None else said in words


def test_words_for_a_failure_are_a_status():
    frame = with_numbers(pd.DataFrame({"y": ["4 s", "300 s (timeout 3x)", "OOM", "fail"]}), "y")
    assert frame["status"].tolist() == ["ok", "timeout", "oom_killed", "failed"]
    assert "3 cells of 'y' are words for a failure" in said_of(frame, "y")[-1]


def test_a_frame_and_the_command_read_them_alike(fit_of):
    frame = pd.DataFrame(
        {"threads": [1, 1, 2, 2, 4, 4, 8],
         "wall": ["8 s", "8.1 s", "4000 ms", "4.1 s", "2 s", "2.1 s", "OOM"]},
    )  # fmt: skip
    model = fit_phases(frame, "threads", "wall")
    assert list(model.levels["level"]) == [1, 2, 4]
    assert any("converted to s" in words for words in model.warnings)
    said = fit_of(frame.to_csv(index=False), "threads", "wall", "--json")
    assert json.loads(said.out)["recommendation"]["setting"] == 4


@pytest.mark.parametrize(
    ("cells", "words"),
    [(["4 s", "fast"], "1 value is no number in 'y', the first is 'fast' in data row 2"),
     (["4 s", "185 µs / 190 µs"], "give several a row each"),
     (["4 s", "600-500 s"], "the first is '600-500 s'"),
     (["4 s", "2024-10-03"], "the first is '2024-10-03'"),
     (["1.1 GB/s", "900", "2100"], "the first is '1.1 GB/s'"),
     (["8 s", "400", "200"], "the first is '8 s'"), (["2 GB", "900"], "the first is '2 GB'"),
     (["1:02.5", "1.234"], "the first is '1:02.5'"), (["1:02,5", "1,234"], "the first is '1:02,5'"),
     (["4 s", "3 MB"], "2 values are not numbers in 'y', the first is '4 s' in data row 1")],
)  # fmt: skip
def test_a_cell_that_cannot_be_read_is_refused_with_its_row(cells, words):
    frame = pd.DataFrame({"n": range(len(cells)), "y": cells})
    assert with_numbers(frame, "y") is frame
    with pytest.raises(PhaseError, match=words):
        fit_phases(frame, "n", "y")


COLUMNS = {
    "whole": [4, 2, 4, 1], "fractions": [0.25, np.nan, 0.25, np.inf],
    "words": ["none", None, " Auto", "64MB", ""], "truth": [True, False, True],
    "mixed": [1, True, 1.0, "1", None], "numbers": [1, 2.5, None], "lists": [[1], [1, 2]],
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_names_are_those_of_each_cell(kind):
    column = pd.Series(COLUMNS[kind], name="knob", index=range(5, 5 + len(COLUMNS[kind])))
    names = level_names(column)
    assert names.tolist() == [level_name(cell) for cell in column]
    assert names.index.equals(column.index) and names.name == "knob"


@pytest.mark.parametrize("dtype", ["Int64", "string", "category", "boolean"])
def test_types_of_pandas_have_names_too(dtype):
    cells = [True, None, True] if dtype == "boolean" else ["1", None, "1"]
    column = pd.Series(cells, dtype="string" if dtype == "Int64" else dtype).astype(dtype)
    assert level_names(column).tolist() == [level_name(cell) for cell in column]


def test_a_value_is_asked_for_once():
    asked = []
    by_distinct(pd.Series([3, 3, 1, 3]), lambda value: asked.append(value) or value, 0)
    assert asked == [3, 1]
