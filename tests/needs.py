"""What a test needs beside Python: a program that is there, or a skip that says what brings it."""

from __future__ import annotations

import shutil

import pytest

BRINGS = {
    "apt-get": "apt, the package manager of Debian and Ubuntu",
    "busybox": "apt install busybox-static",
    "chromium": "apt install chromium",
    "fio": "apt install fio",
    "go": "a Go of 1.21 or newer from go.dev/dl",
    "gcc": "apt install build-essential",
    "gofmt": "apt install golang-go",
    "hyperfine": "apt install hyperfine",
    "java": "apt install default-jre-headless, then a run of spring-websocket",
    "kubectl": "apt install kubernetes-client",
    "make": "apt install build-essential",
    "openssl": "apt install openssl",
    "pigz": "apt install pigz",
    "podman": "apt install podman catatonit",
    "nginx": "apt install nginx-light",
    "pgbench": "apt install postgresql",
    "postgres": "apt install postgresql",
    "prometheus": "apt install prometheus",
    "promtool": "apt install prometheus",
    "redis-benchmark": "apt install redis-tools",
    "redis-cli": "apt install redis-tools",
    "redis-server": "apt install redis-server",
    "python3": "apt install python3",
    "setpriv": "apt install util-linux",
    "sort": "apt install coreutils",
    "sqlite3": "apt install sqlite3",
    "unshare": "apt install util-linux",
    "xz": "apt install xz-utils",
    "zstd": "apt install zstd",
}
"""The command, or the words, that bring a program on Debian and Ubuntu."""


def needs(program: str, *others: str) -> str:
    """Path of a program, or of the first of several that serve as well; without any, the test is
    skipped."""
    for name in (program, *others):
        if found := shutil.which(name):
            return found
    pytest.skip(f"{program} is not installed: {BRINGS[program]}")
