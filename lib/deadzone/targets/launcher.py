"""The launcher: a small process that lives inside the limited group and starts the programs to measure.

It is run as a script of its own (`python -I -S launcher.py GO`) and imports nothing of Deadzone. Because it
is born into the control group, so is every program it forks: the limit is in force before the program's
first instruction, and no process is ever moved while the clock runs (a move waits for the kernel's RCU, some
10 ms). Because it is small, the fork is fast and adds little to the program's largest resident size.

Requests arrive as JSON lines on standard input, replies leave on standard output:

    {"argv": [...], "env": {...}, "cwd": ..., "stdout": path, "stderr": path, "groups": [cgroup.procs, ...]}
    -> {"pid": 123}                                        the program waits for one byte from the FIFO `GO`
    -> {"status": 0, "user_s": ..., "sys_s": ..., "max_rss_bytes": ..., "exec_error": null}

When standard input closes, the harness is gone: the launcher kills what it started and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def reply(message: dict[str, Any]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def become(request: dict[str, Any], go: str) -> NoReturn:
    """In the child: wait for the signal to go, then turn into the program."""
    os.setsid()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(request["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    err = os.open(request["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    gate = os.open(go, os.O_RDONLY)
    for source, number in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, number)
    if request["cwd"]:
        os.chdir(request["cwd"])
    environment = {**os.environ, **request["env"]}
    os.read(gate, 1)
    os.execvpe(request["argv"][0], request["argv"], environment)


def start(request: dict[str, Any], go: str) -> tuple[int, int]:
    """Fork a child that waits at the gate; returns its pid and the pipe that tells of a failed exec."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become(request, go)
        except OSError as error:
            os.write(write_end, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(write_end)
    return pid, read_end


def kill_group(files: list[str]) -> None:
    """Kill every process in the control group but this one."""
    for path in files:
        try:
            with open(path) as handle:  # noqa: PTH123 - pathlib would double the start-up time
                pids = [int(line) for line in handle]
        except OSError:
            continue
        for pid in pids:
            if pid not in (0, os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def abandon(pid: int, groups: list[str]) -> NoReturn:
    """The harness is gone: leave nothing running."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    kill_group(groups)
    os._exit(0)


def serve(go: str) -> None:
    buffer = b""
    while True:
        while b"\n" not in buffer:
            piece = os.read(0, 65536)
            if not piece:
                os._exit(0)
            buffer += piece
        line, buffer = buffer.split(b"\n", 1)
        request = json.loads(line)
        pid, failure = start(request, go)
        reply({"pid": pid})
        poll = select.poll()
        exited = os.pidfd_open(pid)
        poll.register(exited, select.POLLIN)
        poll.register(0, select.POLLIN | select.POLLHUP)
        while True:
            ready = dict(poll.poll())
            if exited in ready:
                break
            if 0 in ready:
                abandon(pid, request["groups"])
        _, status, usage = os.wait4(pid, 0)
        os.close(exited)
        failed = os.read(failure, 32)
        os.close(failure)
        reply(
            {
                "status": status,
                "user_s": usage.ru_utime,
                "sys_s": usage.ru_stime,
                "max_rss_bytes": usage.ru_maxrss * 1024,
                "exec_error": int(failed) if failed else None,
            }
        )


if __name__ == "__main__":
    serve(sys.argv[1])
