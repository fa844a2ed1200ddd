import contextlib
import subprocess
import sys
import time

import pytest
from waiting import wait_for

from deadzone_disk.device import in_memory
from deadzone_services.base import DiskWaits

FLUSHING = """
import os, sys
handle = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
while True:
    os.write(handle, bytes(1 << 16))
    os.fsync(handle)
"""


@contextlib.contextmanager
def watched(*argv):
    """What is seen of a program while it runs."""
    with subprocess.Popen((sys.executable, "-c", *argv)) as program:
        waits = DiskWaits(lambda: (program.pid,))
        waits.start()
        try:
            yield waits
        finally:
            waits.stop()
            program.kill()


@pytest.mark.alone("it measures the share of time that a program waits for the disk")
def test_a_program_that_flushes_all_the_time_waits_for_the_disk(tmp_path):
    if in_memory(tmp_path):
        pytest.skip("the folder for temporary files lies in memory, where nothing waits for a disk")
    with watched(FLUSHING, str(tmp_path / "file")) as waits:
        wait_for(lambda: (waits.waited_s or 0) > 0.1, "it waited for no disk", patience_s=4.5)


@pytest.mark.alone("it measures the share of time that a program waits for the disk")
@pytest.mark.parametrize(
    ("program", "most_s"),
    [("import time; time.sleep(9)", 0.05), ("while True: pass", 0.05),
     ("import subprocess\nwhile True: subprocess.run(('/bin/true',))", 0.1)],
    ids=["sleeps", "computes", "starts others"],
)  # fmt: skip
def test_a_program_that_does_something_else_all_the_time_does_not(program, most_s):
    with watched(program) as waits:
        time.sleep(1)
    assert waits.waited_s < most_s


def test_without_a_process_nothing_is_known():
    waits = DiskWaits(lambda: ())
    waits.start()
    time.sleep(0.1)
    waits.stop()
    assert waits.waited_s is None
