import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StoreError
from deadzone.measurement import Sample
from deadzone.store.records import BATCH, FACTS, HISTOGRAMS, SERIES, TRIAL, each_line
from deadzone.store.table import long_pieces, tidy_pieces, whole

TOLD = {
    "trial": 1, "block": 1, "replicate": 1, "warmup": False, "attempt": 1, "final": True,
    "levels": {"threads": 1}, "started_at": "2026-11-23T01:01:50.412+00:00", "wall_s": 0.04,
    "max_rss_bytes": 8736768, "exit_code": 0, "status": "ok", "error": None, "trusted": True,
    "left_running": 0, "running_s": 0.018, "printed_units": "n=",
    "profiles": {"cpu": "profiles/1-cpu.pb.gz"}, "responses": {"n": 5.0, "rate": None},
}  # fmt: skip
SAMPLES = {
    "trial": 1, "attempt": 1, "samples": [[0.1, "cpu_usage_s", 0.05], [0.2, "cpu_usage_s", 0.1]],
}  # fmt: skip

ODD = [10**400, 2**64, 1e308, -1, 1.5, float("nan"), float("inf"), True]
ODD += ["", "\0", "x", "1e999", [], {}, None]
VALUES = st.sampled_from(ODD) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)


def changed(record, key, value):
    """The record with another value of a key, or of one key below it."""
    record = copy.deepcopy(record)
    outer, _, inner = key.partition(".")
    (record[outer] if inner else record)[inner or outer] = value
    return record


@given(st.sampled_from([*TOLD, "levels.threads", "responses.n", "profiles.cpu"]), VALUES)
def test_a_trial_with_anything_anywhere_is_a_row_or_is_refused_with_its_line(key, value):
    line = json.dumps(changed(TOLD, key, value)).encode()
    try:
        record = TRIAL.read(line, "trials.jsonl: line 7")
    except StoreError as error:
        assert str(error).startswith("trials.jsonl: line 7 is no ")
        return
    table = whole(tidy_pieces(lambda: [record, TOLD], "run", ["threads"]))
    assert len(table) == 2
    assert table["wall_s"].iloc[1] == 0.04


@given(st.integers(0, 2), VALUES)
def test_a_reading_with_anything_in_it_is_a_row_or_is_refused(at, value):
    damaged = copy.deepcopy(SAMPLES)
    damaged["samples"][1][at] = value
    try:
        record = SERIES.read(json.dumps(damaged).encode(), "telemetry.jsonl: line 1")
    except StoreError as error:
        assert "telemetry.jsonl: line 1 is no series: samples.1." in str(error)
        return
    assert len(whole(long_pieces([record], "run", "samples", Sample))) == 2


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("wall_s", "fast", "wall_s: it must be a number"), ("levels", [1], "levels: "),
     ("levels.threads", None, r"levels\.threads"),
     ("trial", "../..", "trial: it must be a whole number"), ("status", "fine", "status: "),
     ("responses.n", "many", r"responses\.n: it must be a number"),
     ("started_at", "2026-13-45", "started_at: "),
     ("profiles.cpu", "../../../etc/passwd", r"profiles\.cpu: "),
     ("max_rss_bytes", 10**400, "max_rss_bytes: ")],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_key(key, value, said):
    with pytest.raises(StoreError, match=f"line 3 is no trial: {said}.*copy, or start a new run"):
        TRIAL.read(json.dumps(changed(TOLD, key, value)).encode(), "line 3")


@pytest.mark.parametrize(
    "key", ["trial", "attempt", "final", "levels", "wall_s", "status", "responses"]
)
def test_a_trial_without_a_key_that_it_needs_is_none(key):
    with pytest.raises(StoreError, match=f"is no trial: {key}: "):
        less = {name: one for name, one in TOLD.items() if name != key}
        TRIAL.read(json.dumps(less).encode(), "line 1")


def test_what_a_later_version_adds_is_kept():
    assert TRIAL.read(json.dumps({**TOLD, "new": [1]}).encode(), "line 1")["new"] == [1]


@pytest.mark.parametrize(
    ("form", "record"),
    [(BATCH, {"batch": 1, "trials": [{"trial": 1}], "reason": {"en": "a", "ko": "b"}}),
     (BATCH, {"stopped": {"en": "a"}, "open": []}), (BATCH, {"gain": []}), (BATCH, None),
     (HISTOGRAMS, {"trial": 1, "attempt": 1, "histograms": [["latency_us", 0.0, 1.0, 3]]}),
     (FACTS, {"cores_usable": "two"}), (FACTS, {"earlier_parts": 5})],
)  # fmt: skip
def test_what_lies_beside_the_trials_is_checked_as_well(form, record):
    with pytest.raises(StoreError, match=r"^here is no "):
        form.read(json.dumps(record).encode(), "here")


def test_a_damaged_line_is_told_with_its_number(tmp_path):
    path = tmp_path / "trials.jsonl"
    path.write_text(json.dumps(TOLD) + "\n" + "[" * 3000 + "\n")
    with pytest.raises(StoreError, match="line 2 is no record"):
        list(each_line(path, TRIAL))
