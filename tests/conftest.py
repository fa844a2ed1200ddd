"""What the tests of measuring share: a repository of their own, studies, the real command."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import tally
import translations
import yaml
from disturbance import NO_DOUBTS
from hypothesis import settings
from needs import needs
from programs import PROGRAMS
from waiting import wait_for

from deadzone.analysis.adaptive.slices import proposer_of
from deadzone.errors import COMMAND_VARIABLE, TargetError
from deadzone.measurement import Command, Measurement
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.progress import Progress
from deadzone.run.sweep.proposed import trials_of
from deadzone.run.sweep.running import run_sweep
from deadzone.run.targets.interrupts import INTERRUPTS
from deadzone.run.targets.local import QUOTA_MECHANISMS, LocalTarget
from deadzone.store.run import RunFolder
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

pytest_plugins = ("servers",)

sys.modules.setdefault("rfc3987_syntax", None)  # as `deadzone.cli.main` does, for the same reason

# A busy machine is no mistake of what is tested. The examples are the same in each run, so that a
# failure is one of the change that is tested; `--hypothesis-profile=fresh` draws others.
settings.register_profile("deadzone", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("fresh", deadline=None)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "deadzone"))

pytest_addoption = tally.pytest_addoption
"""What becomes of each test is recorded where `--record` says so."""

SWEEPING = {"sweep", "start", "execute"}
"""Fixtures that start programs."""

PATIENCE_S = 30.0
"""A busy machine may take this long for what takes a fraction of a second."""


def pytest_configure(config: pytest.Config) -> None:
    for path in [] if hasattr(config, "workerinput") else translations.translations():
        # of a checkout whose translations are newer than its installation
        translations.compiled(path)
    tally.pytest_configure(config)
    # nothing of what is collected is garbage, and looking for some takes a quarter of the time
    gc.disable()
    # A shell's background job ignores Ctrl-C, and so would every program that a test starts and
    # interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Below nohup every program would ignore the end of its terminal; a handler of one's own is not
    # handed down.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that start programs are marked so, and those that are not asked for left out."""
    for item in items:
        if SWEEPING & set(getattr(item, "fixturenames", ())):
            item.add_marker("programs")
    tally.pytest_collection_modifyitems(config, items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def quota() -> str:
    """A mechanism that puts fractions of a core in force; else the test cannot say anything."""
    refusals = []
    for name in QUOTA_MECHANISMS:
        try:
            with LocalTarget(LocalTargetSpec(mechanism=name), (0.5,)) as target:
                target.prepare(Treatment({"cpu_limit": 0.5}))
            return name
        except TargetError as error:
            refusals.append(str(error).splitlines()[1].strip())
    why_not = "; ".join(refusals)
    pytest.skip(f"no mechanism for CPU quotas works on this machine ({why_not})")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium."""
    program = needs("chromium", "chromium-browser", "google-chrome")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu"]
        chromium = play.chromium.launch(executable_path=program, args=options)
        yield chromium
        chromium.close()


@pytest.fixture
def execute() -> Callable[..., Measurement]:
    """Run a program once on the local target, under a limit."""

    def run(
        *argv: str,
        limit: Any = "none",
        mechanism: str = "auto",
        timeout_s: float = PATIENCE_S,
        **more: Any,
    ) -> Measurement:
        with LocalTarget(LocalTargetSpec(mechanism=mechanism), (limit,)) as target:
            target.prepare(Treatment({"cpu_limit": limit}))
            return target.execute(Command(argv, **more), timeout_s)

    return run


@pytest.fixture(autouse=True)
def no_figure_left() -> Iterator[None]:
    """The next test of the process begins without figures, as it does alone."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of the test's own, in which studies are found and runs are kept."""
    folder = tmp_path / "repository"
    (folder / "notebooks" / "studies").mkdir(parents=True)
    (folder / "notebooks" / "studies" / "programs").symlink_to(PROGRAMS)
    monkeypatch.setenv("DEADZONE_HOME", str(folder))
    return folder


@pytest.fixture
def notebooks(home: Path) -> None:
    """The notebooks of this repository, in the test's own."""
    for path in PROGRAMS.parents[1].glob("*.ipynb"):
        shutil.copy(path, home / "notebooks")


@pytest.fixture
def write_study(home: Path) -> Callable[..., Path]:
    """Write a study file: the keys given replace those of a small study that always works. argv: of
    a command that is swept."""

    def write(
        name: str = "probe", *, argv: Any = None, replicates: int | None = None, **keys: Any
    ) -> Path:
        if argv is not None:
            keys["workload"] = {"kind": "command", "argv": [*argv], **keys.get("workload", {})}
        if replicates is not None:
            keys["design"] = {**keys.get("design", {}), "replicates": replicates}
        document = {
            "study": name,
            "workload": {"kind": "command", "argv": ["true", "{threads}"]},
            "factors": {"threads": [1, 2]},
            "design": {"replicates": 2, "warmup": 0, "timeout_s": PATIENCE_S},
            "trust": NO_DOUBTS,
        }
        design = {**document["design"], **keys.pop("design", {})}
        path = home / "notebooks" / "studies" / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**document, **keys, "design": design}, sort_keys=False))
        return path

    return write


@pytest.fixture
def sweep(home: Path) -> Callable[..., RunFolder]:
    """Measure a study here and now, as the commands do."""

    def measure(path: Path, *changes: Any, told: Progress | None = None, **how: Any) -> RunFolder:
        opened, told = open_run(str(path), *changes, **how), told or Progress()
        chosen = trials_of(opened.plan, proposer_of(opened.plan), told)
        return run_sweep(opened.plan, opened.run, told, chosen)

    return measure


@dataclass(frozen=True)
class Said:
    """What a command printed, and the code it ended with."""

    code: int
    out: str
    err: str


@pytest.fixture
def deadzone(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Said]:
    """The command, in this process; a traceback or an unexpected exit code fails the test."""
    from deadzone.cli.main import main

    def call(*arguments: object, code: int | None = None) -> Said:
        monkeypatch.setattr(sys, "argv", ["deadzone", *map(str, arguments)])
        handlers = {number: signal.getsignal(number) for number in INTERRUPTS}
        capfd.readouterr()
        try:
            with pytest.raises(SystemExit) as stop, monkeypatch.context() as only_here:
                only_here.setenv(COMMAND_VARIABLE, "1")
                main()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        out, err = capfd.readouterr()
        said = Said(int(stop.value.code or 0), out, err)
        assert code in (None, said.code), said
        return said

    return call


@pytest.fixture
def fit_of(deadzone: Callable[..., Said], tmp_path: Path) -> Callable[..., Said]:
    """What `deadzone fit` says of a table: of a file, of a text or of rows below their columns."""

    def call(
        table: Path | str | list[tuple[Any, ...]],
        knob: str,
        response: str,
        *options: object,
        columns: tuple[str, ...] = (),
        name: str = "t.csv",
        code: int | None = None,
    ) -> Said:
        path = table if isinstance(table, Path) else tmp_path / name
        if isinstance(table, list):
            lines = [",".join(map(str, row)) for row in [columns or (knob, response), *table]]
            table = "\n".join([*lines, ""])
        if isinstance(table, str):
            path.write_text(table)
        return deadzone("fit", path, "--knob", knob, "--response", response, *options, code=code)

    return call


@dataclass
class Started:
    """A `deadzone` command that runs as a process of its own, in a process group of its own."""

    process: subprocess.Popen[str]
    runs: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def trials(self) -> int:
        """Finished trials on the disk by now."""
        return sum(path.read_bytes().count(b"\n") for path in self.runs.glob("*/*/trials.jsonl"))

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait until something is the case while the command runs."""

        def look() -> Any:
            found, has_ended = condition(), self.process.poll() is not None
            assert found or not has_ended, f"it ended before {what}: {self.process.communicate()}"
            return found

        return wait_for(look, f"it did not come to {what}", 4 * PATIENCE_S, 0.002)

    def launcher(self) -> int | None:
        """Process id of its launcher, once there is one."""
        for one in psutil.Process(self.pid).children():
            with contextlib.suppress(psutil.Error):
                if "launcher.py" in " ".join(one.cmdline()):
                    return one.pid
        return None

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=4 * PATIENCE_S)
        return self.process.returncode, out, err

    def end_with(self, code: int) -> str:
        """What it wrote to stderr until it ended with an exit code."""
        ended, _, err = self.end()
        assert ended == code, err
        return err


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Started]]:
    """Start the command as a process; whatever still runs at the end of the test is killed."""
    started: list[Started] = []

    def begin(*arguments: object) -> Started:
        process = subprocess.Popen(
            (sys.executable, "-m", "deadzone.cli.main", *map(str, arguments)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(Started(process, home / "data" / "runs"))
        return started[-1]

    yield begin
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.pid, signal.SIGKILL)
        one.process.communicate()


@pytest.fixture
def traces() -> Callable[[int], list[Path]]:
    """Control groups and scratch folders that a process made and did not remove."""

    def left_by(pid: int) -> list[Path]:
        groups = (
            Path(folder) / name for folder, below, _ in os.walk("/sys/fs/cgroup") for name in below
        )
        folders = (
            path
            for home in {tempfile.gettempdir(), "/dev/shm"}
            for path in Path(home).glob("deadzone-*")
        )
        return [path for path in (*groups, *folders) if path.name.startswith(f"deadzone-{pid}-")]

    return left_by


@pytest.fixture
def alive() -> Callable[[int], bool]:
    """Whether a process runs; a zombie does not."""

    def runs(pid: int) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        return False

    return runs
