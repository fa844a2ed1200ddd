import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torture.mutations import changed, places

from deadzone.errors import DeadzoneError, FormatError
from deadzone.store.imports.registry import FORMATS
from store.imports.samples import FOLDER, imported, sample, written

SAMPLES = [
    ("hyperfine", "hyperfine.json"), ("fio", "fio_randrw_4k.json"),
    ("k6", "k6_summary_export.json"), ("locust", "locust_stats.csv"),
    ("locust", "locust_json.json"), ("oha", "oha_q200.json"), ("wrk", "wrk_latency.txt"),
    ("hey", "hey.csv"), ("hey", "hey.txt"), ("jmeter", "jmeter.csv"),
    ("pgbench", "pgbench_rate.txt"),
    ("sysbench", "sysbench_cpu.txt"), ("redis-benchmark", "redis_benchmark.txt"),
    ("redis-benchmark", "redis_benchmark.csv"), ("go-bench", "go_bench.txt"),
    ("pytest-benchmark", "pytest_benchmark.json"), ("pyperf", "pyperf.json"),
    ("google-benchmark", "google_benchmark.json"), ("criterion", "criterion.txt"),
    ("jmh", "jmh.json"), ("vegeta", "vegeta.json"), ("perf-stat", "perf_stat.ndjson"),
    ("gnu-time", "gnu_time.txt"), ("llama-bench", "llama_bench.json"), ("iperf3", "iperf3.json"),
    ("vllm-bench", "vllm_bench.json"), ("gatling", "gatling.json"), ("ycsb", "ycsb.txt"),
]  # fmt: skip

ODD = ["", "null", "{}", "[]", "-1", "1e999", "NaN", '"x"', "9" * 400]
ODD += ["\x00", "é", "true", ",", "\n", "}", '"']

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(tool, path):
    """Reads a file and makes the table, so that damage that only shows there counts too."""
    try:
        return imported(tool, path)
    except DeadzoneError as error:
        assert str(path) in str(error)
        return None


OTHERS = [b"", b" \n", b"\xff\xfe\x00\x01", b"{", b"[1, 2]", b"null", b"[" * 100_000, b"a,b\n1,2\n"]


@pytest.mark.parametrize("tool", FORMATS)
def test_other_files_are_refused_by_their_name(tool, tmp_path):
    path = tmp_path / "other"
    for content in OTHERS:
        path.write_bytes(content)
        with pytest.raises(FormatError, match="other"):
            imported(tool, path)


@pytest.mark.parametrize("tool", FORMATS)
def test_files_of_other_tools_are_refused(tool):
    own = {name for owner, name in SAMPLES if owner == tool}
    for _, name in SAMPLES:
        if name not in own:
            with pytest.raises(FormatError):
                imported(tool, sample(name))


@pytest.mark.parametrize(("tool", "name"), SAMPLES)
@quick
@given(data=st.data())
def test_a_file_changed_and_cut_anywhere_is_read_or_refused(tool, name, data, tmp_path):
    text = sample(name).read_bytes().decode()
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(ODD)) + text[stop:]
    content = text.encode()
    path = tmp_path / f"changed-{name}"
    path.write_bytes(content[: data.draw(st.none() | st.integers(0, len(content)))])
    read(tool, path)


@pytest.mark.parametrize(("tool", "name"), [s for s in SAMPLES if s[1].endswith(".json")])
@quick
@given(data=st.data())
def test_any_value_of_a_document_may_be_of_another_kind(tool, name, data, tmp_path):
    document = json.loads(sample(name).read_text())
    place = data.draw(st.sampled_from(list(places(document))))
    strange = [None, True, -1, 0, 1e308, 10**400, "x", "", [], {}, [1], {"a": 1}]
    odd = changed(document, place, data.draw(st.sampled_from(strange)))
    read(tool, written(tmp_path, json.dumps(odd), name))


WRK, PGBENCH = sample("wrk_latency.txt").read_text(), sample("pgbench_select.txt").read_text()
HEY, LOCUST = sample("hey.csv").read_text(), sample("locust_stats.csv").read_text()
JMETER = sample("jmeter.csv").read_text()

REFUSED = [
    ("jmh", "Benchmark  Mode  Cnt  Score\nA  thrpt  5  1.2\n", "written with -rf json"),
    ("oha", "Summary:\n  Success rate: 100.00%\n", "written with --output-format json"),
    ("pytest-benchmark", "---- benchmark: 2 tests ----\n", "written with --benchmark-json"),
    ("google-benchmark", "Benchmark  Time  CPU\n", "written with --benchmark_out=FILE"),
    ("fio", "fio-3.33\nStarting 1 process\n", "written with --output-format=json"),
    ("locust", "Type  Name  # reqs\n", "written with --csv PREFIX"),
    ("locust", LOCUST.replace("\n", "\rx\n", 1), "is no CSV of"),
    ("locust", f"{LOCUST}a\rb,1\n", "is no CSV of"),
    ("criterion", '{"mean": {"point_estimate": 1.5}}', "write it with `cargo bench"),
    (
        "hyperfine",
        "| Command | Mean |\n|---|--:|\n| `a` | 1 |\n",
        "written with --export-json FILE",
    ),
    ("hey", HEY * 2, "repeats the header: the file holds several results"),
    ("hey", HEY.splitlines()[0] + "\n", "no request got an answer"),
    ("hey", HEY.splitlines()[0] + "\n0.1,0\n", "no request"),
    ("jmeter", '<?xml version="1.0"?>\n<testResults version="1.2">', "output_format is xml"),
    ("jmeter", JMETER.splitlines()[0] + "\n", "a header and no sample"),
    ("perf-stat", "hello\n", "write it with `perf stat -j"),
    ("perf-stat", "#           time             counts unit events\n", "without -I"),
    ("perf-stat", '{"counter-value" : "938', "was it cut off"),
    (
        "perf-stat",
        " Performance counter stats for 'a':\n\nCPU0 1,2 cycles\nCPU1 9 cycles\n",
        "write it without -A",
    ),
    ("perf-stat", '{"cpu" : "0", "counter-value" : "9.0", "event" : "cycles"}\n', "without -A"),
    ("perf-stat", "S0-D0-C0,2,9,,cycles,1,100.00,,\n", "write it without -A"),
    ("pgbench", PGBENCH.split("tps")[0], "no complete result of pgbench: it has no achieved_rate"),
    ("wrk", WRK[:200], "was cut off"),
    ("wrk", "hello", "write it with `wrk --latency"),
    ("wrk", WRK.replace("20.03s", "20.03x"), "known where a time stands"),
]


@pytest.mark.parametrize(
    ("tool", "text", "words"), REFUSED, ids=[f"{tool}: {words}" for tool, _, words in REFUSED]
)
def test_what_is_refused_is_told_how_it_is_written(tmp_path, tool, text, words):
    with pytest.raises(FormatError, match=words):
        imported(tool, written(tmp_path, text))


def test_a_missing_file_is_said_with_the_nearest_name():
    with pytest.raises(FormatError, match=r"Did you mean `hey.csv`"):
        imported("hey", FOLDER / "heyy.csv")


def test_a_folder_and_a_damaged_archive_are_refused(tmp_path):
    path = tmp_path / "points.json.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 not really")
    for tool, no_file in (("wrk", FOLDER), ("k6", path)):
        with pytest.raises(FormatError, match="cannot be read"):
            imported(tool, no_file)
