"""Runs in hyperfine's formats: the keys and units are those of the real program."""

from __future__ import annotations

import json
import subprocess

import pandas as pd
import pytest
from needs import needs

from deadzone.store.exports import as_csv, results

TRIALS = pd.DataFrame(
    {
        "warmup": pd.array([True, False, False, False, False, False], dtype="boolean"),
        "status": ["ok", "ok", "ok", "failed", "ok", "ok"],
        "trusted": pd.array([True, True, True, True, False, True], dtype="boolean"),
        "threads": [1, 1, 1, 1, 1, 2],
        "wall_s": [9.0, 1.0, 3.0, 0.1, 50.0, 0.5],
        "user_s": [9.0, 0.9, 1.1, 0.1, 5.0, 0.6],
        "sys_s": [1.0, 0.1, 0.3, 0.1, 1.0, 0.1],
        "max_rss_bytes": [1000, 2000, 3000, 1, 1, 4000],
        "exit_code": [0, 0, 0, 1, 0, 0],
    }
)


def test_warm_up_failed_and_untrusted_trials_are_left_out():
    one, two = results(TRIALS, "xz", ["threads"])
    assert one["times"] == [1.0, 3.0]
    assert one["mean"] == one["median"] == 2.0
    assert one["stddev"] == pytest.approx(2**0.5)
    figures = [one[name] for name in ("min", "max", "user", "system")]
    assert figures == pytest.approx([1.0, 3.0, 1.0, 0.2])
    assert one["parameters"] == {"threads": "1"}
    assert two["stddev"] is None
    assert two["command"] == "xz threads=2"


def test_without_analysed_trials_there_are_no_results():
    assert results(TRIALS[TRIALS["warmup"]], "xz", ["threads"]) == []
    assert as_csv([]).empty


@pytest.fixture
def real(tmp_path):
    """Export files of a real hyperfine run."""
    needs("hyperfine")
    files = tmp_path / "real.json", tmp_path / "real.csv"
    options = ("--export-json", files[0], "--export-csv", files[1], "-r", "2", "-L", "t", "1,2")
    subprocess.run(("hyperfine", *options, "sleep 0.0{t}"), check=True, capture_output=True)
    return json.loads(files[0].read_text()), pd.read_csv(files[1])


def test_the_keys_are_those_of_a_real_export(real):
    document, table = real
    ours = results(TRIALS, "xz", ["threads"])
    theirs = document["results"]
    assert len(theirs) == 2
    for key, value in theirs[0].items():
        assert key in ours[0], f"hyperfine writes {key}"
        assert isinstance(ours[0][key], type(value)) or value is None, key
    assert set(as_csv(ours).columns) - {"parameter_threads"} == set(table.columns) - {"parameter_t"}
    assert "parameter_t" in table.columns
