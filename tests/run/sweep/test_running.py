import re
import subprocess
import sys
import time

import pandas as pd
import pytest
from disturbance import NO_DOUBTS
from notes import Notes
from tally import BUSY

from deadzone.errors import SweepError
from deadzone.run.sweep.forecast import preview
from deadzone.run.sweep.opening import open_run, planned_file
from deadzone.run.sweep.running import run_sweep

PYTHON = [sys.executable, "-I", "-S", "-c"]


class Listener(Notes):
    """Progress that remembers what it was told and shown."""

    def __init__(self):
        super().__init__()
        self.shown = []

    def show(self, done, total, current, left_s):
        self.shown.append((done, total, current, left_s))


def test_the_journal_follows_the_plan_and_progress_counts_and_knows_the_time_left(
    write_study, sweep
):
    design, listener = {"replicates": 3, "warmup": 1, "seed": 5}, Listener()
    study = write_study(factors={"threads": [1, 2, 3]}, design=design)
    run = sweep(study, told=listener)
    trials, planned = run.trials(), planned_file(study).trials
    assert trials["trial"].tolist() == [trial.trial for trial in planned]
    assert trials["threads"].tolist() == [trial.treatment.levels["threads"] for trial in planned]
    assert trials["block"].tolist() == [trial.block for trial in planned]
    assert trials["warmup"].tolist() == [True] * 3 + [False] * 9
    assert trials["trusted"].all()
    assert (pd.to_datetime(trials["started_at"]).diff().dropna() > pd.Timedelta(0)).all()
    assert [(done, total) for done, total, *_ in listener.shown] == [(n, 12) for n in range(12)]
    assert listener.shown[0][3] is None and all(left > 0 for *_, left in listener.shown[1:])
    assert listener.told == [f"12 of 12 trials measured, recorded in {run.folder}"]


def test_trials_may_come_from_a_source_that_sees_what_was_measured_before(write_study):
    """The second batch is asked for when the first is on disk; the run holds both, in order."""
    opened = open_run(str(write_study(factors={"threads": [1, 2, 3]}, replicates=1)))
    seen = []

    def one_by_one(plan, run):
        for trial in plan.trials:
            seen.append(len(run.finished()))
            yield [trial]

    told = Listener()
    run = run_sweep(opened.plan, opened.run, told, one_by_one)
    assert seen == [0, 1, 2]
    assert [record["trial"] for record in run.records()] == [1, 2, 3]
    assert [(done, total) for done, total, _, _ in told.shown] == [(0, 1), (1, 2), (2, 3)]
    assert "3 of 3 trials measured, recorded" in told.told[-1]


@pytest.mark.alone("it measures CPU time under a limit, or the CPU of a neighbour")
def test_a_fixed_limit_of_the_target_is_no_reason_for_doubt(quota, write_study, sweep):
    local = {"kind": "local", "mechanism": quota, "cpu_limit": 0.3}
    argv = [*PYTHON, "import time\nwhile time.process_time() < 0.1: pass", "{threads}"]
    study = write_study(argv=argv, target=local, factors={"threads": [1]}, replicates=1)
    (trial,) = sweep(study).trials().itertuples()
    assert trial.nr_throttled > 0
    assert trial.trusted, trial.distrust_reason


def test_the_machine_rests_between_trials_but_not_after_the_last(write_study, sweep, monkeypatch):
    rested, sleep = [], time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: rested.append(seconds) or sleep(seconds))
    trials = sweep(write_study(design={"replicates": 2, "cooldown_s": 0.13})).trials()
    gaps = pd.to_datetime(trials["started_at"]).diff().dropna().dt.total_seconds()
    assert (gaps >= 0.13).all() and rested.count(0.13) == len(gaps) == 3


def test_circumstances_and_series_are_recorded(quota, write_study, sweep):
    study = write_study(argv=["sleep", "0.25"], factors={"cpu_limit": [0.5]})
    run = sweep(study)
    facts = run.provenance()
    always = "host cpu_model kernel limits_mechanism packages program recorded_at scratch"
    assert all(facts[name] for name in always.split())
    assert facts["limits_mechanism"] == quota
    series = pd.read_parquet(run.folder / "telemetry.parquet")
    assert set(series["trial"]) == {1, 2}
    assert {"cpu_usage_s", "nr_throttled"} <= set(series["metric"])
    pd.testing.assert_frame_equal(pd.read_parquet(run.folder / "trials.parquet"), run.trials())


@pytest.fixture
def neighbour():
    """A process that keeps a core busy, as somebody else on the machine would."""
    with subprocess.Popen([*PYTHON, "while True: pass"]) as process:
        yield process
        process.kill()


@pytest.mark.alone("it measures CPU time under a limit, or the CPU of a neighbour")
def test_a_trial_beside_a_neighbour_is_repeated_and_trusted_once_that_is_gone(
    neighbour, write_study, sweep
):
    """Others may be busy here, so the threshold is set between them and the neighbours."""

    class Ending(Listener):
        def note(self, sentence):
            super().note(sentence)
            neighbour.kill()
            neighbour.wait()

    trust = {**NO_DOUBTS, "max_foreign_cpu": 0.3, "max_attempts": 20}
    pause = {"argv": ["sleep", "{pause}"], "factors": {"pause": [0.3]}, "replicates": 1}
    listener = Ending()
    trials = sweep(write_study(**pause, trust=trust), told=listener).trials()
    assert not trials["trusted"].iloc[0]
    said = r"other processes used \d\.\d\d cores \(threshold 0\.30\)"
    assert re.match(said, trials["distrust_reason"].iloc[0])
    assert re.match(f"trial 1 is repeated: {said}", listener.told[0])
    assert trials["attempt"].tolist() == list(range(1, len(trials) + 1))
    if not trials["trusted"].iloc[-1]:
        pytest.skip(f"{BUSY}twenty attempts in a row were disturbed")


def test_after_three_failures_in_a_row_the_sweep_stops_and_keeps_them(write_study):
    opened = open_run(str(write_study(argv=["sh", "-c", "echo no {threads}; exit 9"])))
    with pytest.raises(
        SweepError,
        match=r"(?s)The last 3 trials failed.*exit code 9.*The program printed: no \d\n"
        r"3 of 4 trials are kept in .*, none of which ended well; .* start a new run\.$",
    ):
        run_sweep(opened.plan, opened.run)
    assert opened.run.trials()["status"].tolist() == ["failed"] * 3
    assert (opened.run.folder / "trials.parquet").exists()


def test_a_finished_run_is_not_measured_again_but_its_tables_are_put_back(write_study, sweep):
    study = write_study()
    run = sweep(study)
    before = run.journal_file.read_bytes()
    (run.folder / "trials.parquet").unlink()
    again = sweep(study, resume=run.run_id)
    assert again.journal_file.read_bytes() == before
    assert (run.folder / "trials.parquet").exists()


def test_a_sweep_that_fails_after_its_last_trial_says_that_none_is_left(write_study):
    opened = open_run(str(write_study()))

    def source(plan, run):
        yield plan.trials
        raise SweepError("the limit could not be given back")

    with pytest.raises(SweepError, match="All 4 trials are measured and kept in ") as failed:
        run_sweep(opened.plan, opened.run, source=source)
    assert "`deadzone report probe/" in str(failed.value) and "--resume" not in str(failed.value)


def test_attempts_go_on_counting_after_a_resume(write_study, sweep):
    study = write_study(replicates=1)
    run = sweep(study)
    lines = run.journal_file.read_text().splitlines(keepends=True)
    run.journal_file.write_text(lines[0] + lines[1].replace('"final": true', '"final": false'))
    trials = sweep(study, resume="latest").trials()
    assert trials[["trial", "attempt"]].to_numpy().tolist() == [[1, 1], [2, 1], [2, 2]]


def test_a_preview_estimates_from_what_was_measured_before(write_study):
    design = {"replicates": 5, "warmup": 2, "cooldown_s": 1}
    plan = planned_file(write_study(factors={"threads": [1, 2, 4]}, design=design))
    earlier = [{"levels": {"threads": 1}, "wall_s": 3.0, "attempt": 1, "final": True}]
    told = preview(plan, earlier)
    assert told["estimated"] == "1 min 24 s"  # 21 x (3 + 1) s
    assert told["longest_s"] == 21 * 31


def test_a_preview_of_what_chooses_its_trials_counts_those_that_may_still_come(write_study):
    design = {"kind": "adaptive", "replicates": 2, "warmup": 1}
    plan = planned_file(write_study(factors={"threads": [1, 2, 3, 4]}, design=design))
    told = [preview(plan, [], set(range(1, n + 1))) for n in (0, 3, 17, 18)]
    assert [one["n_remaining"] for one in told] == [16, 14, 0, 0]  # the first is for warm-up
    assert [one["n_trials"] for one in told] == [16, 16, 16, 17]
