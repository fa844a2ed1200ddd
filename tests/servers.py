"""Real servers for tests: started by the test, on loopback, ended by their own process id."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from needs import needs
from waiting import wait_for

from deadzone.run.targets.limits.base import start_ticks

PATIENCE_S = 30.0


@dataclass
class Server:
    """A server that runs. pid: of its first process."""

    port: int
    pid: int
    folder: Path

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        wait_for(lambda: not self.runs(), "it still runs")

    def runs(self) -> bool:
        return start_ticks(self.pid) is not None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def refusing_port() -> Iterator[int]:
    """A port that refuses as long as it is held: bound, so that no other test comes up there, and
    nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def await_port(port: int) -> None:
    address = ("127.0.0.1", port)
    wait_for(lambda: socket.create_connection(address, 1).close() is None, f"{port} is closed")


@pytest.fixture
def mount() -> Iterator[Callable[..., Path]]:
    """Mount a small file system on a folder; needs root."""
    mounted: list[Path] = []

    def small(folder: Path, *arguments: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        said = subprocess.run(("mount", *arguments, folder), capture_output=True, text=True)
        if said.returncode:
            pytest.skip(f"no file system can be mounted here ({said.stderr.strip()})")
        mounted.append(folder)
        return folder

    yield small
    for folder in reversed(mounted):
        subprocess.run(("umount", folder), check=True)


@contextlib.contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[Server]:
    """A Redis that keeps nothing on disk."""
    program, port = needs("redis-server"), free_port()
    note = folder / f"redis-{port}.pid"  # a second one in the folder would be taken for the first
    listens = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    argv = [program, *listens, "--daemonize", "yes", "--pidfile", str(note), *options]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    await_port(port)
    pid = wait_for(lambda: note.read_text().strip(), "its process id is not noted")
    server = Server(port, int(pid), folder)
    try:
        yield server
    finally:
        server.kill()


def redis_client(port: object, requests: int, *more: object) -> list[object]:
    """The command of a client that keeps a Redis busy."""
    argv = [needs("redis-benchmark"), "-p", port, "-q", "-n", requests, "-t", "get"]
    return [*argv, *more]


def postgres_programs() -> Path:
    """The folder of PostgreSQL's programs, off the PATH on Debian; else the test is skipped."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return (found[-1] if found else Path(needs("postgres"))).parent


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL with a small database of pgbench, as the user postgres for root."""
    programs, port = postgres_programs(), free_port()
    as_user: list[str] = []
    # a test's own folder is closed to other users
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if os.geteuid() == 0:
        as_user = [needs("setpriv"), "--reuid=postgres", "--regid=postgres", "--init-groups"]
        shutil.chown(folder, "postgres")
    data = folder / "data"

    def ask(*argv: str) -> None:
        nowhere = subprocess.DEVNULL  # a pipe would be the server's too, and have no end
        subprocess.run([*as_user, *argv], check=True, stdout=nowhere, stderr=nowhere, cwd=folder)

    ask(f"{programs}/initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-p {port} -k {folder} -c fsync=off -c listen_addresses=127.0.0.1"
    start = [f"{programs}/pg_ctl", "-D", str(data), "-w", "-o", options, "-l", f"{folder}/log"]
    ask(*start, "start")
    server = Server(port, int((data / "postmaster.pid").read_text().split()[0]), folder)
    database = ("-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "bench")
    try:
        ask(f"{programs}/createdb", *database)
        ask(f"{programs}/pgbench", "-q", "-i", *database)
        yield server
    finally:
        if server.runs():
            ask(*start, "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    """A Redis that is up before the sweep."""
    with redis_server(tmp_path) as server:
        yield server
