import json
import os
import signal
from pathlib import Path

import pytest
from waiting import wait_for

from deadzone.store.run import list_runs


@pytest.fixture
def study(notebooks, write_study):
    """Three pauses, each twice the one before."""
    pauses = {"argv": ["sleep", "{pause}"], "factors": {"pause": [0.03, 0.06, 0.12]}}
    return write_study(**pauses, design={"replicates": 3})


def test_interrupted_it_cleans_up_and_keeps_the_trials(study, start, home):
    started = start("run", "probe", "-r", "500")
    wait_for(lambda: started.trials() >= 3, "no third trial", patience_s=120, pause_s=0.1)
    (run,) = list_runs(home / "data" / "runs")
    measuring = run.writer()
    os.kill(started.pid, signal.SIGINT)
    assert "Traceback" not in started.end_with(130)
    assert len(run.finished()) >= 3
    assert not groups_of(measuring)


@pytest.mark.night
def test_a_run_whose_phases_moved_says_so_with_an_exit_code_of_its_own(
    study, deadzone, home, write_study
):
    deadzone("sweep", "probe", "-p", "replicates", "6", code=0)
    flat = {"argv": ["sleep", "0.06"], "workload": {"env": {"PAUSE": "{pause}"}}}
    write_study(**flat, factors={"pause": [0.03, 0.06, 0.12]}, design={"replicates": 6})
    said = deadzone("run", "probe", "--json", code=6)
    answer = json.loads(said.out.splitlines()[-1])
    assert answer["moved"]
    assert "Phases moved since run" in said.err
    report = home / "reports" / "probe" / answer["run_id"] / "index.html"
    assert "Since the previous run" in report.read_text()


def groups_of(pid):
    return [path for path in Path("/sys/fs/cgroup").rglob(f"deadzone-{pid}-*") if path.is_dir()]


def test_a_dry_run_executes_nothing(study, deadzone, home):
    said = deadzone("run", "probe", "--dry-run", code=0)
    assert "3 treatments x 3 replicates" in said.out
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [(["probe", "-p", "api_token", "x"], 3, "looks like a secret"),
     (["probe", "-p", "workload", "{env: {API_TOKEN: x}}"], 3, "looks like a secret"),
     (["probe", "-p", "lang", "kr"], 3, "no report in the language 'kr'"),
     (["probe", "-p", "factors.pause", "[0.05]"], 2, "nothing to compare it with"),
     (["probe", "-p", "factors.pause", "[0.05]", "--dry-run"], 2,
      "measure it with deadzone sweep"),
     (["probe", "--resume", "latest"], 2, "There is no run 'probe/latest'")],
)  # fmt: skip
def test_what_is_wrong_is_told_as_by_the_sweep(study, deadzone, home, arguments, code, words):
    said = deadzone("run", *arguments, code=code).err
    assert words in said and "Traceback" not in said
    assert not list_runs(home / "data" / "runs")


@pytest.mark.night
def test_the_notebook_that_the_study_asks_for_analyses_the_run(
    notebooks, write_study, deadzone, home
):
    """A request is explained by the notebook of attribution, given the run as its source."""
    server = Path(__file__).resolve().parents[1] / "packs" / "services" / "misbehaving.py"
    write_study(
        "asked",
        service={"argv": ["{python}", "-S", str(server), "{port}", "burn"],
                 "ready": {"path": "/health"}},
        environments={"limited": {"target": {"cpu_limit": 0.25}}, "unlimited": {}},
        workload={"kind": "http"}, factors={}, design={"replicates": 3},
        response={"name": "total_s"},
    )  # fmt: skip
    said = deadzone("run", "asked", "-p", "lang", "ko", "--json")
    assert said.code == 0, said.err
    (run,) = list_runs(home / "data" / "runs")
    report = json.loads((home / "reports" / "asked" / run.run_id / "report.ipynb").read_text())
    given = report["metadata"]["papermill"]["parameters"]
    assert given == {"source": f"asked/{run.run_id}", "lang": "ko"}
    assert json.loads(said.out.splitlines()[-1])["moved"] is False


def test_an_archive_is_refused_with_what_keeps_runs_instead(home, deadzone, monkeypatch):
    said = deadzone("run", "probe", "--archive", "s3://bucket/prefix")
    assert said.code == 2 and "--archive (DEADZONE_ARCHIVE) is gone" in said.err
    assert "rclone sync" in said.err
    monkeypatch.setenv("DEADZONE_ARCHIVE", "s3://bucket/prefix")
    assert deadzone("run", "probe").code == 2
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("wish", "said"),
    [(("within", "5"), "within is 5"), (("goal", "fastest"), "-p goal is 'fastest'")],
)
def test_a_wish_that_cannot_be_meant_is_refused_before_anything_is_measured(
    wish, said, study, deadzone, home
):
    assert said in deadzone("run", "probe", "-p", *wish, code=2).err
    assert not list_runs(home / "data" / "runs")
