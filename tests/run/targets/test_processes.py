"""Processes as the kernel shows them: descendants, what they and those that ended have used, who
listens."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from deadzone.run.targets.processes import below, listed, listening_on, totals

WORK = "import time\nwhile time.process_time() < 0.2: pass\n"


def started(code):
    process = subprocess.Popen(
        (
            sys.executable,
            "-S",
            "-c",
            f"{code}\nprint('on', flush=True)\nimport sys; sys.stdin.read()",
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "on\n"
    return process


def ended(process):
    process.stdin.close()
    process.wait()


def test_descendants_are_found_and_their_ended_children_counted():
    process = started(
        f"import os\nif os.fork() == 0:\n    exec({WORK!r})\n    os._exit(0)\nos.wait()\n"
    )
    try:
        assert process.pid in below(os.getpid())
        used = totals([process.pid])
        assert 0.15 < used.user_s + used.sys_s < 1
        assert (
            used.threads,
            used.rss_bytes > 1_000_000,
            used.largest_rss_bytes >= used.rss_bytes,
        ) == (1, True, True)
        account = totals([], [process.pid])
        assert (account.user_s, account.threads, account.rss_bytes) == (used.user_s, 0, 0)
    finally:
        ended(process)
    assert totals([process.pid]) == totals([])


def test_written_bytes_are_those_asked_of_a_device(tmp_path):
    process = started(
        f"import os\nwith open({str(tmp_path / 'x')!r}, 'wb') as f: f.write(b'x' * 3_000_000); "
        f"f.flush(); os.fsync(f)"
    )
    try:
        written = totals([process.pid]).written_bytes
    finally:
        ended(process)
    assert written in (0, *range(2_900_000, 3_300_000)), "nothing where the folder is in memory"


def test_threads_in_a_list_are_their_process(tmp_path):
    process = started(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), "
        "daemon=True).start()"
    )
    try:
        tasks = [path.name for path in Path(f"/proc/{process.pid}/task").iterdir()]
        assert len(tasks) == 2
        (tmp_path / "cgroup.threads").write_text("\n".join(tasks))
        assert listed([tmp_path / "cgroup.threads", tmp_path / "gone"]) == (process.pid,)
        assert totals([process.pid]).threads == 2
    finally:
        ended(process)


def test_who_listens_on_a_port_is_found():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listening_on(port) == (os.getpid(),)
    time.sleep(0.01)
    assert listening_on(port) == ()
