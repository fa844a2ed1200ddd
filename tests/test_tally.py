"""The summary of `make test`: one for both halves, with what would bring each test that was
skipped."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tally import BUSY, costs, grown, outcomes

HERE = Path(__file__).parent
SKIPPING = (
    "from needs import needs\nfrom needs import BRINGS\nBRINGS['no-such-thing'] = 'apt "
    "install no-such-thing'\n"
)
MADE = {
    "test_one": SKIPPING + "def test_passes(): pass\ndef test_skips(): needs('no-such-thing')\n",
    "test_two": "import pytest\n@pytest.fixture\ndef broken():\n    yield\n    raise OSError\n"
    "def test_fails(): assert 1 == 2\ndef test_ends_badly(broken): pass\n",
}

SECOND = (
    "from pathlib import Path\ndef test_second():\n    mark = Path('mark')\n    was = "
    "mark.exists()\n    mark.touch()\n    assert was\n"
)
TRIED_AGAIN = "unsteady, failed once: test_one.py::test_second"


@pytest.fixture
def run(tmp_path):
    """Run pytest on a test file of this test's own, with the real hooks; gives what it printed."""
    (tmp_path / "conftest.py").write_text(
        "import tally\npytest_addoption, pytest_configure, pytest_collection_modifyitems = "
        "tally.addoption, tally.configure, tally.keep_skipped\n"
    )
    for name, text in MADE.items():
        (tmp_path / f"{name}.py").write_text(text)

    def pytest_on(name, *options):
        plugins = ("-p", "no:cacheprovider", "-p", "xdist")
        argv = (sys.executable, "-m", "pytest", "-q", *plugins, f"{name}.py", *options)
        env = {
            "PYTHONPATH": str(HERE),
            "PATH": "/usr/bin:/bin",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, env=env).stdout

    return pytest_on


def tally(*arguments):
    argv = (sys.executable, HERE / "tally.py", *map(str, arguments))
    said = subprocess.run(argv, capture_output=True, text=True)
    return said.returncode, said.stdout


def total(record, runs):
    return tally("total", record, runs)


def lines_of(record):
    return [json.loads(line) for line in record.read_text().splitlines()]


ON_ONE_OR_TWO_WORKERS = pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="alone", marks=pytest.mark.night),
     pytest.param(("-n", "2"), id="on two workers")],
)  # fmt: skip


@ON_ONE_OR_TWO_WORKERS
def test_both_runs_are_added_up_with_what_brings_what_was_skipped(run, tmp_path, workers):
    record = tmp_path / "new" / "record"
    run("test_two", "--record", str(record), *workers)
    run("test_one", "--record", str(record), *workers)
    code, said = total(record, 2)
    assert code == 1
    assert said.strip().startswith("1 passed, 2 failed, 1 skipped")
    assert "FAILED test_two.py::test_fails" in said
    assert "FAILED test_two.py::test_ends_badly" in said
    assert "1  skipped: no-such-thing is not installed: apt install no-such-thing" in said
    assert "after: apt install no-such-thing\n" in said


def test_a_test_that_passes_when_it_is_tried_again_is_unsteady(run, tmp_path):
    (tmp_path / "test_one.py").write_text(SECOND)
    run("test_one", "--record", "record")
    run("test_one", "--record", "record")
    code, said = total(tmp_path / "record", 2)
    assert code == 0
    assert said.splitlines()[1:3] == ["0 passed, 0 failed, 0 skipped, 1 unsteady", TRIED_AGAIN]
    code, said = tally("last", tmp_path / "record")
    assert said.startswith("UNSTEADY test_one.py::test_second\n") and "E       assert False" in said


def test_what_failed_and_then_could_not_be_measured_is_unsteady():
    lines = [
        {"test": "t.py::test_a", "outcome": "failed", "reason": ""},
        {"ended": 1},
        {"test": "t.py::test_a", "outcome": "skipped", "reason": f"{BUSY}neighbours"},
    ]
    assert outcomes(lines) == {"t.py::test_a": "unsteady"}
    lines[-1]["reason"] = "fio is not installed"
    assert outcomes(lines) == {"t.py::test_a": "failed"}


def test_the_record_keeps_the_output_of_what_failed(run, tmp_path):
    speaks = "def test_speaks():\n    print('seed 4711')\n    assert 1 == 2\n"
    (tmp_path / "test_one.py").write_text(speaks)
    run("test_one", "--record", "record")
    lines = lines_of(tmp_path / "record")
    (output,) = [line["output"] for line in lines if line.get("outcome") == "failed"]
    assert "seed 4711" in output and "assert 1 == 2" in output
    code, said = tally("last", tmp_path / "record")
    assert code == 0 and said.startswith("FAILED test_") and "    E       assert 1 == 2\n" in said


SPINS = "import time\ndef test_spins():\n    until = time.process_time() + 1.5\n" \
    "    while time.process_time() < until: pass\n"  # fmt: skip


@ON_ONE_OR_TWO_WORKERS
def test_the_cpu_time_of_a_file_is_counted_and_its_growth_said(run, tmp_path, workers):
    (tmp_path / "test_one.py").write_text(SPINS)
    run("test_one", "--record", "record", *workers)
    lines = lines_of(tmp_path / "record")
    now = costs(lines)
    assert now == {"test_one.py": pytest.approx(1.6, abs=0.4)}
    assert grown(now, {}) == [f"{now['test_one.py']:.0f} s of CPU time in tests"]
    others = {f"test_{number}.py": 10.0 for number in range(3)}  # on a machine of half the speed
    said = grown(now | others, dict.fromkeys(others, 5.0) | {"test_one.py": 0.1})[1]
    assert said.endswith("s, 0.2 s of it expected: test_one.py")


BUSY_ONCE = (
    "from tally import BUSY\nimport pytest\nfrom pathlib import Path\n"
    "def test_measures():\n    mark = Path('mark')\n    if not mark.exists():\n"
    "        mark.touch()\n        pytest.skip(BUSY + 'neighbours disturbed it 4 times')\n"
)


def test_what_a_busy_machine_kept_from_measuring_is_named_until_it_is_run(run, tmp_path):
    (tmp_path / "test_one.py").write_text(BUSY_ONCE)
    name = "test_one.py::test_measures"
    run("test_one", "--record", "record")
    assert tally("busy", tmp_path / "record") == (0, f"{name}\n")
    assert tally("last", tmp_path / "record") == (0, f"NOT RUN, the machine was too busy: {name}\n")
    assert f"not run, the machine was too busy: {name}" in total(tmp_path / "record", 1)[1]
    run("test_one", "--record", "record")
    assert tally("busy", tmp_path / "record") == (0, "") == tally("last", tmp_path / "record")


def test_only_what_was_skipped_is_run_elsewhere(run, tmp_path):
    run("test_one", "--record", "record")
    assert "1 skipped, 1 deselected" in run("test_one", "--skipped-in", "record")


def test_a_run_that_could_not_begin_is_no_success(run, tmp_path):
    (tmp_path / "test_two.py").write_text("import no_such_module\n")
    run("test_one", "--record", "record")
    assert total(tmp_path / "record", 1)[0] == 0
    run("test_two", "--record", "record")
    code, said = total(tmp_path / "record", 2)
    assert code == 1 and "Not all tests were run" in said
    assert total(tmp_path / "record", 3)[0] == 1


@ON_ONE_OR_TWO_WORKERS
def test_a_file_that_cannot_be_collected_is_named_and_counted(run, tmp_path, workers):
    (tmp_path / "test_two.py").write_text("import no_such_module\n")
    run("test_two", "--record", "record", *workers)
    code, said = total(tmp_path / "record", 1)
    assert code == 1
    assert said.strip().startswith("0 passed, 1 failed, 0 skipped\nFAILED test_two.py")
