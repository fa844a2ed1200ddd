import os
from pathlib import Path

import pytest

from deadzone.errors import TargetError
from deadzone.measurement import Command
from deadzone.run.sweep.kinds import make_target
from deadzone.run.targets.limits.io import IoLimit, IoLimiter, io_limit, throttled_device
from deadzone.run.targets.local import LocalTarget
from deadzone.study.design import Limits, Treatment
from deadzone.study.plan import PlannedTarget
from deadzone.study.target_specs import LocalTargetSpec

MIB = 2**20

WRITER = """
import mmap, os, sys, time
path, size, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
memory = mmap.mmap(-1, size)
began = time.monotonic()
for i in range(count):
    os.pwritev(fd, [memory], i * size)
print(time.monotonic() - began)
"""


@pytest.fixture
def limited(tmp_path):
    """Run the writer under an I/O limit; returns its time [s]."""

    def run(size, count, **levels):
        limits = (levels.get(name, "none") for name in ("io_bandwidth_limit", "iops_limit"))
        limiter = IoLimiter(tmp_path, (io_limit(*limits),))
        argv = ("python3", "-I", "-S", "-c", WRITER, str(tmp_path / "file"), str(size), str(count))
        try:
            with LocalTarget(LocalTargetSpec(), io=limiter) as target:
                target.prepare(Treatment(levels))
                measured = target.execute(Command(argv), 30)
                facts = target.facts()
        except TargetError as error:
            pytest.skip(f"I/O cannot be limited on this machine ({error})")
        assert measured.status == "ok" and measured.exit_code == 0, measured.stderr
        return float(measured.stdout), facts

    return run


@pytest.mark.alone("it measures bytes and calls a second under a limit")
@pytest.mark.parametrize(
    ("size", "count", "limit"),
    [(MIB, 5, {"io_bandwidth_limit": 10_000_000}), (4096, 50, {"iops_limit": 100})],
)
def test_bytes_and_calls_a_second_are_limited(size, count, limit, limited):
    took, facts = limited(size, count, **limit)
    assert 0.3 < took < 1.5
    assert facts["io_limits_mechanism"] in ("blkio.throttle", "io.max")


def test_nothing_is_left_of_a_limit(limited, traces):
    limited(4096, 1, iops_limit=1000)
    assert traces(os.getpid()) == []


def test_a_limiter_without_a_disk_says_so():
    memory = Path("/dev/shm")
    with pytest.raises(TargetError, match="no block device is seen below its file system"):
        IoLimiter(memory, [IoLimit(1)]).open("deadzone-test", os.getpid(), ())


def test_a_study_without_io_limits_makes_no_limiter():
    with make_target(PlannedTarget(LocalTargetSpec(mechanism="unlimited"), (Limits(),))) as target:
        assert "io_limits_mechanism" not in target.facts()


def test_a_partition_is_limited_by_its_disk(tmp_path):
    try:
        device = throttled_device(tmp_path / "not" / "there" / "yet")
    except TargetError as error:
        pytest.skip(str(error))
    assert not (Path("/sys/dev/block") / device / "partition").exists()


def test_none_is_no_limit():
    assert io_limit("none", "none") == IoLimit()
    assert io_limit(1e6, "none") == IoLimit(1_000_000, None)
