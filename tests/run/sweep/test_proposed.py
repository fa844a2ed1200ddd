import os
import signal

import pytest
from disturbance import NO_DOUBTS
from notes import Notes

from deadzone.analysis.adaptive.slices import proposer_of
from deadzone.errors import StudyError
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.proposed import trials_of
from deadzone.run.sweep.running import run_sweep
from deadzone.store.run import list_runs
from deadzone.study.design import NextTreatments
from deadzone.study.reasons import reason, reason_of

SLEEPS = ["sh", "-c", "sleep 0.0$((60 / ({threads} < 4 ? {threads} : 4)))"]


@pytest.fixture
def study(write_study):
    """Ten levels of a program that gets quicker up to level 4."""

    def write(**keys):
        design = {"kind": "adaptive", "warmup": 1, "seed": 3, **keys.pop("design", {})}
        workload = {"kind": "command", "argv": SLEEPS}
        levels = {"threads": [*range(1, 11)]}
        return write_study(workload=workload, factors=levels, design=design, **keys)

    return write


def test_batches_are_recorded_with_their_reason_and_their_trials_are_blocks(study, sweep):
    told = Notes()
    run = sweep(study(), told=told)
    *batches, end = run.batches()
    records = run.records()
    assert records[0]["warmup"] and records[0]["levels"] == {"threads": 10}
    chosen = [(one, batch["batch"]) for batch in batches for one in batch["trials"]]
    planned = [(one["trial"], batch, one["levels"]) for one, batch in chosen]
    assert [(r["trial"], r["block"], r["levels"]) for r in records[1:]] == planned
    assert {level["threads"] for _, _, level in planned[:6]} == {1, 3, 5, 7, 9, 10}
    assert batches[0]["reason"] == {"reason": "opening", "n": 6, "knob": "threads"}
    assert reason_of(end["stopped"]) in told.told
    of_ten = [r for r in records if r["levels"] == {"threads": 10} and not r["warmup"]]
    replicates = [r["replicate"] for r in of_ten]
    assert replicates == list(range(1, len(replicates) + 1))


def test_a_run_that_was_killed_goes_on_with_the_batch_it_was_in(study, start, deadzone, home):
    path = study()
    started = start("sweep", path)
    started.wait_for(lambda: started.trials() >= 4, "its fourth trial")
    os.killpg(started.pid, signal.SIGKILL)
    started.process.wait()
    (run,) = list_runs(home / "data" / "runs")
    before = run.batches()
    deadzone("sweep", path, "--resume", "latest", code=0)
    after = run.batches()
    assert after[: len(before)] == before
    chosen = [one["trial"] for batch in after if "trials" in batch for one in batch["trials"]]
    assert [1, *chosen] == [*range(1, len(chosen) + 2)]
    assert [record["trial"] for record in run.records()] == [1, *chosen]


@pytest.mark.night
def test_the_same_trials_and_seed_give_the_same_next_batch(study, sweep):
    """As after a kill between the last trial of a batch and the choice of the next one."""
    run = sweep(study())
    plan = open_run(str(study()), resume="latest").plan
    table = run.trials()
    for batch in run.batches()[:-1]:
        before = table[(table["block"] < batch["batch"]) & ~table["warmup"]]
        again = proposer_of(plan)(before).treatments[: plan.study.design.batch]
        assert [dict(one.levels) for one in again] == [one["levels"] for one in batch["trials"]]


@pytest.mark.night
def test_a_run_may_go_on_until_more_is_known_and_records_the_rule(study, sweep):
    path = study()
    first = sweep(path, overrides={"design.until": {"decide": "setting", "loss": 0.5}})
    n = len(first.records())
    more = sweep(path, overrides={"design.until": {"certainty": 0.99}}, resume="latest")
    assert len(more.records()) >= n
    assert [b["until"]["certainty"] for b in more.batches()[-2:] if "until" in b] in ([0.99], [])


@pytest.mark.alone("it measures how long a budget lasts")
def test_a_budget_ends_it_and_says_what_is_open(study, sweep):
    told = Notes()
    path = study(design={"budget_s": 0.8, "until": {"certainty": 0.999}}, trust=NO_DOUBTS)
    run = sweep(path, told=told)
    *batches, end = run.batches()
    assert sum(one["wall_s"] for one in run.records() if one["block"] < batches[-1]["batch"]) < 0.8
    assert "0.8 s is spent" in reason_of(end["stopped"])
    assert any(note.startswith("Still open") for note in told.told)
    n = len(run.records())
    assert len(sweep(path, resume="latest").records()) > n  # which has the budget anew


@pytest.mark.parametrize(("always", "least", "most"), [(1, 10, 20), (10, 21, 40)])
def test_it_ends_when_its_trials_took_as_long_as_the_grid_or_are_twice_as_many(
    write_study, always, least, most
):
    """Of a proposer that never has enough: of the slowest level a few trials, of the cheapest twice
    the grid's."""
    path = write_study(
        argv=["sh", "-c", "test {threads} -gt 1 || sleep 1"],
        factors={"threads": [*range(1, 11)]},
        design={"kind": "adaptive", "replicates": 2, "warmup": 0, "seed": 3},
    )
    opened, told = open_run(str(path)), Notes()
    treatments = {one.levels["threads"]: one for one in opened.plan.treatments}

    def propose(table):
        known = set(table["threads"]) if len(table) else ()
        unmeasured = [level for level in treatments if level not in known]
        chosen = tuple(treatments[level] for level in unmeasured[:2] or [always] * 2)
        why = reason("opening", n=2, knob="threads")
        return NextTreatments(chosen, why, (0.0,) * len(chosen), ())

    run = run_sweep(opened.plan, opened.run, told, trials_of(opened.plan, propose, told))
    assert least <= len(run.finished()) <= most
    stopped = reason_of(run.batches()[-1]["stopped"])
    assert "as long as the whole grid or are twice as many" in stopped


@pytest.mark.alone("it measures how long a budget lasts")
def test_a_budget_ends_a_grid_with_a_whole_block(study, sweep):
    design = {"kind": "factorial", "replicates": 50, "warmup": 1, "budget_s": "1.5s"}
    run = sweep(study(design=design, trust=NO_DOUBTS))
    trials = run.trials()
    counts = trials[~trials["warmup"]]["threads"].value_counts()
    # beside neighbours a last block may take longer than expected, and is cut
    assert len(counts) == 10 and counts.max() - counts.min() <= 1
    assert 1 <= counts.iloc[0] < 50 and trials["wall_s"].sum() < 3
    assert "is spent" in reason_of(run.batches()[-1]["stopped"])


def test_levels_that_are_words_are_swept_as_a_grid_and_that_is_said(write_study, sweep):
    told, design = Notes(), {"kind": "adaptive", "replicates": 2}
    words = {"codec": ["gzip", "xz", "zstd"]}
    run = sweep(write_study(argv=["echo", "{codec}"], factors=words, design=design), told=told)
    assert len(run.records()) == 6
    (said,) = (note for note in told.told if "levels that are numbers" in note)
    assert "All levels are measured instead" in said


@pytest.mark.night
def test_each_combination_of_the_other_factors_is_a_curve_of_its_own(write_study, sweep):
    argv = ["sh", "-c", "sleep 0.0$((30 / {threads})); echo {mode}"]
    factors = {"threads": [1, 2, 3, 4, 5], "mode": ["a", "b"]}
    design = {"kind": "adaptive", "replicates": 3}
    trials = sweep(write_study(argv=argv, factors=factors, design=design)).trials()
    met = {(row.threads, row.mode) for row in trials.itertuples()}
    assert met >= {(1, "a"), (1, "b"), (5, "a"), (5, "b")}
    assert len(trials) <= 2 * 30


@pytest.mark.parametrize(
    ("design", "words"),
    [({"kind": "factorial", "until": {"loss": 0.1}}, "until is given for kind: adaptive"),
     ({"budget_s": "soon"}, "written like 30s, 5m or 1.5h"),
     ({"until": {"decide": "nothing"}}, "decide")],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_a_sentence(study, design, words):
    with pytest.raises(StudyError, match=words):
        open_run(str(study(design=design)))


def test_a_knob_with_a_level_apart_is_measured_as_a_grid(write_study, sweep):
    study = write_study(
        argv=["sleep", "0.0{threads}"], factors={"threads": [0, 1, 2, 3, 4]},
        design={"kind": "adaptive", "replicates": 1, "warmup": 0},
    )  # fmt: skip
    trials = sweep(study).trials()
    assert sorted(trials["threads"]) == [0, 1, 2, 3, 4]
