"""A real S3 server on the loopback, for tests of archives on object stores."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "versitygw"
MODULE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "a-secret-of-the-test"}
BUCKET = "deadzone"


@contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """A server over a folder with one empty bucket; yields the environment a client needs."""
    (folder / BUCKET).mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    named = {
        "ROOT_ACCESS_KEY": CREDENTIALS["AWS_ACCESS_KEY_ID"],
        "ROOT_SECRET_KEY": CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    }
    argv = (server(), "--port", f"127.0.0.1:{port}", "posix", str(folder))
    with (folder.parent / "s3.log").open("wb") as log:
        process = subprocess.Popen(argv, env={**os.environ, **named}, stdout=log, stderr=log)
    try:
        _await(port, process)
        yield {
            **CREDENTIALS,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
    finally:
        process.terminate()
        process.wait(10)


def server() -> str:
    """The program, if it is installed or was built before; skips the test otherwise."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    built = cache / "deadzone" / "tools" / MODULE.rpartition("@")[2] / PROGRAM
    found = str(built) if built.is_file() else shutil.which(PROGRAM)
    if not found:
        pytest.skip(f"versitygw is not installed: sh scripts/go-tool {PROGRAM} {MODULE}")
    return found


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"{PROGRAM} did not start: exit code {process.poll()}")
