"""`deadzone run --archive`: machines come and go, runs and reports stay."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def study(home, write_study):
    """Three pauses, in a repository with the project's notebooks."""
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, home / "notebooks")
    return write_study(
        workload={"kind": "command", "argv": ["sleep", "{pause}"]},
        factors={"pause": [0.03, 0.06, 0.12]},
        design={"replicates": 3},
    )


def lose(home):
    """The machine is gone: neither runs nor reports are left on it."""
    shutil.rmtree(home / "data")
    shutil.rmtree(home / "reports", ignore_errors=True)


def test_a_run_goes_on_where_a_lost_machine_left_it_and_the_next_is_set_beside_it(
    study, start, home, tmp_path
):
    """Three machines: the first is lost while it measures, the second after it has published."""
    volume = tmp_path / "volume"
    archived = ("--archive", f"file://{volume}")
    started = start("run", "probe", "-r", "6", *archived)
    started.wait_for(lambda: started.trials() >= 6, "its sixth trial")
    os.kill(started.pid, signal.SIGINT)
    assert started.end()[0] == 130
    kept = next((volume / "runs" / "probe").glob("*/trials.jsonl")).read_text().count("\n")
    assert kept >= 6
    lose(home)
    code, out, err = start(
        "run", "probe", "-r", "6", "--resume", "latest", *archived, "--json"
    ).end()
    assert code == 0, err
    first = json.loads(out.splitlines()[-1])["run_id"]
    journal = volume / "runs" / "probe" / first / "trials.jsonl"
    trials = [json.loads(line)["trial"] for line in journal.read_text().splitlines()]
    assert set(trials) == set(range(1, 3 * 6 + 1))
    assert len(trials) >= kept
    lose(home)
    code, out, err = start("run", "probe", *archived, "--json").end()
    assert code == 0, err
    second = json.loads(out.splitlines()[-1])["run_id"]
    assert f"No phase moved since run {first}" in err
    for run_id in (first, second):
        assert (volume / "runs" / "probe" / run_id / "trials.parquet").is_file()
        assert (volume / "reports" / "probe" / run_id / "report.pdf").is_file()
    index = (volume / "reports" / "index.html").read_text()
    assert first in index and second in index
    assert second in (volume / "reports" / "probe" / "index.html").read_text()


def test_an_archive_that_cannot_be_used_is_told_before_anything_is_measured(study, deadzone, home):
    said = deadzone("run", "probe", "--archive", "s3://name:secret@bucket")
    assert said.code == 3
    assert "credentials in its URL" in said.err
    assert "secret@" not in said.err
    assert not (home / "data").exists()
