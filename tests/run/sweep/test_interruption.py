"""The instants are drawn in tests/torture."""

import os
import signal

import pytest

from deadzone.run.sweep.opening import open_run, planned_file
from deadzone.run.sweep.running import run_sweep
from deadzone.store.run import list_runs


@pytest.fixture
def study(write_study):
    """Twenty-four trials of some 20 ms."""
    return write_study(
        argv=["sh", "-c", "sleep 0.01; echo {threads}"],
        workload={"responses": {"n": {"regex": r"\d+"}}},
        factors={"threads": [1, 2, 4, 8]},
        design={"replicates": 5, "warmup": 1, "seed": 3},
    )


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM,
     *(pytest.param(n, marks=pytest.mark.night) for n in (signal.SIGINT, signal.SIGHUP))],
)  # fmt: skip
def test_an_interrupt_ends_the_sweep_in_order(number, study, start, traces, home, sweep):
    started = start("sweep", study)
    started.wait_for(lambda: started.trials() >= 3, "its third trial")
    assert traces(started.pid)
    os.kill(started.pid, number)
    err = started.end_with(130)
    assert "Traceback" not in err
    assert "go on with `--resume" in err
    assert err.endswith("deadzone: interrupted\n")
    assert traces(started.pid) == []
    (run,) = list_runs(home / "data" / "runs")
    assert len(run.finished()) >= 3
    assert (run.folder / "trials.parquet").exists()
    assert_whole(sweep(study, resume="latest"), study)


def test_ctrl_c_twice_still_cleans_up(study, start, traces):
    started = start("sweep", study)
    started.wait_for(lambda: started.trials() >= 2, "its second trial")
    os.killpg(started.pid, signal.SIGINT)
    os.killpg(started.pid, signal.SIGINT)
    err = started.end_with(130)
    assert "Traceback" not in err
    assert traces(started.pid) == []


def test_what_judges_the_rehearsal_is_loaded_whole_before_an_interrupt_arrives(study):
    """An import that is broken off leaves numpy and pandas unusable in a kernel."""
    opened, loaded = open_run(str(study)), []

    def judge():
        os.kill(os.getpid(), signal.SIGINT)
        loaded.append(True)
        return lambda table: ()

    with pytest.raises(KeyboardInterrupt):
        run_sweep(opened.plan, opened.run, judge=judge)
    assert loaded and not opened.run.folder.exists()


def assert_whole(run, study):
    """The run has every trial of the plan once, in the order of the plan."""
    planned = [(one.trial, dict(one.treatment.levels)) for one in planned_file(study).trials]
    assert [(record["trial"], record["levels"]) for record in run.records()] == planned
    assert run.finished() == {trial for trial, _ in planned}
    assert run.trials()["n"].notna().all()
    assert len(set(run.telemetry()["trial"])) == len(planned)
    assert not run.telemetry().duplicated(["trial", "attempt", "t_s", "metric"]).any()


def test_a_torn_last_line_is_measured_again(study, sweep):
    journal = sweep(study).journal_file
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-40])
    assert_whole(sweep(study, resume="latest"), study)
    assert journal.read_bytes().startswith(whole[: whole.rindex(b"\n", 0, -1) + 1])


def test_damaged_circumstances_are_refused_also_where_nothing_is_left_to_measure(
    write_study, sweep, deadzone
):
    run = sweep(write_study())
    (run.folder / "provenance.json").write_text("")
    said = deadzone("sweep", "probe", "--resume", "latest", code=3)
    assert "provenance.json: cannot be read" in said.err, said.err


def test_a_run_that_another_process_writes_is_refused(study, deadzone):
    with open_run(str(study)).run.lock():
        said = deadzone("sweep", study, "--resume", "latest", code=3)
    assert "is being written by another process; wait for it to end" in said.err


def test_a_run_that_was_killed_before_its_first_trial_can_go_on(study, sweep):
    begun = open_run(str(study)).run
    assert_whole(sweep(study, resume="latest"), study)
    assert_whole(begun, study)
