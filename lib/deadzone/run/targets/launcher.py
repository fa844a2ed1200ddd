"""The launcher: a small process that lives inside the limited group and starts the programs to
measure.

It is run as a script of its own (`python -I -S launcher.py GO`) and imports nothing of Deadzone.
Because it is born into the control group, so is every program it forks: the limit is in force
before the program's first instruction, and no process is ever moved while the clock runs (a move
waits for the kernel's RCU, some 10 ms). Because it is small, the fork is fast and adds little to
the program's largest resident size.

Requests arrive as JSON lines on standard input, replies leave on standard output:

    {"argv": [...], "env": {...}, "cwd": ..., "stdin": path or null, "stdout": path, "stderr": path,
     "dies_first": false}
    -> {"pid": 123}                                        the program waits for one byte from the
    FIFO `GO` -> {"status": 0, "user_s": ..., "sys_s": ..., "max_rss_bytes": ..., "exec_error":
    null, "counted": {...}}

It is the reaper of its descendants (prctl(2), PR_SET_CHILD_SUBREAPER): a process that lost its
parent becomes its child, whatever session it fled to. So when the program has ended, all that it
left running is found, killed and accounted for, with a control group or without.

When standard input closes, the harness is gone: the launcher kills what it started and ends. Where
both are killed, the program that was started ends with its launcher, and one that waits to start
never does.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def reply(message: dict[str, Any]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def become(request: dict[str, Any], go: str) -> NoReturn:
    """In the child: get ready, wait for the signal to go, then turn into the program.

    What cannot be got ready is raised after the signal too, so that no trial leaves a signal for
    the next one.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.setsid()
    if request["dies_first"]:
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as handle:  # noqa: PTH123
            handle.write("1000")
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    gate = os.open(go, os.O_RDONLY | os.O_NONBLOCK)  # the harness has the other end, or is gone
    os.set_blocking(gate, True)
    try:
        arrange(request)
    finally:
        if not os.read(gate, 1):
            # the harness is gone, and the launcher may be: nothing else would end the program
            os._exit(127)
    os.execvpe(request["argv"][0], request["argv"], {**os.environ, **request["env"]})


def arrange(request: dict[str, Any]) -> None:
    """Put the program's streams and working folder in place."""
    append = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND  # both may be one file
    streams = (
        (request["stdin"] or os.devnull, os.O_RDONLY),
        (request["stdout"], append),
        (request["stderr"], append),
    )
    for number, (path, flags) in enumerate(streams):
        os.dup2(os.open(path, flags, 0o600), number)
    if request["cwd"]:
        os.chdir(request["cwd"])


def start(request: dict[str, Any], go: str) -> tuple[int, int]:
    """Fork a child that waits at the gate; returns its pid and the pipe that tells of a failed
    exec."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become(request, go)
        except OSError as error:
            os.write(write_end, str(error.errno).encode())
        except ValueError:
            os.write(write_end, str(errno.EINVAL).encode())
        finally:
            os._exit(127)
    os.close(write_end)
    return pid, read_end


COUNTED = {
    "voluntary_switches": "ru_nvcsw", "involuntary_switches": "ru_nivcsw",
    "minor_faults": "ru_minflt", "major_faults": "ru_majflt",
}  # fmt: skip
"""What wait4(2) counts of a process, by column."""


class ProcessAccount:
    """CPU time, largest resident size and counters of the processes reaped so far; no process
    counts twice."""

    def __init__(self) -> None:
        self.user_s = self.sys_s = 0.0
        self.max_rss_bytes = 0
        self.counted = dict.fromkeys(COUNTED, 0)

    def reap(self, pid: int, options: int = 0) -> tuple[int, int]:
        """Wait for a process and add up what it and the descendants it waited for used."""
        reaped, status, usage = os.wait4(pid, options)
        if reaped:
            self.user_s += usage.ru_utime
            self.sys_s += usage.ru_stime
            self.max_rss_bytes = max(self.max_rss_bytes, usage.ru_maxrss * 1024)
            for name, field in COUNTED.items():
                self.counted[name] += getattr(usage, field)
        return reaped, status


def kill_children() -> int:
    """Kill every child; returns how many there were."""
    own, killed = str(os.getpid()).encode(), 0
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib would double the start-up time
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as handle:  # noqa: PTH123
                state, parent = handle.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        if parent == own and state not in b"ZX":
            with contextlib.suppress(OSError):
                os.kill(int(entry), signal.SIGKILL)
                killed += 1
    return killed


def reap_orphans(account: ProcessAccount) -> int:
    """Kill and account for all descendants that are left; returns how many had to be killed.

    A killed process hands its children to this one, so they are gone when there is no child any
    more.
    """
    killed = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            if not account.reap(-1, os.WNOHANG)[0]:
                killed += kill_children()
                account.reap(-1)
    return killed


def bytes_moved(pid: int) -> dict[str, int]:
    """Bytes that the calls of an ended, unreaped process and of what it waited for read and wrote,
    cached or not."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/io") as handle:  # noqa: PTH123
        counted = dict(line.split(": ") for line in handle.read().splitlines())
        return {"io_read_bytes": int(counted["rchar"]), "io_written_bytes": int(counted["wchar"])}
    return {}


def wait_for(pid: int) -> bool:
    """Wait until the child has ended, unreaped; False if the harness ended first."""
    exited = os.pidfd_open(pid)
    ready, _, _ = select.select([0, exited], [], [])
    os.close(exited)
    return 0 not in ready


def execute(request: dict[str, Any], go: str) -> None:
    pid, failure = start(request, go)
    reply({"pid": pid})
    account = ProcessAccount()
    if not wait_for(pid):
        kill_children()
        reap_orphans(account)
        os._exit(0)
    moved = bytes_moved(pid)
    _, status = account.reap(pid)
    orphans = reap_orphans(account)
    failed = os.read(failure, 32)
    os.close(failure)
    reply(
        {
            "status": status,
            "user_s": account.user_s,
            "sys_s": account.sys_s,
            "max_rss_bytes": account.max_rss_bytes,
            "exec_error": int(failed) if failed else None,
            "counted": {"left_running": orphans, **account.counted, **moved},
        }
    )


def serve(go: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for line in sys.stdin.buffer:
        execute(json.loads(line), go)


if __name__ == "__main__":
    serve(sys.argv[1])
