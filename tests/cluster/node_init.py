"""The first process of the node's namespaces: starts the programs in order, starts a dead one
again, reaps orphans.

It runs as process 1 of a process namespace of its own, so that killing it kills the whole node,
containers and all, and in a mount namespace of its own, so that nothing the node mounts outlives
it.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

READY_TIMEOUT_S = 180.0
"""A program that does not serve by then never will; a busy machine takes a minute [s]."""

RESTART_AFTER_S = 0.5

HIDDEN = ("/run", "/var/lib", "/var/log", "/etc/cni")
"""Where container programs keep state at fixed paths: the node gets empty folders there."""

Process = subprocess.Popen[bytes]


def main(folder: Path) -> None:
    """Run the node until this process is killed."""
    _mount()
    services = json.loads((folder / "configuration" / "services.json").read_text())
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    while not (folder / "joined").exists():
        time.sleep(0.02)
    running: dict[int, dict[str, Any]] = {}
    for service in services:
        running[_start(service, logs)] = service
        _wait_until_ready(service)
    while True:
        pid, _ = os.wait()  # also the orphans that containers leave to process 1
        if service := running.pop(pid, None):
            time.sleep(RESTART_AFTER_S)
            running[_start(service, logs)] = service


def _mount() -> None:
    """Give the node a /proc of its own processes, and hide the machine's own container programs
    from it."""
    _run("mount", "--make-rshared", "/")
    _run("mount", "-t", "proc", "proc", "/proc")
    for path in HIDDEN:
        if Path(path).is_dir():
            _run("mount", "-t", "tmpfs", "-o", "mode=0755", "node", path)
    Path("/run/lock").mkdir()


def _start(service: dict[str, Any], logs: Path) -> int:
    with (logs / service["name"]).open("ab") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        return subprocess.Popen(service["argv"], start_new_session=True, **streams).pid


def _wait_until_ready(service: dict[str, Any]) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while service["ready"] and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if isinstance(service["ready"], str):
                with socket.socket(socket.AF_UNIX) as end:
                    end.connect(service["ready"])
            else:
                socket.create_connection(tuple(service["ready"]), timeout=1).close()
            return
        time.sleep(0.1)


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(Path(sys.argv[1]))
