"""Waits for the disk, seen from outside: of a program that flushes all the time, and of one that
sleeps."""

import subprocess
import sys
import time

import pytest

from deadzone_services.base import DiskWaits

FLUSHING = """
import os, sys
handle = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
while True:
    os.write(handle, bytes(1 << 16))
    os.fsync(handle)
"""


def watched(*argv, seconds=0.8):
    with subprocess.Popen((sys.executable, "-c", *argv)) as program:
        try:
            waits = DiskWaits(lambda: (program.pid,))
            waits.start()
            time.sleep(seconds)
            waits.stop()
            return waits.waited_s
        finally:
            program.kill()


@pytest.mark.alone("it measures the share of time that a program waits for the disk")
def test_a_program_that_flushes_all_the_time_waits_for_the_disk(tmp_path):
    if _is_memory(tmp_path):
        pytest.skip("the folder for temporary files lies in memory, where nothing waits for a disk")
    assert watched(FLUSHING, str(tmp_path / "file"), seconds=4.5) > 0.1


@pytest.mark.alone("it measures the share of time that a program waits for the disk")
def test_a_program_that_sleeps_computes_or_starts_others_all_the_time_does_not():
    assert watched("import time; time.sleep(9)") < 0.05
    assert watched("while True: pass") < 0.05
    starting = "import subprocess\nwhile True: subprocess.run(('/bin/true',))"
    assert watched(starting, seconds=2) < 0.2


def test_without_a_process_nothing_is_known():
    waits = DiskWaits(lambda: ())
    waits.start()
    time.sleep(0.1)
    waits.stop()
    assert waits.waited_s is None


def _is_memory(folder):
    kind = subprocess.run(
        ("stat", "-f", "-c", "%T", str(folder)), capture_output=True, text=True, check=True
    )
    return kind.stdout.strip() in ("tmpfs", "ramfs")
