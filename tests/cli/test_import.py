import io
import json
from pathlib import Path

import pandas as pd
import pytest

from deadzone.errors import EXIT_USAGE

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "imports"
SIZES = [SAMPLES / f"fio_seqw_direct_{size}.json" for size in ("4k", "64k", "1m")]


def test_three_fio_files_are_imported_and_fitted(deadzone, fit_of, tmp_path):
    table = tmp_path / "disk.parquet"
    said = deadzone("import", "fio", *SIZES, "-o", table)
    assert (said.code, said.out.split(":")[1].split(",")[0]) == (0, " 3 rows")
    assert "clat" in said.err
    fitted = fit_of(table, "block_size", "throughput_bytes_s", "--goal", "max", "--json")
    document = json.loads(fitted.out)
    assert document["n_levels"] == 3 and document["recommendation"]["setting"] == 2**20


def test_json_has_rows_and_warnings(deadzone):
    said = deadzone("import", "k6", SAMPLES / "k6_summary_export.json", "--json").out
    document = json.loads(said)
    assert document["rows"][0]["dropped"] == 133
    assert any("dropped 133" in warning for warning in document["warnings"])


def test_levels_are_set_and_rows_added(deadzone, tmp_path):
    table = tmp_path / "wrk.csv"
    for threads in (2, 4):
        deadzone(
            "import", "wrk", SAMPLES / "wrk_latency.txt", "--set", f"pool_size={threads}",
            "--append", "-o", table,
        )  # fmt: skip
    assert pd.read_csv(table)["pool_size"].tolist() == [2, 4]


def test_without_a_file_to_write_the_table_is_printed_and_its_runs_are_compared(deadzone, tmp_path):
    said = deadzone("import", "hyperfine", SAMPLES / "hyperfine.json").out
    table = pd.read_csv(io.StringIO(said))
    assert len(table) == 40
    for name, command in (("a", "sha256sum"), ("b", "md5sum")):
        runs = table[table["command"].str.startswith(command)].drop(columns="command")
        runs.to_csv(tmp_path / f"{name}.csv", index=False)
    document = json.loads(deadzone("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--json").out)
    assert document["overall"][0]["verdict"] == "better"
    assert document["overall"][0]["ratio"] == pytest.approx(0.005818893 / 0.0085026005)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["hyperfin", SIZES[0]], "Did you mean `hyperfine`?"),
     (["fio", "missing.json"], "there is no such file"),
     (["fio", SAMPLES / "hey.csv"], "is no complete JSON of fio"),
     (["wrk", SAMPLES / "wrk_latency.txt", "--set", "threads"], "write COLUMN=VALUE"),
     (["wrk", SAMPLES / "wrk_latency.txt", "--set", "wall_s=1"], "not set but measured"),
     (["wrk", SAMPLES / "wrk_latency.txt", "-o", "t.json"], "ending in .csv or .parquet"),
     (["wrk", SAMPLES / "wrk_latency.txt", "--append"], "--append needs a table"),
     (["wrk"], "Missing argument")],
)  # fmt: skip
def test_mistakes_are_answered_with_a_sentence(deadzone, arguments, words):
    assert words in deadzone("import", *arguments, code=EXIT_USAGE).err


def test_any_table_of_words_in_quotes_is_no_result_of_redis_benchmark(deadzone, tmp_path):
    table = tmp_path / "llama.csv"
    table.write_text('model,n_threads,avg_ts,backend\n"llama","1","24.1","CPU"\n')
    said = deadzone("import", "llama-bench", table, code=EXIT_USAGE).err
    assert "deadzone fit FILE" in said and "redis" not in said
