import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from deadzone.run.targets.processes import below, listed, listening, totals

WORK = "import time\nwhile time.process_time() < 0.2: pass\n"


@contextlib.contextmanager
def started(code):
    """A process that has run some code, and lives until it is left."""
    whole = f"{code}\nprint('on', flush=True)\nimport sys; sys.stdin.read()"
    argv = (sys.executable, "-S", "-c", whole)
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "on\n"
        yield process


def test_descendants_are_found_and_their_ended_children_counted():
    forks = f"import os\nif os.fork() == 0:\n    exec({WORK!r})\n    os._exit(0)\nos.wait()\n"
    with started(forks) as process:
        assert process.pid in below(os.getpid())
        used = totals([process.pid])
        assert 0.15 < used.user_s + used.sys_s < 1
        assert used.threads == 1
        assert 1_000_000 < used.rss_bytes <= used.largest_rss_bytes
        account = totals([], [process.pid])
        assert (account.user_s, account.threads, account.rss_bytes) == (used.user_s, 0, 0)
    assert totals([process.pid]) == totals([])


def test_written_bytes_are_those_asked_of_a_device(tmp_path):
    writes = (
        f"with open({str(tmp_path / 'x')!r}, 'wb') as f: f.write(b'x' * 3_000_000); f.flush(); "
    )
    with started(f"import os\n{writes}os.fsync(f)") as process:
        written = totals([process.pid]).written_bytes
    assert written in (0, *range(2_900_000, 3_300_000)), "nothing where the folder is in memory"


def test_threads_in_a_list_are_their_process(tmp_path):
    thread = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    with started(f"import threading, time\n{thread}") as process:
        tasks = [path.name for path in Path(f"/proc/{process.pid}/task").iterdir()]
        assert len(tasks) == 2
        (tmp_path / "cgroup.threads").write_text("\n".join(tasks))
        assert listed([tmp_path / "cgroup.threads", tmp_path / "gone"]) == (process.pid,)
        assert totals([process.pid]).threads == 2


def test_who_listens_on_a_port_is_found():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listening()[port] == (os.getpid(),)
    time.sleep(0.01)
    assert port not in listening()
