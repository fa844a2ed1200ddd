"""What `make test` does with a test that fails, by the make file itself on a project of two
tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

ROOT = Path(__file__).resolve().parent.parent

CONFTEST = """
import tally
pytest_addoption, pytest_configure, pytest_collection_modifyitems = (
    tally.addoption, tally.configure, tally.keep_skipped
)
"""

TESTS = """
import pytest
from pathlib import Path

def passes_the_second_time(name):
    tries = Path(name)
    tries.write_text((tries.read_text() if tries.exists() else "") + "x")
    assert len(tries.read_text()) > 1

def test_of_behaviour(): passes_the_second_time("behaviour")

@pytest.mark.alone("it measures time")
def test_of_time(): passes_the_second_time("time")

@pytest.mark.alone("it measures time")
def test_of_time_that_fails():
    Path("fails").open("a").write("x")
    assert False
"""


@pytest.fixture
def make(tmp_path):
    """Runs a target of the real make file in a project of this test's own; gives its exit code and
    output."""
    program = needs("make")
    shutil.copy(ROOT / "Makefile", tmp_path)
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("tally.py", "reached.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    (tests / "conftest.py").write_text(CONFTEST)
    (tests / "test_two.py").write_text(TESTS)
    markers = (
        "[pytest]\nmarkers =\n  alone(reason): measures\n  cluster: pods\n  cgroup2: a "
        "machine\npythonpath = tests\n"
    )
    (tmp_path / "pytest.ini").write_text(markers)
    environment = Path(sys.executable).parent.parent
    lengths = "LONGEST="  # those of the real project are not here

    def run(*targets):
        finished = [flag for name in (f"{environment}/.dev", "rules") for flag in ("-o", name)]
        settings = (f"VENV={environment}", lengths, "MEANWHILE=", "PAUSE_S=0", "AT_ONCE=2")
        argv = (program, *finished, *settings, *targets)
        outside = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST", "MAKE"))
        }
        said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, env=outside)
        return said.returncode, said.stdout + said.stderr

    return run


def test_a_test_that_fails_is_run_again_only_where_time_is_what_it_measures(make, tmp_path):
    code, said = make("test")
    assert code != 0
    assert (tmp_path / "behaviour").read_text() == "x", said
    assert (tmp_path / "time").read_text() == (tmp_path / "fails").read_text() == "xx"
    assert "1 passed (1 of them not at once), 2 failed" in said
    assert "FAILED tests/test_two.py::test_of_behaviour" in said
    assert "passed when tried once more: tests/test_two.py::test_of_time" in said
    record = [
        json.loads(line) for line in (tmp_path / "build" / "tests.jsonl").read_text().splitlines()
    ]
    assert [line["outcome"] for line in record if line.get("output")] == [
        "failed",
        "rerun",
        "rerun",
        "failed",
    ]
