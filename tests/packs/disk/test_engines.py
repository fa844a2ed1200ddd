import contextlib
import itertools
import shutil
import zlib

import pytest

from deadzone.errors import StudyError, WorkloadError
from deadzone_disk.files import DiskFiles
from deadzone_disk.programs import FioEngine
from deadzone_disk.workload import make_engine

MIB = 2**20

ENGINES = ("fio", "builtin")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("operation", ["first_write", "overwrite"])
def test_writes_end_at_the_bytes_that_a_trial_may_write(engine, operation, trial, disk):
    _, outcome, _ = trial(engine=engine, operation=operation, duration_s=30)
    told = outcome.responses
    assert outcome.failure is None
    assert (told["bytes_written"], told["bytes_read"], told["calls"]) == (4 * MIB, 0, 64)
    assert told["throughput_bytes_s"] == pytest.approx(4 * MIB / told["measured_s"], rel=0.01)
    assert told["iops"] == pytest.approx(told["throughput_bytes_s"] / 65536)
    assert told["passes"] == (1 if operation == "first_write" else 0.5)
    assert told["direct_io"] == 1
    assert list(disk.iterdir()) == []


@pytest.mark.alone("it measures latencies of a disk")
@pytest.mark.parametrize("engine", ENGINES)
def test_direct_reads_go_on_until_the_time_is_over_and_tell_their_latencies(engine, trial):
    _, outcome, _ = trial(engine=engine, operation="read", levels={"block_size": 4096})
    told = outcome.responses
    assert 0.25 < told["measured_s"] < 0.6
    assert told["bytes_written"] == 0 and told["bytes_read"] == 4096 * told["calls"]
    steps = ("p50", "p90", "p95", "p99", "p99_9", "max")
    latencies = [told[f"latency_{step}_ms"] for step in steps]
    assert latencies == sorted(latencies) and latencies[0] > 0
    assert told["latency_mean_ms"] * told["calls"] / 1000 <= told["measured_s"] * 1.05
    series = {sample.metric for sample in outcome.samples}
    further = {"latency_p50_ms", "latency_p99_5_ms", "latency_p99_99_ms"}
    assert {"throughput_bytes_s", *further} <= series


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pattern", ["sequential", "random"])
def test_mixed_calls_read_and_write_in_the_share_asked_for(engine, pattern, trial):
    mixed = {"operation": "mixed", "pattern": pattern, "read_share": 0.5, "block_size": 4096}
    levels, bounds = {"queue_depth": 4, "jobs": 2}, {"trial_bytes": 8 * MIB, "duration_s": 20}
    _, outcome, _ = trial(engine=engine, levels=levels, **mixed, **bounds)
    told = outcome.responses
    assert outcome.failure is None
    moved = told["bytes_read"] + told["bytes_written"]
    assert moved == pytest.approx(8 * MIB, rel=0.01)
    assert told["bytes_read"] / moved == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("fsync", "flushes"), [("none", False), ("each", True), ("end", True)])
def test_flushes_are_made_as_asked_and_told_apart_from_writes(engine, fsync, flushes, trial):
    levels = {"fsync": fsync, "block_size": 4096}
    _, outcome, _ = trial(engine=engine, levels=levels, trial_bytes=MIB // 4, duration_s=10)
    told = outcome.responses
    assert outcome.failure is None and told["bytes_written"] == MIB // 4
    if engine == "builtin" or fsync != "end":
        assert ("flush_mean_ms" in told) is flushes


@pytest.mark.parametrize("engine", ENGINES)
def test_reads_through_the_page_cache_begin_with_an_empty_one_and_pass_over_the_file_once(
    engine, trial
):
    _, outcome, _ = trial(engine=engine, operation="read", levels={"direct": "off"}, duration_s=10)
    told = outcome.responses
    assert told["direct_io"] == 0
    assert told["cached_share"] < 0.05
    assert told["passes"] == 1


def test_data_are_incompressible_unless_zeros_are_asked_for(disk):
    files = DiskFiles(disk)
    files.make()
    try:
        shares = {}
        for number, data in enumerate(("random", "zeros")):
            content = files.filled(number, MIB, data).read_bytes()
            shares[data] = len(zlib.compress(content)) / len(content)
        assert shares["random"] > 0.99 and shares["zeros"] < 0.01
    finally:
        files.remove()


def test_the_next_trial_goes_on_where_the_last_one_ended(trials):
    began = []
    sizes = {"file_size": 4 * MIB, "trial_bytes": MIB, "duration_s": 10, "engine": "builtin"}
    made = trials(beforehand=lambda workload: began.append(workload._trial.first_block), **sizes)
    with contextlib.closing(made):
        list(itertools.islice(made, 5))
    assert began == [0, 16, 32, 48, 0]


def test_auto_takes_fio_where_it_is_installed_else_the_built_in_one(monkeypatch, tmp_path):
    assert make_engine("auto").name == ("fio" if shutil.which("fio") else "builtin")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert make_engine("auto").name == "builtin"
    with pytest.raises(WorkloadError, match="apt install fio"):
        FioEngine().version()


def test_fio_keeps_one_call_under_way_through_the_page_cache(trial):
    with pytest.raises(StudyError, match="use builtin for direct: off"):
        trial(engine="fio", direct=False, queue_depth=4)
    _, outcome, facts = trial(engine="auto", direct=False, queue_depth=4, operation="read")
    assert outcome.failure is None and facts["disk_engine"] == "builtin"
