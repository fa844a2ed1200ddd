import contextlib
import gc
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from disturbance import GENERATOR, undisturbed
from programs import PROGRAMS

from deadzone_load.generator.client import run_load
from deadzone_load.generator.plan import LoadPlan
from deadzone_load.specs import LoadWorkloadSpec
from deadzone_load.workload import LoadWorkload

SERVER = Path(__file__).parent / "server.py"

CHANGED = """
import runpy, sys
sys.path.insert(0, {folder!r})
{change}
runpy.run_module("websocket_server", run_name="__main__")
"""


@dataclass(frozen=True)
class Told:
    """What the generator left: its exit code and words, and its result where there is one."""

    code: int
    err: str
    responses: dict[str, float]
    failure: str | None
    slices: list[list[Any]]


@pytest.fixture(scope="module")
def starts() -> Iterator[Callable[..., int]]:
    """Start a server that prints its port at the end of its first line; returns the port."""
    started: list[subprocess.Popen[str]] = []

    def start(*argv: object) -> int:
        argv = (sys.executable, *map(str, argv))
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        found = re.search(r"(\d+)$", process.stdout.readline().strip())
        assert found, "the server did not start"
        return int(found[1])

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def http_server(starts: Callable[..., int]) -> Callable[..., str]:
    """URL of an HTTP server that behaves as it is told; there is one of each behaviour."""
    return cache(lambda behaviour="well": f"http://127.0.0.1:{starts(SERVER, behaviour)}/")


@pytest.fixture
def websocket_server(starts: Callable[..., int], tmp_path: Path) -> Callable[..., str]:
    """URL of the bundled WebSocket server with options of its own; its work is little unless they
    say more. change: lines that run before it."""
    light = ("--wait-ms", 0, "--hash-kib", 1, "--outbound-wait-ms", 0, "--outbound-hash-kib", 1)

    def start(*options: object, change: str = "") -> str:
        program = tmp_path / "changed.py"
        program.write_text(CHANGED.format(folder=str(PROGRAMS), change=change))
        return f"ws://127.0.0.1:{starts(program, '--port', 0, *light, *options)}/"

    return start


@pytest.fixture
def generate(tmp_path: Path) -> Callable[..., Told]:
    """Send a load and return what was recorded; again where neighbours disturbed it, as a sweep
    does.

    What starts a server may stand for its URL: each attempt then has a server of its own. prefix:
    of the command that makes a process of the generator; without it there is none.
    """

    def send(url: str | Callable[[], str], prefix: tuple[str, ...] = (), **keys: Any) -> Told:
        return undisturbed(
            lambda: once(url if isinstance(url, str) else url(), prefix, **keys),
            lambda told: GENERATOR in (told.failure or ""),
        )

    def once(url: str, prefix: tuple[str, ...] = (), **keys: Any) -> Told:
        plan, result = tmp_path / "plan.json", tmp_path / "result.json"
        LoadWorkload(LoadWorkloadSpec(url=url, **keys)).plan({}).write(plan)
        if not prefix:
            with as_it_was():
                told = run_load(LoadPlan.read(plan))
            return Told(0, "", told["responses"], told["failure"], told["slices"])
        module = ("-m", "deadzone_load.generator.client")
        argv = (*prefix, sys.executable, *module, str(plan), str(result))
        ended = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert "Traceback" not in ended.stderr, ended.stderr
        told = json.loads(result.read_text()) if result.exists() else {}
        kept = (told.get("responses", {}), told.get("failure"), told.get("slices", []))
        return Told(ended.returncode, ended.stderr, *kept)

    return send


@contextlib.contextmanager
def as_it_was() -> Iterator[None]:
    """Gives back what the generator changes of its process, and collects no garbage meanwhile, as
    its own process does not."""
    files, priority = resource.getrlimit(resource.RLIMIT_NOFILE), os.getpriority(os.PRIO_PROCESS, 0)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
        os.setpriority(os.PRIO_PROCESS, 0, priority)
