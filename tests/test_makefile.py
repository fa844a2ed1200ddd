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
from test_tally import CONFTEST

ROOT = Path(__file__).resolve().parent.parent

TWICE = """
from pathlib import Path

def is_tried_again(name):
    with Path(name).open("a") as tries:
        tries.write("x")
    return len(Path(name).read_text()) > 1
"""

RACES = (
    TWICE
    + """
import pytest

def test_that_races(): assert is_tried_again("race")

@pytest.mark.alone("it measures time")
def test_of_time(): assert is_tried_again("time")

def test_of_a_defect():
    is_tried_again("defect")
    assert False
"""
)

KEPT = (
    TWICE
    + """
import pytest
from hypothesis import given, strategies

@pytest.mark.kept
def test_of_a_kill(): assert is_tried_again("kill")

@given(strategies.just(1))
def test_of_a_property(number): assert is_tried_again("property")
"""
)

SETTINGS = """
[pytest]
pythonpath = tests
markers =
  alone(reason): measures
  cluster: pods
  cgroup2: a machine
  kept: kills
"""


@pytest.fixture
def project(tmp_path):
    """A project of this test's own, with the real make file."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("tally.py", "reached.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    patient = (ROOT / "tests" / "again.py").read_text()
    (tests / "again.py").write_text(patient.replace("LONGEST_WAIT_S = 120.0", "LONGEST_WAIT_S = 0"))
    for name, text in {"conftest": CONFTEST, "test_races": RACES, "test_kept": KEPT}.items():
        (tests / f"{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    return tmp_path


def made(project, target):
    """Exit code and output of a target of the make file; what the tests of the real project would
    need is there, or is no part of it."""
    environment = Path(sys.executable).parent.parent
    there = [flag for name in (f"{environment}/.dev", "rules") for flag in ("-o", name)]
    settings = (f"VENV={environment}", "LONGEST=", "MEANWHILE=", "AT_ONCE=1")
    inner = ("PYTEST", "MAKE")
    outside = {name: os.environ[name] for name in os.environ if not name.startswith(inner)}
    said = subprocess.run(
        (needs("make"), *there, *settings, target),
        cwd=project,
        env=outside,
        capture_output=True,
        text=True,
    )
    return said.returncode, said.stdout + said.stderr


def test_a_race_is_unsteady_a_defect_fails_twice_and_what_a_kill_leaves_is_not_tried_again(project):
    code, said = made(project, "test")
    assert code != 0 and "3 failed" in said and "2 unsteady" in said
    tries = {name: (project / name).read_text() for name in ("race", "time", "defect", "kill")}
    assert tries == {"race": "xx", "time": "xx", "defect": "xx", "kill": "x"}
    assert "unsteady, failed once: tests/test_races.py::test_that_races" in said
    assert "FAILED tests/test_races.py::test_of_a_defect" in said
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
