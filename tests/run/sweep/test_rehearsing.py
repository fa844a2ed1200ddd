import json

import pytest
import yaml

from deadzone.run.sweep.opening import open_run, planned_file
from deadzone.store.run import list_runs
from deadzone.study.loading import load_study

SILENT = "test {threads} -gt 2 && sleep 0.1 && echo ERROR >&2 || seq 2000 | sort -R | tail -1"
"""Beyond 2 threads."""


def study_with(write_study, **design):
    return write_study(
        argv=["sh", "-c", SILENT],
        factors={"threads": [1, 2, 4, 8]},
        design={"replicates": 2, "warmup": 1, **design},
    )


def test_the_warm_up_begins_with_both_ends_and_the_measured_blocks_stay(write_study):
    study = study_with(write_study)
    rehearsed = [trial.treatment.label() for trial in planned_file(study).trials]
    without = planned_file(study, {"design.rehearsal": False}).trials
    plain = [trial.treatment.label() for trial in without]
    assert rehearsed[:2] == ["threads=1", "threads=8"]
    assert sorted(rehearsed[:4]) == sorted(plain[:4]) and rehearsed[4:] == plain[4:]


def test_what_is_wrong_is_told_before_the_third_trial(write_study, deadzone):
    said = deadzone("sweep", study_with(write_study, replicates=1)).err
    assert said.count("Rehearsal: No verdict: 1 of 2 trials ended with exit code 0") == 1
    silent = study_with(write_study, rehearsal=False, replicates=1)
    assert "Rehearsal" not in deadzone("sweep", silent).err


@pytest.mark.night
def test_a_run_of_before_rehearsals_goes_on_in_its_order(write_study, sweep, deadzone):
    study = study_with(write_study)
    run = open_run(str(study), {"design.rehearsal": False}).run
    written = yaml.safe_load((run.folder / "study.yaml").read_text())
    del written["design"]["rehearsal"]
    (run.folder / "study.yaml").write_text(yaml.safe_dump(written))
    (run.folder / "overrides.json").unlink()
    deadzone("sweep", study, "--resume", run.run_id, code=0)
    plain = planned_file(study, {"design.rehearsal": False}).trials
    assert [one["levels"] for one in run.records()] == [dict(one.treatment.levels) for one in plain]
    assert load_study(study).design.rehearsal is None


def test_a_rehearsal_alone_tells_and_keeps_nothing(write_study, deadzone, home):
    study = study_with(write_study)
    said = deadzone("sweep", study, "--dry-run", "--rehearse", code=7)
    for words in ("threads 1: ", "No verdict: 1 of 2", "estimated time of the sweep"):
        assert words in said.out
    told = json.loads(deadzone("sweep", study, "--rehearse", "--json").out)
    assert [one["key"] for one in told["rehearsal"]] == ["error_printed"]
    assert told["estimated_s"] > 0
    assert list_runs(home / "data" / "runs") == []
    sound = deadzone("sweep", study, "--rehearse", "-p", "factors.threads", "[1, 2]", code=0)
    assert "No verdict" not in sound.out


def test_a_rehearsal_shows_the_response_and_what_a_failing_program_said(deadzone, home):
    levels = ("try", "-L", "n", "1,2,4", "--rehearse")
    script = 'test {n} -lt 4 || { echo "no such device" >&2; exit 1; }; echo "rate {n}0"'
    said = deadzone(*levels, "--response", r"rate (\d+)", "--shell", "sh", "--", script, code=0)
    assert "n=4 failed in its warm-up: exit code 1; it printed 'no such device'." in said.out
    said = deadzone(*levels, "--response", r"speed (\d+)", "--", "echo", "rate {n}0", code=2)
    assert "Change the regular expression" in said.err
    assert "kept" not in said.err and "--resume" not in said.err
