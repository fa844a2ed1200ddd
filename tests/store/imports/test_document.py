"""Whatever is wrong with a file becomes a sentence: missing, empty, of another kind, damaged
anywhere."""

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
    ("hey", "hey.csv"), ("jmeter", "jmeter.csv"), ("pgbench", "pgbench_rate.txt"),
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


@pytest.mark.parametrize(("tool", "name"), SAMPLES)
def test_a_whole_file_is_read(tool, name):
    assert len(read(tool, sample(name))) >= 1


@pytest.mark.parametrize("tool", FORMATS)
@pytest.mark.parametrize(
    "content",
    [b"", b" \n", b"\xff\xfe\x00\x01", b"{", b"[1, 2]", b"null", b"[" * 100_000, b"a,b\n1,2\n"],
)
def test_other_files_are_refused_by_their_name(tool, content, tmp_path):
    path = tmp_path / "other"
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
def test_a_file_cut_anywhere_is_read_or_refused(tool, name, data, tmp_path):
    content = sample(name).read_bytes()
    path = tmp_path / f"cut-{name}"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    read(tool, path)


@pytest.mark.parametrize(("tool", "name"), SAMPLES)
@quick
@given(data=st.data())
def test_a_file_changed_anywhere_is_read_or_refused(tool, name, data, tmp_path):
    text = sample(name).read_text()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(ODD)) + text[stop:]
    path = tmp_path / f"changed-{name}"
    path.write_text(text)
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


def test_a_missing_file_is_said_with_the_nearest_name():
    with pytest.raises(FormatError, match=r"Did you mean `hey.csv`"):
        imported("hey", FOLDER / "heyy.csv")


def test_a_folder_and_a_damaged_archive_are_refused(tmp_path):
    path = tmp_path / "points.json.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 not really")
    for tool, no_file in (("wrk", FOLDER), ("k6", path)):
        with pytest.raises(FormatError, match="cannot be read"):
            imported(tool, no_file)
