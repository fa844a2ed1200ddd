import pytest
from store.imports.samples import changed, imported, sample, written

from deadzone.errors import FormatError
from deadzone.store.imports.registry import reader_of

WRITTEN = "fio_seqw_direct_4k.json"

UNITS = {
    "block_size": 4096, "size_bytes": 2**27, "iodepth": 4, "wall_s": 1.657,
    "latency_p50_ms": 0.086528, "latency_p99_ms": 2.932736, "latency_max_ms": 24.005466,
    "throughput_bytes_s": 81000439.0, "iops": 19775.497888, "transferred_bytes": 2**27,
    "tool": "fio-3.33", "operation": "write", "status": "ok", "direct": True,
}  # fmt: skip
"""fio: bs=4k, 1657 ms, 86528 ns, 81000439 B/s."""


def test_units_are_ours():
    row = imported("fio", sample(WRITTEN)).iloc[0]
    assert {name: row[name] for name in UNITS} == UNITS
    assert row["sys_s"] == pytest.approx(0.33031401 * 1.656)


def test_a_mixed_job_is_a_row_a_direction():
    table = imported("fio", sample("fio_randrw_4k.json"))
    assert table["operation"].tolist() == ["read", "write"]
    assert table["iops"].tolist() == [40630.873825, 17460.507898]
    assert "user_s" not in table, "the job's CPU time belongs to both directions"


def test_latencies_of_completion_are_said_to_be_where_an_engine_submits_apart(tmp_path):
    """A synchronous engine has no submission: fio prints slat as 0."""

    def synchronous(document):
        document["jobs"][0]["write"]["slat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "N": 0}

    assert "clat" in imported("fio", sample(WRITTEN))["note"][0]
    table = imported("fio", changed(tmp_path, WRITTEN, synchronous))
    assert "note" not in table


@pytest.mark.parametrize(
    ("option", "read", "write"),
    [("8k,16k", 8192, 16384), ("1M", 2**20, 2**20), ("4kib", 4096, 4096), ("512", 512, 512)],
)  # fmt: skip
def test_block_sizes_as_fio_writes_them(tmp_path, option, read, write):
    path = changed(
        tmp_path, "fio_randrw_4k.json", lambda d: d["jobs"][0]["job options"].update(bs=option)
    )
    assert imported("fio", path)["block_size"].tolist() == [read, write]


def test_options_of_the_global_section_count_too(tmp_path):
    def share(document):
        document["global options"] = {"bs": "1m", "iodepth": "32"}
        del document["jobs"][0]["job options"]["iodepth"]

    row = imported("fio", changed(tmp_path, WRITTEN, share)).iloc[0]
    assert (row["block_size"], row["iodepth"]) == (4096, 32)


def test_a_job_that_failed_is_a_failed_trial(tmp_path):
    path = changed(tmp_path, WRITTEN, lambda d: d["jobs"][0].update(error=28))
    row = imported("fio", path).iloc[0]
    assert (row["status"], row["error"]) == ("failed", "fio error 28")


def test_warnings_that_fio_prints_before_its_document_are_skipped(tmp_path):
    text = "fio: posix_fallocate fails: Not supported\n" + sample(WRITTEN).read_text()
    assert len(imported("fio", written(tmp_path, text, "f.json"))) == 1


@pytest.mark.parametrize(
    ("told", "said"),
    [({"clat_ns": None, "lat_ns": None}, "fio 3"), ({"total_ios": 0}, "read or wrote")],
    ids=["no nanoseconds", "idle"],
)
def test_a_job_without_latencies_is_refused(tmp_path, told, said):
    path = changed(tmp_path, WRITTEN, lambda d: d["jobs"][0]["write"].update(told))
    with pytest.raises(FormatError, match=said):
        imported("fio", path)


JOB = (
    '{"fio version": "fio-3.1", "jobs": [{"jobname": "j", "error": 0,\n "read": {"io_bytes": '
    '1474560, "bw_bytes": 10884, "iops": 2.6, "runtime": 135476, "total_ios": 360,\n  "clat_ns": '
    '{"min": 127883264, "max": 1855871182, "mean": 376086538.9}}}]}\n'
)


def read(tmp_path, text):
    return reader_of("fio")(written(tmp_path, text, "fio.json"))


def test_several_documents_are_read_and_the_last_of_a_job_is_final(tmp_path):
    results = read(tmp_path, JOB + JOB + JOB.replace('"j"', '"k"'))
    final = [(row["job"], row["final"]) for row in results.rows]
    assert final == [("j", False), ("j", True), ("k", True)]
    assert "holds 3 documents (--status-interval?)" in results.remarks[0]


def test_a_document_that_was_cut_off_is_failed_and_said(tmp_path):
    results = read(tmp_path, JOB + JOB[:150] + "\n" + JOB.replace('"j"', '"k"'))
    assert [row.get("status") for row in results.rows] == ["ok", "failed", "ok"]
    assert results.remarks[0] == "3 runs, 1 incomplete, at line 4."


def test_an_error_beside_the_document_makes_it_failed(tmp_path):
    error = "fio: pid=4896, err=5/file:ioengines.c:351, func=td_io_queue, error=Input/output error"
    for text in (f"{error}\n{JOB}", f"{JOB}{error}\n"):
        results = read(tmp_path, text)
        assert results.rows[0]["status"] == "failed" and results.rows[0]["error"] == error
        assert results.remarks == (f"Next to the JSON, the file has: {error}",)
    assert read(tmp_path, f"note: both iodepth >= 1\n{JOB}").rows[0]["status"] == "ok"


def test_an_older_fio_is_refused_by_its_version(tmp_path):
    old = JOB.replace("fio-3.1", "fio-2.1.11").replace('"total_ios": 360,\n', "")
    with pytest.raises(FormatError, match=r"fio-2\.1\.11 wrote this\. Results of fio 3 and later"):
        read(tmp_path, old)


def test_percentiles_at_the_top_of_the_histogram_are_said(tmp_path):
    capped = JOB.replace("1855871182", "38591900000")
    assert "top of fio's histogram (17.1 s)" in read(tmp_path, capped).remarks[0]
    assert not read(tmp_path, JOB).remarks
