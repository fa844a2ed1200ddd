import json

import pandas as pd
import pytest
from analysis.compare.tables import table

from deadzone.errors import EXIT_USAGE, EXIT_WORSE


@pytest.fixture
def write(tmp_path):
    def written(name, factor=1.0, seed=1, n=8, **columns):
        path, frame = tmp_path / name, table(factor, seed=seed, n=n, levels=(1, 2))
        frame = frame[["threads", "wall_s"]].assign(**columns)
        _ = frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        return path

    return written


def test_two_tables_as_text(write, deadzone):
    said = deadzone("compare", write("old.csv"), write("new.parquet", 1.2, seed=2))
    assert said.code == 0
    assert "worse" in said.out and "old.csv" in said.out and "1 thread" in said.out


def test_json_holds_every_number(write, deadzone):
    said = deadzone("compare", write("a.csv"), write("b.csv", 0.8, seed=2), "--json")
    document = json.loads(said.out)
    assert [row["verdict"] for row in document["treatments"]] == ["better", "better"]
    assert document["overall"][0]["ratio"] == pytest.approx(0.8, rel=0.02)
    assert document["threshold"] == 0.03


def test_the_exit_code_speaks_only_when_asked(write, deadzone):
    a, b = write("a.csv"), write("b.csv", 1.2, seed=2)
    assert deadzone("compare", a, b).code == 0
    assert deadzone("compare", a, b, "--fail-on", "worse").code == EXIT_WORSE == 5
    assert deadzone("compare", b, a, "--fail-on", "worse").code == 0


def test_threshold_goal_and_factors_are_taken(write, deadzone):
    a, b = write("a.csv", score=1.0), write("b.csv", 1.2, seed=2, score=2.0)

    def compared(*options):
        return json.loads(deadzone("compare", a, b, *options, "--json").out)

    small, turned = compared("--threshold", "0.5"), compared("--goal", "max")
    assert {row["verdict"] for row in small["treatments"]} == {"no change that matters"}
    assert {row["verdict"] for row in turned["treatments"]} == {"better"}
    two = compared("--response", "wall_s", "--response", "score", "--by", "threads")
    assert [row["response"] for row in two["overall"]] == ["wall_s", "score"]


def test_two_runs_know_their_response_and_factors(write_study, sweep, deadzone):
    study = write_study(design={"replicates": 2})
    runs = [sweep(study).run_id for _ in range(2)]
    document = json.loads(deadzone("compare", *runs, "--json").out)
    assert document["factors"] == ["threads"] and document["overall"][0]["response"] == "wall_s"
    assert document["a"] == f"probe/{runs[0]}"
    assert any("undecided" in warning for warning in document["warnings"])
    assert any("interleaved" in warning for warning in document["warnings"])


def test_a_run_that_was_measured_elsewhere_is_said_to_be(write_study, sweep, deadzone):
    study = write_study(design={"replicates": 2})
    one, other = sweep(study), sweep(study)
    facts = json.loads((other.folder / "provenance.json").read_text())
    changed = {**facts, "cpu_model": "another", "kernel": None}
    (other.folder / "provenance.json").write_text(json.dumps(changed))
    said = " ".join(deadzone("compare", one.run_id, other.run_id).out.split())
    assert "They are known to differ in cpu model (" in said and "kernel" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["a.csv", "missing.csv"], "there is no such table"),
     (["a.csv", "b.csv", "--margin", "0.1"], "--margin is gone: two are the same within"),
     (["a.csv", "b.csv", "--response", "wal_s"], "Did you mean `wall_s`?"),
     (["a.csv", "b.csv", "--threshold", "-1"], "The threshold is -1.0"),
     (["a.csv", "b.csv", "--fail-on", "better"], "is not 'worse'")],
)  # fmt: skip
def test_mistakes_are_answered_with_a_sentence(
    write, deadzone, tmp_path, monkeypatch, arguments, words
):
    write("a.csv"), write("b.csv")
    monkeypatch.chdir(tmp_path)
    assert words in deadzone("compare", *arguments, code=EXIT_USAGE).err


def test_a_table_without_the_usual_response_says_how_to_name_another_of_those_there_are(
    deadzone, tmp_path
):
    pd.DataFrame({"threads": [1], "fps": [2]}).to_csv(tmp_path / "a.csv", index=False)
    said = deadzone("compare", tmp_path / "a.csv", tmp_path / "a.csv")
    assert said.code != 0 and "`threads`, `fps`" in said.err
    assert "no column 'wall_s'. Name another with `--response COLUMN`; its columns are" in said.err


def test_a_size_called_block_is_a_factor_and_cells_of_words_are_refused(tmp_path, deadzone):
    for name, factor in (("a", 1.0), ("b", 1.3)):
        rows = [(size, speed * factor * (1 + n / 100)) for size, speed in (("4k", 100), ("1M", 900))
                for n in range(10)]  # fmt: skip
        pd.DataFrame(rows, columns=["block", "mbps"]).to_csv(tmp_path / f"{name}.csv", index=False)
    both = (tmp_path / "a.csv", tmp_path / "b.csv")
    said = deadzone("compare", *both, "--response", "mbps", "--by", "block").out
    assert "10 + 10" in said
    table = (tmp_path / "b.csv").read_text()
    (tmp_path / "b.csv").write_text(table.replace("130.0", "broken", 1))
    said = deadzone("compare", *both, "--response", "mbps", "--by", "block", code=2).err
    assert "'broken'" in said


def test_thousands_are_read_as_a_fit_reads_them(tmp_path, deadzone):
    rows = {"a": [960, 970, 980, 990] * 3, "b": ['"1,250"', '"1,260"', "940", '"1,280"'] * 3}
    for name, values in rows.items():
        lines = "\n".join(map(str, ["req_s", *values, ""]))
        (tmp_path / f"{name}.csv").write_text(lines)
    said = deadzone("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--response", "req_s").out
    assert "12 + 12" in said
