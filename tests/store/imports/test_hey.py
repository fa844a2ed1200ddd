"""hey's CSV, a line a request."""

import numpy as np
import pandas as pd
import pytest

from deadzone.errors import FormatError
from store.imports.samples import imported, sample


def test_requests_are_summed_up_in_one_row():
    lines = pd.read_csv(sample("hey.csv"))
    row = imported("hey", sample("hey.csv")).iloc[0]
    assert row["requests"] == len(lines)
    assert row["latency_p99_ms"] == pytest.approx(np.percentile(lines["response-time"] * 1e3, 99))
    assert row["latency_max_ms"] == pytest.approx(lines["response-time"].max() * 1e3)
    assert row["wall_s"] == pytest.approx((lines["offset"] + lines["response-time"]).max())
    assert "coordinated omission" in row["note"] and "leaves out requests" in row["note"]


def test_refusals_are_errors(tmp_path):
    path = tmp_path / "hey.csv"
    path.write_text(sample("hey.csv").read_text().replace(",200,0.1042", ",503,0.1042", 1))
    assert imported("hey", path)["errors"][0] == 1


def test_a_file_without_requests_is_refused(tmp_path):
    header, *_ = sample("hey.csv").read_text().splitlines()
    path = tmp_path / "hey.csv"
    path.write_text(header + "\n")
    with pytest.raises(FormatError, match="no request got an answer"):
        imported("hey", path)
