"""The counter of runs agrees with the readers on whole files, and tells what is missing."""

import pytest
from store.imports.samples import imported, sample
from store.imports.test_document import SAMPLES

from torture.counting import Count, difference, runs_in

ONCE = [(tool, name) for tool, name in SAMPLES if not name.endswith((".csv", ".ndjson"))]


@pytest.mark.parametrize(("tool", "name"), SAMPLES)
def test_each_run_of_a_sample_is_counted(tool, name):
    content = sample(name).read_bytes()
    count = runs_in(tool, name, content, content)
    assert count is not None and count.rows != 0 and count.requests != 0
    assert difference(count, imported(tool, sample(name)), "") is None


@pytest.mark.parametrize(("tool", "name"), ONCE)
def test_the_runs_of_several_are_counted(tool, name, tmp_path):
    content = sample(name).read_bytes()
    once, thrice = (runs_in(tool, name, content * n, content) for n in (1, 3))
    assert thrice.rows == 3 * once.rows


def test_what_is_missing_is_told():
    table = imported("hey", sample("hey.csv"))
    content = sample("hey.csv").read_bytes() + b"0.1,0\n"
    count = runs_in("hey", "hey.csv", content, sample("hey.csv").read_bytes())
    assert difference(count, table, "") == "lines cut: 1 in, 0 said"
    assert difference(count, table, "1 incomplete and left out, at line 9.") is None
    assert difference(Count(rows=2), table, "") == "runs: 2 in, 1 rows out"
    assert difference(Count(requests=3), table, "").startswith("requests: 3 in, ")
