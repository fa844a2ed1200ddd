import json

import numpy as np
import pytest

import deadzone as dz
from deadzone.errors import UnknownRunError
from deadzone.report.sweep.history import moves, verdict_of
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study
from report.made_runs import record, write_runs


@pytest.fixture
def runs_of(repository):
    """Runs of one study, whose times are those of its curve times a factor each."""
    return lambda *factors, **changed: write_runs(repository, *factors, **changed)


def keep_verdicts(runs):
    """Runs with the same trials have the same verdict, so one of each is fitted."""
    kept = {}
    for run in runs:
        trials = run.journal_file.read_text().replace(run.run_id, "")
        verdict = kept.setdefault(trials, verdict_of(run) if trials not in kept else {})
        run.write_verdict({**verdict, "recorded_at": run.provenance().get("recorded_at", "")})
    return runs


def test_a_run_that_was_disturbed_is_no_change(runs_of):
    keep_verdicts(runs_of(*[1] * 6, 1.2, *[1] * 6))
    assert moves(dz.history("probe")) == []


def test_a_study_whose_runs_measured_nothing_has_no_change(runs_of):
    (run,) = runs_of(1)
    run.journal_file.unlink()
    assert dz.history("probe").empty and moves(dz.history("probe")) == []


def test_the_frame_has_a_row_a_level_and_the_pieces_between_changes(runs_of):
    keep_verdicts(runs_of(*[1] * 8, *[1.1] * 5, cpu_model="Another CPU"))
    frame = dz.history("probe")
    assert len(frame) == 13 * 5 and list(frame["run"].unique()[:2]) == ["run-00", "run-01"]
    at = frame.query("is_setting")
    assert len(at) == 13 and set(at["setting"]) == {2.0} and set(at["verdict_state"]) == {"set"}
    assert [*at["segment"]] == [0] * 8 + [1] * 5
    assert at["ratio"].dropna().item() == pytest.approx(1.1, rel=0.01)
    assert at.set_index("run")["changed"]["run-08"] == "machine"
    (said,) = moves(frame)
    assert "wall time at the setting is 10 % worse since run run-08 of 9 March 2026" in said
    assert "(8 runs)" in said and "(5 runs)" in said and said.endswith("New then: machine.")


def test_a_run_keeps_its_verdict_and_one_that_went_on_is_fitted_anew(runs_of):
    (run,) = runs_of(1)
    assert run.verdict() == {}
    verdict = verdict_of(run)
    assert run.verdict() == verdict and verdict["curves"][0]["setting"] == 2.0
    (run.folder / "verdict.json").write_text(json.dumps({**verdict, "version": "kept"}))
    assert verdict_of(run)["version"] == "kept"
    (run.folder / "verdict.json").write_text("{")
    assert verdict_of(run) == verdict
    run.append({**run.records()[-1], "attempt": 2})
    assert verdict_of(run)["version"] != "kept"


def test_a_study_that_changed_begins_another_history_and_that_is_said(runs_of):
    runs = runs_of(*[1] * 4, *[1.3] * 4)
    for run in runs[4:]:
        study = run.folder / "study.yaml"
        study.write_text(study.read_text().replace("'true'", "'false'").replace("- true", "- x"))
    keep_verdicts(runs)
    frame = dz.history("probe")
    assert [*frame.drop_duplicates("run")["study_version"]] == [1] * 4 + [2] * 4
    (said,) = moves(frame)
    assert "The study changed with run run-04 of 5 March 2026 (workload)" in said
    assert frame["ratio"].isna().all()


def test_what_moved_is_told_in_the_order_of_the_runs(runs_of):
    runs = runs_of(*[1] * 7, *[1.3] * 6, 1.301)
    study = runs[-1].folder / "study.yaml"
    study.write_text(study.read_text().replace("- true", "- x").replace("'true'", "'false'"))
    keep_verdicts(runs)
    moved, changed = moves(dz.history("probe"))
    assert "worse since run run-07" in moved and "The study changed with run run-13" in changed


def test_a_title_that_changed_begins_nothing(runs_of):
    runs = runs_of(1, 1)
    study = runs[1].folder / "study.yaml"
    study.write_text(study.read_text().replace("A program under a CPU limit", "Another title"))
    assert set(dz.history("probe")["study_version"]) == {1}


def test_runs_without_an_answer_stand_there_without_one(runs_of, make_run):
    runs_of(1, 1)
    make_run(lambda line: {**line, "left_running": 1}, run_id="run-90")
    make_run(lambda line: {**line, "status": "failed"}, run_id="run-91")
    frame = dz.history("probe").drop_duplicates("run").set_index("run")
    assert frame["verdict_state"]["run-90"] == "stopped" and np.isnan(frame["estimate"]["run-90"])


PACKING = """
study: packing
workload: {kind: command, argv: ["true", "{codec}", "{threads}"]}
factors: {codec: [gzip, xz], threads: [1, 2]}
design: {replicates: 4, warmup: 0}
knob: codec
response: {name: wall_s, unit: s, goal: min}
"""


def test_a_grid_of_words_and_runs_of_unknown_date_are_listed_by_their_names(
    repository, deadzone, monkeypatch
):
    monkeypatch.setenv("DEADZONE_HOME", str(repository))
    study = parse_study(PACKING, "study.yaml")
    cells = [{"codec": c, "threads": n} for c in ("gzip", "xz") for n in (1, 2)]
    made = []
    for number in range(12):
        factor = 1.0 if number < 6 else 1.1
        run = RunFolder.create(repository / "data" / "runs", study, f"run-{number:02}")
        made.append(run)
        for trial in range(16):
            levels = cells[trial % 4]
            wall = factor * {"gzip": 1, "xz": 4}[levels["codec"]] / levels["threads"]
            took = wall * (1 + trial / 1000)
            run.append(record(trial + 1, 0, took, trial // 4 + 1, levels=levels))
    keep_verdicts(made)
    said = deadzone("history", "packing", code=0).out
    assert "run-00  -  2 threads / codec gzip  0.50" in said
    assert "is 10 % worse since run run-06 of -: 0.50" in said


def test_a_study_without_runs_is_named_with_those_that_have_some_or_with_what_makes_one(runs_of):
    with pytest.raises(UnknownRunError, match=r"no run in .* yet; `deadzone run STUDY` makes one"):
        dz.history()
    runs_of(1)
    with pytest.raises(UnknownRunError, match=r"'prob' has no run .* Did you mean `probe`"):
        dz.history("prob")


def test_the_command_prints_the_newest_runs_and_what_moved(runs_of, deadzone, monkeypatch):
    runs = keep_verdicts(runs_of(*[1] * 20, *[0.9] * 5))
    monkeypatch.setenv("DEADZONE_HOME", str(runs[0].folder.parents[3]))
    said = deadzone("history", code=0).out
    assert "run-24" in said and "run-05" in said and "run-04" not in said
    assert "is 10 % better since run run-20" in said
    rows = json.loads(deadzone("history", "probe", "--json", code=0).out)
    assert len(rows) == 25 * 5 and rows[0]["recorded_at"].startswith("2026-03-01")
    assert "has no run" in deadzone("history", "other", code=2).err
