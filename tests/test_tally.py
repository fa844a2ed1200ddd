import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tally
from tally import BUSY, costs, grown, outcomes, summary

HERE = Path(__file__).parent
CONFTEST = "from tally import pytest_addoption, pytest_collection_modifyitems, pytest_configure\n"
TESTS = """
from pathlib import Path

import pytest
from needs import BRINGS, needs
from tally import BUSY

BRINGS["no-such-thing"] = "apt install no-such-thing"

@pytest.fixture
def broken():
    yield
    raise OSError

def is_second_try(name):
    was_there = Path(name).exists()
    Path(name).touch()
    return was_there

def test_passes(): pass

def test_skips(): needs("no-such-thing")

def test_fails():
    print("seed 4711")
    assert 1 == 2

def test_ends_badly(broken): pass

def test_races(): assert is_second_try("races")

def test_measures():
    if not is_second_try("measures"):
        pytest.skip(BUSY + "neighbours disturbed it 4 times")
"""
SPINS = """
import time

def test_spins():
    until = time.process_time() + 0.5
    while time.process_time() < until: pass
"""
MEASURES = "test_all.py::test_measures"

ONE_OR_TWO_WORKERS = [
    pytest.param((), id="alone", marks=pytest.mark.night),
    pytest.param(("-n", "2"), id="on two workers"),
]


def pytest_in(folder, *arguments):
    """Run pytest in a folder, with the real hooks; gives what it printed."""
    (folder / "conftest.py").write_text(CONFTEST)
    options = ("-q", "-p", "no:cacheprovider", "-p", "xdist")
    argv = (sys.executable, "-m", "pytest", *options, *map(str, arguments))
    env = {"PYTHONPATH": str(HERE), "PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, env=env).stdout


@pytest.fixture(scope="module", params=ONE_OR_TWO_WORKERS)
def project(request, tmp_path_factory):
    """A folder with the record of one run, `once`, and of that and another one, `twice`."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_all.py").write_text(TESTS)
    (folder / "test_time.py").write_text(SPINS)
    once, twice = folder / "new" / "once", folder / "twice"
    pytest_in(folder, "--record", once, *request.param)
    shutil.copy(once, twice)
    pytest_in(folder, "--record", twice, "test_all.py")
    return folder


@pytest.fixture
def said(capsys):
    """What `python tests/tally.py` ends with and prints."""

    def call(*arguments):
        code = tally.main(*map(str, arguments))
        return code, capsys.readouterr().out

    return call


def test_both_runs_are_added_up_with_what_brings_what_was_skipped(project, said):
    code, text = said("total", project / "twice", 2)
    assert code == 1
    assert text.strip().startswith("3 passed, 2 failed, 1 skipped, 1 unsteady")
    assert "FAILED test_all.py::test_fails\n" in text
    assert "FAILED test_all.py::test_ends_badly\n" in text
    assert "unsteady, failed once: test_all.py::test_races\n" in text
    assert "1  skipped: no-such-thing is not installed: apt install no-such-thing" in text
    assert "after: apt install no-such-thing\n" in text
    assert "Not all tests were run" not in text
    assert "Not all tests were run" in said("total", project / "twice", 3)[1]


def test_what_failed_and_what_is_unsteady_is_told_last_with_what_it_said(project, said):
    code, text = said("last", project / "twice")
    assert code == 0
    assert text.startswith("UNSTEADY test_all.py::test_races\n    E  ")
    assert "FAILED test_all.py::test_fails\n    E       assert 1 == 2\n" in text
    failed = tally.tries(tally.read(project / "twice"))["test_all.py::test_fails"]
    assert all("seed 4711" in line["output"] for line in failed)
    assert all("assert 1 == 2" in line["output"] for line in failed)


def test_what_failed_and_then_passed_or_could_not_be_measured_is_unsteady_and_fails_nothing():
    lines = [
        {"test": "t.py::test_a", "outcome": "failed", "reason": ""},
        {"ended": 1},
        {"test": "t.py::test_a", "outcome": "skipped", "reason": f"{BUSY}neighbours"},
        {"ended": 0},
    ]
    assert outcomes(lines) == {"t.py::test_a": "unsteady"} and summary(lines, 2)[1]
    lines[2] |= {"outcome": "passed", "reason": ""}
    assert outcomes(lines) == {"t.py::test_a": "unsteady"} and summary(lines, 2)[1]
    lines[2] |= {"outcome": "skipped", "reason": "fio is not installed"}
    assert outcomes(lines) == {"t.py::test_a": "failed"} and not summary(lines, 2)[1]


def test_the_cpu_time_of_a_file_is_counted_and_its_growth_said(project):
    taken = costs(tally.read(project / "new" / "once"))
    assert taken["test_time.py"] == pytest.approx(0.5, abs=0.3)
    now = {"test_one.py": 1.6}
    assert grown(now, {}) == ["2 s of CPU time in tests"]
    others = {f"test_{number}.py": 10.0 for number in range(3)}  # on a machine of half the speed
    told = grown(now | others, dict.fromkeys(others, 5.0) | {"test_one.py": 0.1})[1]
    assert told.endswith("1.6 s, 0.2 s of it expected: test_one.py")


def test_what_a_busy_machine_kept_from_measuring_is_named_until_it_is_run(project, said):
    once, twice = project / "new" / "once", project / "twice"
    assert said("busy", once) == (0, f"{MEASURES}\n")
    assert f"NOT RUN, the machine was too busy: {MEASURES}\n" in said("last", once)[1]
    assert f"not run, the machine was too busy: {MEASURES}\n" in said("total", once, 1)[1]
    assert said("busy", twice) == (0, "")
    assert MEASURES not in said("last", twice)[1]


def test_only_what_was_skipped_is_run_elsewhere(project):
    printed = pytest_in(project, "test_all.py", "--skipped-in", "twice")
    assert "1 skipped, 5 deselected" in printed


@pytest.mark.parametrize("workers", ONE_OR_TWO_WORKERS)
def test_a_file_that_cannot_be_collected_is_named_and_counted(tmp_path, said, workers):
    (tmp_path / "test_two.py").write_text("import no_such_module\n")
    pytest_in(tmp_path, "--record", "record", *workers)
    code, text = said("total", tmp_path / "record", 1)
    assert code == 1
    assert text.strip().startswith("0 passed, 1 failed, 0 skipped\nFAILED test_two.py")


def test_a_run_that_could_not_begin_is_no_success():
    text, is_well = summary([{"ended": 0}, {"ended": pytest.ExitCode.INTERRUPTED}], 2)
    assert not is_well and "Not all tests were run" in text
    assert summary([{"ended": 0}], 1)[1]
