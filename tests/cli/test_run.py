"""`deadzone run`: sweep, fit and report in one command, by executing the notebooks."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from deadzone.store.run import list_runs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def notebooks(home):
    """The repository's own notebooks, in the test's repository."""
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, home / "notebooks")


@pytest.fixture
def study(notebooks, write_study):
    """Three pauses, each twice the one before."""
    return write_study(
        workload={"kind": "command", "argv": ["sleep", "{pause}"]},
        factors={"pause": [0.03, 0.06, 0.12]},
        design={"replicates": 3},
    )


def test_one_command_sweeps_fits_and_publishes(study, start, home, traces):
    started = start("run", "probe", "-p", "replicates", "2", "--json")
    code, out, err = started.end()
    assert code == 0, err
    answer = json.loads(out.splitlines()[-1])
    (run,) = list_runs(home / "data" / "runs")
    assert answer["run_id"] == run.run_id
    assert run.finished() == {1, 2, 3, 4, 5, 6}
    assert Path(answer["report"]).is_relative_to(home / "reports")
    assert Path(answer["report"]).is_file()
    assert max(page.stat().st_size for page in (home / "reports").rglob("*.html")) > 10_000
    assert (home / "reports" / "probe" / run.run_id / "report.pdf").read_bytes().startswith(b"%PDF")
    assert (run.folder / "sweep.ipynb").exists()
    assert "trial " in err
    assert "6 trials measured, 6 of them trusted" in err
    assert "Traceback" not in err
    assert traces(started.pid) == []


def test_interrupted_it_cleans_up_and_keeps_the_trials(study, start, home):
    started = start("run", "probe", "-r", "500")
    started.wait_for(lambda: started.trials() >= 3, "its third trial")
    (run,) = list_runs(home / "data" / "runs")
    measuring = run.writer()
    os.kill(started.pid, signal.SIGINT)
    code, _, err = started.end()
    assert code == 130
    assert "Traceback" not in err
    assert len(run.finished()) >= 3
    assert not groups_of(measuring)


def groups_of(pid):
    return [path for path in Path("/sys/fs/cgroup").rglob(f"deadzone-{pid}-*") if path.is_dir()]


def test_a_dry_run_executes_nothing(study, deadzone, home):
    said = deadzone("run", "probe", "--dry-run")
    assert said.code == 0
    assert "3 treatments x 3 replicates" in said.out
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["prob"], 2, "Did you mean 'probe'?"),
        (["probe", "-p", "replicate", "3"], 2, "Did you mean 'replicates'?"),
        (["probe", "-p", "api_token", "x"], 3, "looks like a secret"),
        (["probe", "-p", "workload", "{env: {API_TOKEN: x}}"], 3, "looks like a secret"),
        (["probe", "-p", "lang", "kr"], 3, "no report in the language 'kr'"),
        (["probe", "-p", "workload.argv", "[xzz, '{pause}']"], 4, "'xzz' is not installed here"),
        (["probe", "--resume", "latest"], 2, "There is no run 'probe/latest'"),
    ],
)
def test_what_is_wrong_is_told_as_by_the_sweep(study, deadzone, home, arguments, code, words):
    said = deadzone("run", *arguments)
    assert said.code == code
    assert words in said.err
    assert "Traceback" not in said.err
    assert not list_runs(home / "data" / "runs")
