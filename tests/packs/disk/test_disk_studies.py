import contextlib
import os
import signal
from pathlib import Path
from threading import Thread

import pytest
from needs import needs
from waiting import wait_for

from deadzone.analysis.phases.fit import fit_phases
from deadzone.errors import TargetError
from deadzone.run.targets.limits.io import IO_LIMITS, IoLimiter, io_limit
from deadzone.run.targets.local import LocalTarget
from deadzone.study.target_specs import LocalTargetSpec

BANDWIDTH, CALLS = 20_000_000, 400
"""The limits give way to each other at 50,000 bytes."""


@pytest.fixture
def disk_study(write_study, disk):
    def write(workload=None, **keys):
        own = {"kind": "disk", "folder": str(disk), "engine": "builtin", "file_size": "16MiB"}
        document = {
            "factors": {"block_size": ["4KiB", "64KiB"]},
            "response": {"name": "throughput_bytes_s", "unit": "bytes/s", "goal": "max"},
            "workload": {**own, "duration_s": 0.4, "max_written_bytes": "1GiB", **(workload or {})},
        }
        return write_study("blocks", **{**document, **keys})

    return write


@pytest.fixture
def io_limits(disk):
    """Skips where I/O cannot be limited."""
    limiter = IoLimiter(disk, [io_limit(BANDWIDTH, CALLS)])
    try:
        with LocalTarget(LocalTargetSpec(), io=limiter):
            pass
    except TargetError as error:
        pytest.skip(f"I/O cannot be limited on this machine ({error})")


@pytest.mark.night
@pytest.mark.alone("it measures bytes a second under a limit")
def test_the_curve_bends_where_the_limit_of_calls_gives_way_to_that_of_bytes(
    disk_study, sweep, io_limits
):
    sizes = [1024 * kib for kib in (8, 16, 24, 32, 48, 64, 96, 128, 256)]
    target = {"kind": "local", "io_bandwidth_limit": BANDWIDTH, "iops_limit": CALLS}
    study = disk_study(target=target, factors={"block_size": sizes})
    trials = sweep(study).trials()
    model = fit_phases(trials, "block_size", "throughput_bytes_s", goal="max")
    assert [phase.label for phase in model.phases.itertuples()] == ["linear", "plateau"]
    assert model.phases["start"].iloc[-1] in (32768, 49152, 65536)
    below = trials[trials["block_size"] < 40_000]
    assert below["iops"].median() == pytest.approx(CALLS, rel=0.2)
    above = trials[trials["block_size"] > 60_000]
    assert above["throughput_bytes_s"].median() == pytest.approx(BANDWIDTH, rel=0.2)


@pytest.mark.alone("it measures bytes a second under a limit")
def test_a_limit_can_be_a_factor(disk_study, sweep, io_limits):
    study = disk_study(
        factors={"block_size": ["64KiB"], "io_bandwidth_limit": [4_000_000, 8_000_000, "none"]},
        design={"replicates": 1},
        workload={"operation": "read"},
    )
    rates = sweep(study).trials().set_index("io_bandwidth_limit")["throughput_bytes_s"]
    assert rates["4000000"] == pytest.approx(4e6, rel=0.2)
    assert rates["8000000"] == pytest.approx(8e6, rel=0.2)
    assert rates["none"] > 2 * rates["8000000"]


def test_io_limits_of_a_service_are_in_force(disk, write_study, sweep, io_limits):
    study = write_study(
        service={"argv": ["{python}", "-m", "http.server", "{port}", "-b", "127.0.0.1"]},
        target={"kind": "local", "io_folder": str(disk)},
        workload={"kind": "http", "url": "{service_url}/"},
        factors={"iops_limit": [100, "none"]},
        replicates=1,
        response={"name": "total_s"},
    )
    run = sweep(study)
    assert run.trials()["status"].eq("ok").all()
    assert next(iter(run.provenance()["environments"].values()))["io_limits_mechanism"]


def test_io_limits_of_another_workload_need_a_folder(write_study, deadzone):
    study = write_study(target={"kind": "local", "iops_limit": 100})
    said = deadzone("sweep", study, "--dry-run", code=2)
    assert "target.io_folder is missing" in said.err


@pytest.mark.parametrize("level", [0, "fast", -1])
def test_a_limit_that_is_none_is_refused(level, disk_study, deadzone):
    study = disk_study(factors={"block_size": [4096], IO_LIMITS[0]: [level]})
    said = deadzone("sweep", study, "--dry-run", code=2)
    assert "an I/O limit is a number of bytes a second" in said.err


def test_what_will_be_written_is_said_before_anything_is(disk_study, deadzone, disk):
    study = disk_study(workload={"max_written_bytes": "64 MiB"})
    said = deadzone("sweep", study, "--dry-run")
    assert f"writes at most 64 MiB to {disk}, 4 MiB a trial that writes (bound: 64 MiB)" in said.out
    assert list(disk.iterdir()) == []
    said = deadzone("sweep", study, code=0)
    assert "writes at most 64 MiB" in said.err
    assert list(disk.iterdir()) == []


@pytest.mark.alone("it measures bytes a second under a limit")
def test_no_trial_is_distrusted_for_waiting_for_its_own_disk(disk_study, sweep):
    trust = {"max_foreign_cpu": 999, "max_steal": 999, "max_clock_drift": 999}
    run = sweep(disk_study(trust=trust, design={"replicates": 1}))
    reasons = run.trials()["distrust_reason"].dropna()
    assert not reasons.str.contains("stalled on I/O").any()


def test_percentiles_and_throughput_over_time_are_kept_with_the_run(disk_study, sweep):
    factors, design = {"block_size": ["4KiB"]}, {"replicates": 1}
    run = sweep(disk_study({"operation": "read"}, factors=factors, design=design))
    metrics = set(run.telemetry()["metric"])
    assert {"throughput_bytes_s", "latency_p99_9_ms", "latency_p1_ms"} <= metrics


def files_in(disk):
    return [path for path in disk.rglob("*") if path.is_file()]


@pytest.fixture
def long_sweep(disk_study, start, disk):
    """A sweep in the middle of a trial that would take a minute."""
    workload = {"operation": "read", "duration_s": 60}
    study = disk_study(workload=workload, design={"replicates": 1, "timeout_s": 90})
    begun = start("sweep", study)
    begun.wait_for(lambda: files_in(disk), "its files")
    begun.wait_for(begun.launcher, "its launcher")
    return begun


def test_ctrl_c_removes_the_files(long_sweep, disk, traces):
    os.kill(long_sweep.pid, signal.SIGINT)
    err = long_sweep.end_with(130)
    assert "Traceback" not in err
    assert list(disk.iterdir()) == [] and traces(long_sweep.pid) == []


def test_files_of_a_killed_sweep_are_removed_by_restore(long_sweep, disk, deadzone):
    os.killpg(long_sweep.pid, signal.SIGKILL)
    long_sweep.process.wait()
    assert files_in(disk)
    (left,) = disk.iterdir()
    said = deadzone("restore", "--json", code=0)
    assert str(left) in said.out
    assert list(disk.iterdir()) == []


def test_a_limiter_that_was_never_opened_closes_quietly(disk):
    IoLimiter(disk).close()


def test_a_fio_that_is_killed_fails_its_trial_and_leaves_no_file(disk_study, disk, sweep):
    needs("fio")
    study = disk_study(
        factors={"block_size": ["4KiB"]},
        workload={"engine": "fio", "operation": "read", "duration_s": 30},
        design={"replicates": 1},
        trust={"max_attempts": 1},
    )
    killing = Thread(target=kill_fio_under, args=(disk,))
    killing.start()
    (record,) = sweep(study).records()
    killing.join()
    assert record["status"] == "failed"
    assert "killed by SIGKILL" in record["error"]
    assert list(disk.iterdir()) == []


def kill_fio_under(folder):
    for pid in wait_for(lambda: fio_under(folder), "no fio runs"):
        with contextlib.suppress(ProcessLookupError):  # the others end with the first of them
            os.kill(pid, signal.SIGKILL)


def fio_under(folder):
    """Processes of fio that measure files in a folder, once their time runs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            if words[0] == "fio" and str(folder) in " ".join(words):
                found.append(int(path.parent.name))
    return found if len(found) > 1 else []
