"""What a test needs beside Python: a program that is there, or a skip that says what brings it."""

from __future__ import annotations

import shutil

import pytest

BRINGS = {
    "apt-get": "apt, the package manager of Debian and Ubuntu",
    "busybox": "apt install busybox-static", "go": "a Go of 1.21 or newer from go.dev/dl",
    "gcc": "apt install build-essential", "gofmt": "apt install golang-go",
    "java": "apt install default-jre-headless, then a run of spring-websocket",
    "kubectl": "apt install kubernetes-client", "make": "apt install build-essential",
    "podman": "apt install podman catatonit", "javac": "apt install default-jdk-headless",
    "nginx": "apt install nginx-light", "node": "apt install nodejs",
    "pgbench": "apt install postgresql", "postgres": "apt install postgresql",
    "promtool": "apt install prometheus", "redis-benchmark": "apt install redis-tools",
    "redis-cli": "apt install redis-tools", "setpriv": "apt install util-linux",
    "sort": "apt install coreutils", "unshare": "apt install util-linux",
    "xz": "apt install xz-utils",
}  # fmt: skip
"""The command, or the words, that bring a program on Debian, where its package has another name."""


def needs(program: str, *others: str) -> str:
    """Path of a program, or of the first of several that serve; without any the test is skipped."""
    for name in (program, *others):
        if found := shutil.which(name):
            return found
    pytest.skip(f"{program} is not installed: {BRINGS.get(program, f'apt install {program}')}")
