import shutil
import sqlite3
from pathlib import Path

from sqlite_inserts import inserted_per_s

from deadzone.study.loading import load_study

STUDY = Path(__file__).parents[2] / "notebooks" / "studies" / "sqlite-threads.yaml"


def test_all_rows_are_inserted_whatever_the_number_of_threads(tmp_path):
    for threads in (1, 3):
        assert inserted_per_s(tmp_path, threads, 500) > 0
        database = sqlite3.connect(tmp_path / "events.sqlite")
        (count,) = database.execute("SELECT COUNT(*) FROM events").fetchone()
        assert count == 500


def test_its_study_measures_inserts_a_second(sweep):
    argv = ["3000" if part == "30000" else part for part in load_study(STUDY).workload.argv]
    once = {"design.replicates": 1, "design.warmup": 0, "trust.max_attempts": 1}
    run = sweep(STUDY, {**once, "factors.threads": [2], "workload.argv": argv})
    trials = run.trials()
    assert list(trials["status"].unique()) == ["ok"]
    assert trials["inserts_per_s"].min() > 100
    shutil.rmtree(run.folder)
