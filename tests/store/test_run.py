import json
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from deadzone.errors import StoreError
from deadzone.measurement import Sample
from deadzone.store.run import JOURNAL_FILE, RunFolder, list_runs, new_run_id
from deadzone.study.loading import dump_study, parse_study

pytestmark = pytest.mark.kept

STUDY = parse_study(
    "study: probe\nworkload: {kind: ffmpeg}\nfactors: {cpu_limit: [1, none]}\n", "probe.yaml"
)


def record(trial, attempt=1, **more):
    return {
        "trial": trial, "attempt": attempt, "final": True, "block": 1, "replicate": 1,
        "warmup": False, "started_at": "2026-02-06T00:00:00.000+00:00", "levels": {"cpu_limit": 1},
        "wall_s": 1.5, "status": "ok", "trusted": True, "responses": {"fps": 20.0}, **more,
    }  # fmt: skip


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path, STUDY, "20260206T000000Z-aaaa")


def test_a_new_run_holds_its_study_and_nothing_half_written(tmp_path):
    run = RunFolder.create(tmp_path, STUDY, "one", {"overrides.json": "{}\n"})
    assert run.folder == tmp_path / "probe" / "one"
    assert {path.name for path in run.folder.iterdir()} == {"study.yaml", "overrides.json"}
    assert run.study() == STUDY
    assert (run.folder / "study.yaml").read_text() == dump_study(STUDY)


def test_ids_sort_by_time_and_are_not_shared():
    ids = {new_run_id() for _ in range(50)}
    assert len(ids) > 45
    assert all(re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", run_id) for run_id in ids)


def test_two_runs_never_share_a_folder(run, tmp_path):
    with pytest.raises(StoreError, match=r"two runs never share a folder\. Use `resume='"):
        RunFolder.create(tmp_path, STUDY, run.run_id)
    assert run.study() == STUDY


def test_a_folder_that_cannot_be_made_is_told_and_nothing_is_left(tmp_path):
    (tmp_path / "probe").write_text("a file is in the way")
    with pytest.raises(
        StoreError, match=r"cannot make the run's folder: (Not a directory|File exists)"
    ):
        RunFolder.create(tmp_path, STUDY, "one")


@pytest.fixture
def three_runs(tmp_path):
    other = STUDY.model_copy(update={"study": "other"})
    return [
        RunFolder.create(tmp_path, STUDY, "20260101T000000Z-aaaa"),
        RunFolder.create(tmp_path, STUDY, "20260301T000000Z-bbbb"),
        RunFolder.create(tmp_path, other, "20260201T000000Z-cccc"),
    ]


@pytest.mark.parametrize(
    ("name", "index"),
    [("latest", 1), ("probe/latest", 1), ("other/latest", 2), ("20260101T000000Z-aaaa", 0),
     ("other/20260201T000000Z-cccc", 2)],
)  # fmt: skip
def test_a_run_is_found_by_id_and_as_the_latest(three_runs, tmp_path, name, index):
    assert RunFolder.find(tmp_path, name).folder == three_runs[index].folder
    by_folder = RunFolder.find(tmp_path / "elsewhere", str(three_runs[index].folder))
    assert by_folder.run_id == three_runs[index].run_id


def test_runs_are_listed_oldest_first(three_runs, tmp_path):
    assert [run.run_id[-4:] for run in list_runs(tmp_path)] == ["aaaa", "cccc", "bbbb"]
    assert [run.run_id[-4:] for run in list_runs(tmp_path, "probe")] == ["aaaa", "bbbb"]


def test_a_run_that_was_given_a_name_is_as_old_as_its_study(three_runs, tmp_path):
    named = RunFolder.create(tmp_path, STUDY, "before")
    assert RunFolder.find(tmp_path, "latest").run_id == "before"
    os.utime(named.folder / "study.yaml", (0, 0))
    assert list_runs(tmp_path)[0].run_id == "before"
    assert RunFolder.find(tmp_path, "probe/latest").run_id.endswith("bbbb")


def test_a_copy_is_as_old_as_what_it_was_copied_from(three_runs, tmp_path):
    three_runs[0].write_provenance({})
    facts = json.loads((three_runs[0].folder / "provenance.json").read_text())
    facts["recorded_at"] = "2026-01-01T00:00:00+00:00"
    (three_runs[0].folder / "provenance.json").write_text(json.dumps(facts))
    shutil.copytree(three_runs[0].folder, three_runs[0].folder.with_name("before-upgrade"))
    assert RunFolder.find(tmp_path, "probe/latest").run_id.endswith("bbbb")


@pytest.mark.parametrize(
    ("name", "words"),
    [("20260101T000000Z-aaab", "Did you mean `20260101T000000Z-aaaa`"),
     ("nothing/latest", "There is no run 'nothing/latest'"),
     ("/no/such/folder", "There is no run '/no/such/folder'"), ("pro*/latest", "There is no run"),
     ("[", "There is no run"), ("x" * 300, "There is no run"), ("", "There is no run ''")],
)  # fmt: skip
def test_a_run_that_is_not_there_is_told_with_the_nearest(three_runs, tmp_path, name, words):
    with pytest.raises(StoreError) as refused:
        RunFolder.find(tmp_path, name)
    assert words in str(refused.value)


def test_an_id_that_two_studies_have_must_say_which(tmp_path):
    for study in (STUDY, STUDY.model_copy(update={"study": "other"})):
        RunFolder.create(tmp_path, study, "one")
    with pytest.raises(StoreError, match="Several studies have a run 'one'; write `STUDY/one"):
        RunFolder.find(tmp_path, "one")


HOLD = """
import sys, pathlib, time
from deadzone.store.run import RunFolder
with RunFolder(pathlib.Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_dead(run):
    with subprocess.Popen(
        (sys.executable, "-c", HOLD, str(run.folder)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout.readline() == b"held\n"
        assert run.writer() == first.pid
        with pytest.raises(StoreError, match="is being written by another process"), run.lock():
            pass
        first.kill()
    with run.lock():
        assert run.writer() == os.getpid()


def test_finished_trials_are_those_whose_last_attempt_is_final(run):
    run.append(record(1))
    run.append(record(2, final=False))
    run.append(record(3, final=False))
    run.append(record(3, attempt=2))
    run.append(record(4, status="lost"))
    run.append(record(5, status="failed"))
    assert run.finished() == {1, 3, 5}
    with run.journal_file.open("a") as journal:
        journal.write('{"trial": 6}\n')
    with pytest.raises(StoreError, match="line 7 is no trial"):
        run.finished()


def test_the_parquet_table_equals_the_journal(run):
    for trial in (1, 2):
        samples = [Sample(0.1, "cpu_usage_s", 0.05 * trial)]
        run.append(record(trial, responses={"fps": trial * 10.0}), samples)
    run.write_tables()
    table = pd.read_parquet(run.folder / "trials.parquet")
    pd.testing.assert_frame_equal(table, run.trials())
    lines = [json.loads(line) for line in (run.folder / JOURNAL_FILE).read_text().splitlines()]
    assert list(table["trial"]) == [line["trial"] for line in lines]
    assert list(table["wall_s"]) == [line["wall_s"] for line in lines]
    assert list(table["fps"]) == [line["responses"]["fps"] for line in lines]
    assert set(table["run_id"]) == {run.run_id}
    series = pd.read_parquet(run.folder / "telemetry.parquet")
    rows = series[["trial", "t_s", "metric", "value"]].to_numpy().tolist()
    assert rows == [[1, 0.1, "cpu_usage_s", 0.05], [2, 0.1, "cpu_usage_s", 0.1]]
    assert not list(run.folder.glob(".*"))


def test_an_attempt_cut_off_before_its_trial_was_recorded_tells_no_series_twice(run):
    run.append(record(1), [Sample(0.1, "cpu_usage_s", 1.0)])
    with (run.folder / "telemetry.jsonl").open("a") as telemetry:  # killed between the two journals
        line = {"trial": 2, "attempt": 1, "samples": [[0.1, "cpu_usage_s", 7.0]]}
        telemetry.write(json.dumps(line) + "\n")
    assert run.telemetry()["value"].tolist() == [1.0]
    RunFolder(run.folder).append(record(2), [Sample(0.1, "cpu_usage_s", 2.0)])
    assert run.telemetry()["value"].tolist() == [1.0, 2.0]


def test_provenance_of_earlier_parts_is_kept(run):
    assert run.provenance() == {}
    run.write_provenance({"host": "a"})
    run.write_provenance({"host": "b"})
    run.write_provenance({"host": "c"})
    assert run.provenance() == {"host": "c", "earlier_parts": [{"host": "a"}, {"host": "b"}]}
    (run.folder / "provenance.json").write_text("{")
    with pytest.raises(StoreError, match=r"provenance\.json: cannot be read"):
        run.provenance()


def test_a_study_that_is_no_text_is_told(run):
    (run.folder / "study.yaml").write_bytes(b"study: \xff\n")
    with pytest.raises(
        StoreError, match=r"study\.yaml: cannot read the run's study: it is not UTF-8 text"
    ):
        run.study()


def test_only_a_run_without_trials_can_be_discarded(run, tmp_path):
    kept = RunFolder.create(tmp_path, STUDY, "with-a-trial")
    kept.append(record(1))
    kept.discard()
    run.discard()
    assert [found.run_id for found in list_runs(tmp_path)] == ["with-a-trial"]


def test_nobody_writes_a_run_once_its_writer_has_ended(run):
    with run.lock():
        assert run.is_held()
    assert run.writer() is None and not run.is_held()
