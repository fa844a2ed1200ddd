"""Runs in the emulated machine: lives through every case with the real `deadzone`, and reports what
happened.

    python3 stories.py DEVICE

A JSON line a case goes to the device. The commands are those a person types; they run in forks of
this process so that the emulated processors import the package once. Nothing is judged here, the
tests do that.
"""

import contextlib
import faulthandler
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import pyarrow.parquet  # noqa: F401

import deadzone.run.sweep.opening
import deadzone.run.sweep.running
from deadzone.cli import restore, sweep  # noqa: F401
from deadzone.cli.main import main as deadzone

HERE = Path(__file__).resolve().parent
CGROUPS = Path("/sys/fs/cgroup")
PATIENCE_S = 240.0
"""Longer than any command takes here; who waits outside takes a longer silence for a hang."""
SETTLED_S = 20.0
"""So long systemd may take, on this slow machine, to have a scope's controllers back."""
SLEEPERS = ("86401", "86402", "spinner")
"""Words in the command lines of the processes that `tree` starts."""


@dataclass(frozen=True)
class Case:
    """Somebody who sweeps: who, by which mechanism, in which group (none: that of this service)."""

    name: str
    user: int
    mechanism: str
    delegated: bool = False

    @property
    def home(self) -> Path:
        """The repository of the case, with its runs."""
        return Path("/var/tmp") / self.name


CASES = (
    Case("root-cgroup-v2", 0, "cgroup-v2"), Case("root-systemd", 0, "systemd"),
    Case("user", 1000, "auto"), Case("user-delegated", 1000, "auto", delegated=True),
    Case("user-without-cpu", 1001, "systemd"), Case("user-emulated", 1001, "auto"),
)  # fmt: skip

SHORT_CASES = ("user-without-cpu",)
"""Cases that only ask which mechanism is chosen."""

EMULATED_CASE = "user-emulated"
"""The case of somebody without any right to limits, who is given emulated ones."""

SYSTEMD_CASES = ("root-systemd", "user")
"""Cases of systemd's limits; it takes a scope's controllers back a moment after the scope."""

DISK_CASE = "root-cgroup-v2"
"""The case in which the I/O of a disk study is limited too."""


def tell(case: Case) -> dict[str, Any]:
    """Everything that happens in a case."""
    prepare_home(case)
    with_holder = holder(case) if case.delegated else None
    group = next(with_holder) if with_holder else None
    before = traces()
    if case.name == EMULATED_CASE:
        stopped = swept(case, group, "tree", "-p", "design.timeout_s", "2")
        return {"before": before, "timeout": stopped, "after_timeout": traces()}
    story: dict[str, Any] = {"before": before, "sweep": swept(case, group, "busy")}
    story["after_sweep"] = left(case, before)
    if case.name == DISK_CASE:
        story["blocks"] = swept(case, group, "blocks")
        story["after_blocks"] = traces()
    if case.name not in SHORT_CASES:
        story["timeout"] = swept(case, group, "tree", "-p", "design.timeout_s", "2")
        story["after_timeout"] = left(case, before)
        story["interrupt"] = struck(case, group, interrupt)
        story["after_interrupt"] = left(case, before)
        story["kill"] = struck(case, group, kill_harness)
        story["after_kill"] = traces()
        story["restore"] = deadzone_as(case, group, "restore", "--json").result()
        story["after_restore"] = left(case, before)
    if with_holder:
        next(with_holder, None)
    return story


def prepare_home(case: Case) -> None:
    """A repository with the two studies, as the user's own."""
    studies = case.home / "notebooks" / "studies"
    studies.mkdir(parents=True)
    for path in HERE.iterdir():
        if path.suffix == ".yaml" or path.stem in ("busy", "tree"):
            shutil.copy(path, studies)
    for path in (case.home, *case.home.rglob("*")):
        os.chown(path, case.user, case.user)


def holder(case: Case) -> Iterator[Path]:
    """A scope of the user's with `Delegate=yes`, kept while the case lasts: the group that is
    handed over."""
    unit = "handed-over.scope"
    argv = ["systemd-run", "--user", "--scope", "--quiet", f"--unit={unit}"]
    argv += ["--property=Delegate=yes", "sleep", "1000"]
    process = fork_as(case, None, lambda: os.execvp(argv[0], argv))
    wait_for(lambda: any(CGROUPS.rglob(unit)))
    (group,) = CGROUPS.rglob(unit)
    wait_for(lambda: (group / "cgroup.procs").read_text().strip() == str(process))
    yield group
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


class Deadzone:
    """A `deadzone` command under way."""

    def __init__(self, pid: int, said: Path) -> None:
        self.pid = pid
        self._said = said

    def result(self) -> dict[str, Any]:
        """Wait for its end: exit code and what it printed.

        Raises TimeoutError, with where each of its threads stands, if it does not end.
        """
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            wait_for(lambda: os.waitid(os.P_PID, self.pid, how) is not None)
        except TimeoutError:
            os.kill(self.pid, signal.SIGUSR1)
            time.sleep(5)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise TimeoutError(f"deadzone does not end:\n{self._streams()['stderr']}") from None
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        report({"case": "machine", "ended": self._said.name, "exit_code": code})
        return {"exit_code": code, **self._streams()}

    def _streams(self) -> dict[str, str]:
        return {
            name: self._said.with_suffix(f".{name}").read_text() for name in ("stdout", "stderr")
        }


def deadzone_as(case: Case, group: Path | None, *arguments: str) -> Deadzone:
    """Start `deadzone ARGUMENTS` as the case's user."""
    said = Path("/run") / f"said-{case.name}"

    def command() -> None:
        sys.argv = ["deadzone", *arguments]
        deadzone()

    return Deadzone(fork_as(case, group, command, said), said)


def fork_as(
    case: Case, group: Path | None, command: Callable[[], Any], said: Path | None = None
) -> int:
    """Run a function in a child of the case's user, in the group if one is given."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        for name, number in (("stdout", 1), ("stderr", 2)):
            if said:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                os.dup2(os.open(said.with_suffix(f".{name}"), flags, 0o644), number)
        os.setgroups([])
        os.setgid(case.user)
        os.setuid(case.user)
        os.environ.update(DEADZONE_HOME=str(case.home), HOME=str(case.home))
        if case.user:
            os.environ["XDG_RUNTIME_DIR"] = f"/run/user/{case.user}"
        os.chdir(case.home)
        faulthandler.register(signal.SIGUSR1, all_threads=True)
        command()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def swept(case: Case, group: Path | None, study: str, *more: str) -> dict[str, Any]:
    """A whole sweep: how the command ended, the journal, the table's size, the circumstances."""
    ended = deadzone_as(case, group, *sweep_arguments(case, study), *more).result()
    return {**ended, **recorded(case, study)}


def sweep_arguments(case: Case, study: str) -> tuple[str, ...]:
    """What a person types after `deadzone`."""
    return ("sweep", study, "-p", "target.mechanism", case.mechanism)


def recorded(case: Case, study: str) -> dict[str, Any]:
    """What the latest run of a study holds."""
    runs = sorted((case.home / "data" / "runs" / study).glob("*"))
    if not runs:
        return {}
    journal, facts, table = (
        runs[-1] / name for name in ("trials.jsonl", "provenance.json", "trials.parquet")
    )
    return {
        "trials": [json.loads(line) for line in journal.read_text().splitlines()]
        if journal.exists()
        else [],
        "facts": json.loads(facts.read_text()) if facts.exists() else {},
        "rows": len(pandas.read_parquet(table)) if table.exists() else 0,
    }


def struck(case: Case, group: Path | None, strike: Callable[[int], None]) -> dict[str, Any]:
    """A sweep of a program that never ends, struck in the middle of its trial.

    It is waited for until `setsid` has become the program it starts: a process has no command line
    for a moment while it does, and would be missed by a look at that moment.
    """
    sweeping = deadzone_as(case, group, *sweep_arguments(case, "tree"))
    seen: list[dict[str, Any]] = []

    def is_whole() -> bool:
        seen[:] = [traces()]
        starting = any(words[0] == "setsid" for _, words in command_lines())
        return set(seen[0]["processes"]) == set(SLEEPERS) and not starting

    wait_for(is_whole)
    strike(sweeping.pid)
    return {**sweeping.result(), "under_way": seen[0]}


def interrupt(harness: int) -> None:
    """Ctrl-C."""
    os.kill(harness, signal.SIGINT)


def kill_harness(harness: int) -> None:
    """kill -9 of everything that could clean up."""
    launchers = [
        pid
        for pid, words in command_lines()
        if any(word.endswith("/launcher.py") for word in words)
    ]
    for pid in (*launchers, harness):
        os.kill(pid, signal.SIGSTOP)
    for pid in (harness, *launchers):
        os.kill(pid, signal.SIGKILL)


def traces() -> dict[str, Any]:
    """Everything of Deadzone's that is on the system now, and where controllers are handed down."""
    groups = [folder for folder, _, _ in os.walk(CGROUPS)]
    running = list(command_lines())
    unit_files = [
        *Path("/run/systemd").glob("*/deadzone-*"),
        *Path("/run/user").glob("*/systemd/*/deadzone-*"),
    ]
    scratch = [path for home in ("/dev/shm", "/tmp") for path in Path(home).glob("deadzone-*")]
    return {
        "groups": [group for group in groups if "/deadzone-" in group],
        "unit_files": [str(path) for path in unit_files],
        "scratch": [str(path) for path in scratch],
        "processes": sorted(sleepers(running).values()),
        "launchers": sum(
            any(word.endswith("/launcher.py") for word in words) for _, words in running
        ),
        "controllers": handed_down(),
    }


def left(case: Case, before: dict[str, Any]) -> dict[str, Any]:
    """What there is when a command is over; systemd is given a moment to take its own back."""
    found = traces()
    if case.name in SYSTEMD_CASES:
        with contextlib.suppress(TimeoutError):
            wait_for(lambda: handed_down() == before["controllers"], SETTLED_S)
        found["controllers"] = handed_down()
    return found


def handed_down() -> dict[str, list[str]]:
    """The groups that hand the cpu controller down, with all that they hand down."""
    below = ((group, controllers_below(group)) for group, _, _ in os.walk(CGROUPS))
    return {group: controllers for group, controllers in below if "cpu" in controllers}


def controllers_below(group: str) -> list[str]:
    """Controllers that a group hands down; a group may vanish while one looks."""
    try:
        return Path(group, "cgroup.subtree_control").read_text().split()
    except OSError:
        return []


def sleepers(running: Iterable[tuple[int, list[str]]]) -> dict[int, str]:
    """Those of the running processes that `tree` started."""
    found = {}
    for pid, words in running:
        named = [name for name in SLEEPERS if any(name in word for word in words)]
        if named:
            found[pid] = named[0]
    return found


def command_lines() -> Iterator[tuple[int, list[str]]]:
    """Every process with its arguments."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text().split("\0")
        except OSError:
            continue
        yield int(path.parent.name), words


def wait_for(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Wait until something is so; raises TimeoutError if it does not come."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("waited in vain")
        time.sleep(0.1)


def main() -> None:
    wait_for(users_are_there)
    report({"case": "machine"})
    words = Path("/proc/cmdline").read_text().split()
    asked = {word.partition("=")[2] for word in words if word.startswith("deadzone.case=")}
    for case in [case for case in CASES if case.name in asked or not asked]:
        try:
            story = tell(case)
        except Exception:
            story = {"broken": traceback.format_exc()}
        report({"case": case.name, **story})


def report(what: dict[str, Any]) -> None:
    """A line to those who wait outside."""
    with Path(sys.argv[1]).open("w") as handle:
        print(json.dumps(what), file=handle, flush=True)


def users_are_there() -> bool:
    """Whether the machine is up, with the users' own systemd instances."""
    units = [f"user@{number}.service" for number in sorted({case.user for case in CASES} - {0})]
    return (
        subprocess.run(("systemctl", "is-active", "--quiet", *units), check=False).returncode == 0
    )


if __name__ == "__main__":
    main()
