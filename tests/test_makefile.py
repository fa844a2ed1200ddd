"""What `make test` does with a test that fails, by the make file itself on a project of a few
tests, and which tests `make affected` names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import affected
import again
import pytest
import unsteady
from needs import needs

ROOT = Path(__file__).resolve().parent.parent

CONFTEST = """
import tally
pytest_addoption, pytest_configure, pytest_collection_modifyitems = (
    tally.addoption, tally.configure, tally.keep_skipped
)
"""

FAILS_FIRST = """
import pytest
from pathlib import Path

def passes_the_second_time(name):
    tries = Path(name)
    tries.write_text((tries.read_text() if tries.exists() else "") + "x")
    assert len(tries.read_text()) > 1
"""

RACES = (
    FAILS_FIRST
    + """
def test_that_races(): passes_the_second_time("race")

@pytest.mark.alone("it measures time")
def test_of_time(): passes_the_second_time("time")
"""
)

DEFECT = """
from pathlib import Path

def test_of_a_defect():
    Path("defect").open("a").write("x")
    assert False
"""

KEPT = (
    FAILS_FIRST
    + """
from hypothesis import given, strategies

@pytest.mark.kept
def test_of_a_kill(): passes_the_second_time("kill")

@given(strategies.just(1))
def test_of_a_property(number): passes_the_second_time("property")
"""
)


@pytest.fixture
def make(tmp_path):
    """Runs a target of the real make file in a project of this test's own, which has the files of
    tests that are given; gives its exit code and output."""
    program = needs("make")
    shutil.copy(ROOT / "Makefile", tmp_path)
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("tally.py", "reached.py", "again.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    patient = (tests / "again.py").read_text()
    (tests / "again.py").write_text(patient.replace("LONGEST_WAIT_S = 120.0", "LONGEST_WAIT_S = 0"))
    (tests / "conftest.py").write_text(CONFTEST)
    markers = (
        "[pytest]\nmarkers =\n  alone(reason): measures\n  cluster: pods\n  cgroup2: a "
        "machine\n  kept: kills\npythonpath = tests\n"
    )
    (tmp_path / "pytest.ini").write_text(markers)
    environment = Path(sys.executable).parent.parent
    lengths = "LONGEST="  # those of the real project are not here

    def run(target, **files):
        for name, text in files.items():
            (tests / f"test_{name}.py").write_text(text)
        finished = [flag for name in (f"{environment}/.dev", "rules") for flag in ("-o", name)]
        settings = (f"VENV={environment}", lengths, "MEANWHILE=", "AT_ONCE=2")
        argv = (program, *finished, *settings, target)
        inner = ("PYTEST", "MAKE")
        outside = {name: os.environ[name] for name in os.environ if not name.startswith(inner)}
        said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, env=outside)
        return said.returncode, said.stdout + said.stderr

    return run


def test_a_race_is_unsteady_and_fails_nothing(make, tmp_path):
    code, said = make("test", races=RACES)
    assert code == 0, said
    assert "0 passed, 0 failed, 0 skipped, 2 unsteady" in said
    assert "unsteady, failed once: tests/test_races.py::test_that_races" in said
    assert (tmp_path / "race").read_text() == (tmp_path / "time").read_text() == "xx"


def test_a_defect_fails_twice_and_what_a_kill_leaves_is_not_tried_again(make, tmp_path):
    code, said = make("test", races=RACES, defect=DEFECT, kept=KEPT)
    assert code != 0 and "3 failed" in said and "2 unsteady" in said
    assert (tmp_path / "defect").read_text() == "xx"
    assert (tmp_path / "kill").read_text() == "x"
    assert "FAILED tests/test_defect.py::test_of_a_defect" in said
    assert "FAILED tests/test_kept.py::test_of_a_kill" in said
    assert "FAILED tests/test_kept.py::test_of_a_property" in said


def test_where_much_failed_nothing_is_tried_again():
    many = [
        {"test": f"tests/test_a.py::test_{number}", "outcome": "failed", "reason": ""}
        for number in range(again.MOST_FAILED + 1)
    ]
    assert again.files(many) == []
    assert again.files(many[1:]) == ["tests/test_a.py"]
    shared = [line | {"output": "E   the fixture of the file ends"} for line in many]
    assert again.files(shared) == ["tests/test_a.py"]


def test_the_list_of_unsteady_tests_is_printed_with_ages_and_has_an_end(tmp_path, capsys):
    listed = tmp_path / "unsteady.txt"
    line = "tests/test_a.py::test_b\t2026-11-01\tit came late\n"
    listed.write_text(f"# test, date, words\n{line * unsteady.MOST}")
    assert not unsteady.main(str(listed), "2026-11-28")
    assert "unsteady for 27 days: tests/test_a.py::test_b: it came late" in capsys.readouterr().out
    listed.write_text(line * (unsteady.MOST + 1))
    assert unsteady.main(str(listed), "2026-11-28")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("lib/deadzone/study/quantity.py", "tests/study/test_quantity.py"),
        ("lib/deadzone/measurement.py", "tests/run/test_trust.py"),  # it imports it
        ("lib/deadzone_load/rate_search.py", "tests/packs/load/test_rate_search.py"),
        ("tests/servers.py", "tests/packs/services/test_http.py"),
        ("data/reference/published-curves/index.csv", "tests/store/test_reference.py"),
    ],
)
def test_a_change_affects_the_tests_that_mirror_import_or_name_it(path, named):
    tests = {str(test.relative_to(ROOT)) for test in affected.affected([ROOT / path])}
    assert named in tests
    assert len(tests) < 60
