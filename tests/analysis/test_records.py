import json

import numpy as np
import pandas as pd

from deadzone.analysis.records import plain, records
from deadzone.language.messages import _


def test_a_frame_becomes_records_that_json_can_write_and_read_back():
    frame = pd.DataFrame(
        {
            "level": [1.0, np.inf],
            "n": np.array([3, 4], dtype=np.int64),
            "ok": [True, False],
            "p": [np.nan, 0.05],
            "missing": pd.array([1, pd.NA], dtype="Int64"),
        }
    )
    assert json.loads(json.dumps(records(frame), allow_nan=False)) == [
        {"level": 1.0, "n": 3, "ok": True, "p": None, "missing": 1},
        {"level": None, "n": 4, "ok": False, "p": 0.05, "missing": None},
    ]


def test_whole_numbers_are_written_without_a_point_where_asked_for():
    numbers = [plain(4.0, whole=True), plain(4.5, whole=True), plain(4.0)]
    assert json.dumps(numbers) == "[4, 4.5, 4.0]"
    assert plain(1e300, whole=True) == 1e300


def test_a_sentence_is_a_plain_string_afterwards():
    assert type(plain(_("no limit"))) is str
