import itertools
import time
from dataclasses import replace

import pytest
from notes import Notes

from deadzone.errors import TableError
from deadzone.measurement import NO_INTERFERENCE
from deadzone.report.sweep.source import load_source
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep

LIMIT = 0.3
"""What neighbours may use beside a trial that is trusted [cores]."""


@pytest.fixture
def swept(write_study, emulate):
    """Sweeps three levels, without a program, beside others that use so many cores at each attempt,
    round and round. took_s: what a trial of each level takes."""

    def swept(cores, took_s=(0.0, 0.0, 0.0), **design):
        beside = itertools.cycle(cores)

        def measure(treatment):
            seconds = took_s[treatment.levels["threads"] - 1]
            time.sleep(seconds)
            return seconds, replace(NO_INTERFERENCE, foreign_cpu=next(beside))

        emulate(measure)
        design = {"replicates": 3, "warmup": 0, "rehearsal": False, **design}
        trust = {"max_foreign_cpu": LIMIT, "max_attempts": 3}
        path = write_study(factors={"threads": [1, 2, 3]}, design=design, trust=trust)
        opened, notes = open_run(str(path)), Notes()
        return run_sweep(opened.plan, opened.run, notes), notes.told

    return swept


def attempts_of(run):
    return [(record["trial"], record["attempt"]) for record in run.records()]


def test_a_disturbed_trial_comes_again_at_the_end_of_its_block(swept):
    run, notes = swept([0.0, 0.9, 0.0], replicates=1)
    assert attempts_of(run) == [(1, 1), (2, 1), (3, 1), (2, 2)]
    assert [record["trusted"] for record in run.records()] == [True, False, True, True]
    assert run.finished() == {1, 2, 3}
    assert "trial 2 is repeated: other processes used 0.90 cores" in notes[0]


def test_beside_steady_neighbours_repeats_stop(swept):
    """Of 9 trials beside half a core there were 34 attempts."""
    run, notes = swept([0.5], warmup=1)
    attempts = attempts_of(run)
    assert len(attempts) <= 18
    assert max(attempt for _, attempt in attempts) <= 2
    assert run.finished() == {*range(1, 13)}
    assert not run.trials()["trusted"].any()
    assert (
        f"12 of 12 trials measured in {len(attempts)} attempts, 9 of the 9 after the warm-up not "
        "trusted, recorded in" in notes[-1]
    )


def test_a_sweep_that_repeats_nothing_says_all_the_same_that_it_is_disturbed(swept):
    """The six trials for warm-up showed the neighbours to be steady."""
    run, notes = swept([0.5], warmup=2)
    assert attempts_of(run) == [(trial, 1) for trial in range(1, 16)]
    told = [note for note in notes if "other processes used 0.50 cores" in note]
    assert len(told) == 1 and told[0].startswith("trial 7 is not trusted: ")


def test_beside_neighbours_that_come_and_go_they_go_on(swept):
    run, _ = swept([0.9, 0.9, 0.9, 0.0])
    assert max(attempt for _, attempt in attempts_of(run)) == 3
    assert run.trials()["trusted"].sum() >= 5


def test_a_trial_for_warm_up_is_not_repeated(swept):
    run, _ = swept([0.9], warmup=1, replicates=1)
    assert attempts_of(run)[:3] == [(1, 1), (2, 1), (3, 1)]


def test_no_trial_starts_that_is_expected_to_end_after_the_budget(swept):
    """Blocks of 0.34 s: two fit, and neither a third nor repeats beside neighbours."""
    began_s = time.monotonic()
    took_s = (0.01, 0.03, 0.3)
    run, notes = swept([0.0], took_s, budget_s=0.9, replicates=20)
    assert time.monotonic() - began_s < 3
    assert attempts_of(run) == [(n, 1) for n in range(1, 7)]
    assert any("0.9 s is spent" in note for note in notes)
    run, _ = swept([0.0, 0.9], took_s, budget_s=0.4, replicates=20)
    spent_s = sum(record["wall_s"] for record in run.records())
    assert spent_s <= 0.4 + max(took_s)


def test_a_run_of_warm_up_trials_has_nothing_to_analyse_and_says_so(swept, home):
    run, _ = swept([0.0], warmup=1)
    lines = run.journal_file.read_text().splitlines(keepends=True)
    run.journal_file.write_text("".join(lines[:3]))
    (run.folder / "trials.parquet").unlink()
    sentence = (
        f"Nothing to analyse: 3 warm-up trials, none measured. Go on with `resume='{run.run_id}'`"
    )
    with pytest.raises(TableError, match=sentence):
        load_source(run=run.run_id)
