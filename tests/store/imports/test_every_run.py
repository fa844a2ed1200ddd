"""The runs of a file are counted without its reader."""

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadzone.errors import EXIT_PARTLY_READ
from deadzone.store.imports.registry import reader_of
from store.imports.samples import sample

ends_anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def lines_of_benchmarks(text):
    firsts = [line.split()[0] for line in text.splitlines() if line.startswith("Benchmark")]
    return sum(first != "Benchmark" for first in firsts)


PRINTED = {
    "wrk": ("wrk_latency.txt", lambda text: text.count(" test @ h")),
    "pgbench": ("pgbench_select.txt", lambda text: text.count("pgbench (")),
    "sysbench": ("sysbench_cpu.txt", lambda text: text.count("sysbench 1")),
    "redis-benchmark": ("redis_benchmark.txt", lambda text: text.count(" ======")),
    "go-bench": ("go_bench.txt", lines_of_benchmarks),
    "criterion": ("criterion.txt", lambda text: text.count("time:   [")),
    "gnu-time": ("gnu_time.txt", lambda text: text.count("Command being timed:")),
}
"""A sample of each tool, and how many runs begin in a text."""


@pytest.mark.parametrize("tool", PRINTED)
@ends_anywhere
@given(data=st.data())
def test_each_run_that_begins_in_a_text_is_a_row(tool, data, tmp_path):
    name, runs_in = PRINTED[tool]
    text = sample(name).read_text() * 2
    text = text[: data.draw(st.integers(len(text) // 2, len(text)))]
    path = tmp_path / "result.txt"
    path.write_text(text)
    results = reader_of(tool)(path)
    assert len(results.rows) == runs_in(text)
    failed = [row for row in results.rows if row.get("status") == "failed"]
    assert len(failed) == len(results.incomplete)


DOCUMENTS = {
    "vegeta": "vegeta.json", "fio": "fio_seqw_direct_4k.json",
    "pytest-benchmark": "pytest_benchmark.json", "google-benchmark": "google_benchmark.json",
    "jmh": "jmh.json",
}  # fmt: skip


@pytest.mark.parametrize("tool", DOCUMENTS)
@ends_anywhere
@given(data=st.data())
def test_a_second_document_that_ends_early_is_a_failed_row(tool, data, tmp_path):
    text = sample(DOCUMENTS[tool]).read_text().strip()
    path = tmp_path / "result.json"
    path.write_text(text)
    runs = len(reader_of(tool)(path).rows)
    stop = data.draw(st.integers(1, len(json.dumps(json.loads(text))) - 1))
    path.write_text(f"{text}\n{json.dumps(json.loads(text))[:stop]}")
    results = reader_of(tool)(path)
    assert len(results.rows) == runs + 1 and [*results.incomplete] == [runs]


def rows_of_csv(text):
    return [row for row in csv.reader(io.StringIO(text)) if row][1:]


@pytest.mark.parametrize(("tool", "name"), [("hey", "hey.csv"), ("jmeter", "jmeter.csv")])
@ends_anywhere
@given(data=st.data())
def test_each_line_of_a_csv_is_in_a_row_or_said(tool, name, data, tmp_path):
    text = sample(name).read_text()
    header, first = text.splitlines(keepends=True)[:2]
    text = text[: data.draw(st.integers(len(header + first), len(text)))]
    path = tmp_path / name
    path.write_text(text)
    results = reader_of(tool)(path)
    requests = sum(row.get("requests", 1) for row in results.rows)
    assert requests + len(results.cut_lines) == len(rows_of_csv(text))


def test_a_line_that_was_cut_off_in_the_middle_of_a_stream_ends_with_code_9(deadzone, tmp_path):
    header, *lines = sample("hey.csv").read_text().splitlines()
    path = tmp_path / "hey.csv"
    path.write_text("\n".join([header, *lines[:5], lines[5][:9], *lines[6:], ""]))
    printed = deadzone("import", "hey", path)
    assert printed.code == EXIT_PARTLY_READ
    assert "1 incomplete and left out, at line 7." in printed.err
