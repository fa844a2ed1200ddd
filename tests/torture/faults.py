"""What goes wrong: each fault is a part of a sweep in which it happens, at an instant or a call
that is drawn."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from torture.harness import Arming, Command, trouble_library

if TYPE_CHECKING:
    from torture.scene import Scene


def send(command: Command, number: int, group: bool) -> None:
    """A signal to a command, or to all of its session that is in its group."""
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(command.pid, number)


def killed(scene: Scene) -> None:
    command = scene.instant()
    send(command, signal.SIGKILL, scene.draw.random() < 0.5)
    scene.ended(command, killed=True)


def interrupted(scene: Scene) -> None:
    """Once, or again before it has ended, as impatient people do."""
    command = scene.start()
    # Before Python's handlers are there the system's own end it, as they end any program.
    command.wait_for(lambda: bool(command.below()))
    scene.wait_an_instant(command)
    number = scene.draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    group = scene.draw.random() < 0.5
    for _ in range(scene.draw.choice([1, 1, 2, 3])):
        send(command, number, group)
        time.sleep(scene.draw.choice([0, 0.002, 0.02]))
    scene.ended(command, codes={0, 130})


def suspended(scene: Scene) -> None:
    command = scene.instant()
    group = scene.draw.random() < 0.5
    send(command, signal.SIGSTOP, group)
    time.sleep(scene.draw.uniform(0, 0.3))
    send(command, signal.SIGCONT, group)
    scene.ended(command, codes={0})


def machine_asleep(scene: Scene) -> None:
    """All processes stand still, and when they go on it is later by the clock: what a machine that
    was suspended looks like."""
    ahead = scene.folder / "ahead"
    ahead.write_bytes(bytes(8))
    command = scene.instant(Arming(calls=(("follow_clock", (bytes(ahead),)),)))
    stopped = [command.pid, *(below.pid for below in command.below())]
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    time.sleep(scene.draw.uniform(0, 0.2))
    ahead.write_bytes(struct.pack("l", scene.draw.choice([1, 60, 3_600, 86_400 * 3])))
    for pid in reversed(stopped):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    scene.ended(command, codes={0})


def _is_up(one: psutil.Process, launcher: bool) -> bool:
    """Whether it is a launcher, or a program."""
    return ("launcher.py" in " ".join(one.cmdline())) == launcher


def _one_below(scene: Scene, launcher: bool) -> tuple[Command, psutil.Process | None]:
    """A sweep that runs, and its launcher or the program of a trial, where one was caught."""
    command = scene.instant()
    deadline = time.monotonic() + 1
    while command.runs() and time.monotonic() < deadline:
        below = command.below()
        with contextlib.suppress(psutil.Error):
            # One of the command's own that is about to be the launcher is no program of a trial.
            found = [
                one
                for one in below
                if (one.ppid() == command.pid) == launcher and _is_up(one, launcher)
            ]
            if found:
                # A program that is about to be is a copy of its launcher still.
                return command, found[0 if launcher else -1]
    return command, None


def _harm(scene: Scene, one: psutil.Process, number: int) -> None:
    with contextlib.suppress(psutil.Error):
        one.send_signal(number)
        if number == signal.SIGSTOP:
            time.sleep(scene.draw.uniform(0, 0.2))
            one.send_signal(signal.SIGCONT)


HARMS = [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGINT, signal.SIGSEGV]


def launcher_harmed(scene: Scene) -> None:
    command, launcher = _one_below(scene, launcher=True)
    if launcher:
        _harm(scene, launcher, scene.draw.choice(HARMS))
    scene.ended(command, codes={0, 3, 4})


def program_harmed(scene: Scene) -> None:
    command, program = _one_below(scene, launcher=False)
    if program:
        scene.harmed += 1
        _harm(scene, program, scene.draw.choice(HARMS))
    scene.ended(command, codes={0})


def memory_exhausted(scene: Scene) -> None:
    """The program of one trial grows until the kernel kills it, at its limit."""
    command = scene.instant()
    scene.hungry.touch()
    scene.harmed += 1
    scene.ended(command, codes={0})
    scene.hungry.unlink(missing_ok=True)


MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")
"""Where groups of cgroup v1 are made that share an amount of memory; of v2 the harness may not
leave its own."""

SHARED_BYTES = 96_000_000
"""What a sweep and its neighbour share: enough for the sweep, which has most of its pages from the
process it is forked from."""

NEIGHBOUR = """kept = []
while True: kept.append(bytearray(b"x") * 1_000_000)"""


def _group_that_shares(scene: Scene) -> Path:
    """A group of processes that have SHARED_BYTES together, until the end of the scene."""
    group = MEMORY_GROUPS / f"{scene.folder.name}-{len(scene.commands)}"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(SHARED_BYTES))
    scene.stack.callback(group.rmdir)  # what a sweep that was killed left in it is gone by then
    return group


def memory_taken_by_a_neighbour(scene: Scene) -> None:
    """One that the kernel kills for it, or spares, so that it kills the sweep or its program."""
    group = _group_that_shares(scene)
    command = scene.start()
    (group / "cgroup.procs").write_text(str(command.pid))
    scene.wait_an_instant(command)
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", NEIGHBOUR]) as neighbour:
        with contextlib.suppress(OSError):  # it may be gone by now
            if scene.draw.random() < 0.7:
                Path(f"/proc/{neighbour.pid}/oom_score_adj").write_text("-999")
            (group / "cgroup.procs").write_text(str(neighbour.pid))
        command.wait(5)
        neighbour.kill()
    scene.harmed += 1
    killed = not command.runs() and command.code == -signal.SIGKILL
    scene.told("the sweep was killed" if killed else "the sweep was spared")
    scene.ended(command, killed=killed, codes={0, 3, 4})


def memory_refused(scene: Scene) -> None:
    """The sweep gets no more memory than a drawn amount: what asks for it fails. A library in C may
    end the process then, as a kill does."""
    room = int(2 ** scene.draw.uniform(18, 27))
    scene.ended(scene.start(Arming(room_bytes=room)), killed=True, codes={0, 3, 4})


DISK_ERRORS = [0, errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES]
"""Slow, full, broken, read-only, over quota, taken away."""


def disk_in_trouble(scene: Scene) -> None:
    """From a drawn call on, calls that change files fail: those of the run, of scratch, of state,
    or of control groups."""
    draw = scene.draw
    data = str(scene.home / "data")
    state = str(scene.folder / "state")
    under = draw.choice([data, data, data, "/dev/shm/", state, "/sys/fs/cgroup"])
    after = int(2 ** draw.uniform(0, 9)) - 1
    times = draw.choice([1, 2, -1, -1])
    arming = Arming(calls=(("trouble", (under.encode(), draw.choice(DISK_ERRORS), after, times)),))
    scene.ended(scene.start(arming), codes={0, 3, 4})


def clock_stepped(scene: Scene) -> None:
    step_s = scene.draw.choice([-86_400, -3_600, -1, 1, 3_600, 86_400 * 365])
    arming = Arming(calls=(("step_clock", (scene.draw.randrange(400), step_s)),))
    scene.ended(scene.start(arming), codes={0})


def processes_exhausted(scene: Scene) -> None:
    scene.ended(scene.start(Arming(calls=(("no_processes", ()),))), codes={0, 3, 4})


def descriptors_exhausted(scene: Scene) -> None:
    arming = Arming(limits=((resource.RLIMIT_NOFILE, scene.draw.randrange(3, 40)),))
    scene.ended(scene.start(arming), codes={0, 3, 4})


def file_size_limited(scene: Scene) -> None:
    run = scene.run()
    size = run.journal_file.stat().st_size if run and run.journal_file.exists() else 0
    most = int(size * scene.draw.random() * 1.5) + scene.draw.randrange(20_000)
    most = max(most, 1_000)  # what is printed goes to a file too
    scene.ended(scene.start(Arming(limits=((resource.RLIMIT_FSIZE, most),))), codes={0, 3, 4})


def folder_moved(scene: Scene) -> None:
    """The run's folder goes away while it is written to, and comes back later."""
    command = scene.instant()
    run = scene.run()
    if run is None:
        scene.ended(command)
        return
    away = scene.folder / "away"
    had = run.journal_file.read_bytes() if run.journal_file.exists() else b""
    run.folder.rename(away)
    code = command.code
    assert not run.folder.exists(), f"it made {run.folder} anew"
    run.folder.parent.mkdir(parents=True, exist_ok=True)  # one without a run is removed
    away.rename(run.folder)
    scene.ended(command, codes={0, 2, 3, 4})
    printed = command.printed()
    assert not had or code == 0 or "Nothing was measured" not in printed, printed


def two_at_once(scene: Scene) -> None:
    """A second sweep wants to go on with the run that a first one writes."""
    first = scene.instant()
    second = scene.start() if scene.run() else None
    if second:
        scene.ended(second, codes={0, 3})
    scene.ended(first, codes={0, 3})


def _torn(scene: Scene, content: bytes) -> bytes:
    return content[: scene.draw.randrange(len(content))]


def _doubled(scene: Scene, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    at = scene.draw.randrange(len(lines))
    return b"".join([*lines[: at + 1], *lines[at:]])


def _garbled(scene: Scene, content: bytes) -> bytes:
    at = scene.draw.randrange(len(content))
    return content[:at] + scene.draw.choice([b"\xff", b"\0", b"\0" * 512, b"}"]) + content[at + 1 :]


def _followed(scene: Scene, content: bytes) -> bytes:
    more = [b"\n", b"\0" * 4096, b"garbage", b"[]\n", b"{}\n", b"\xef\xbb\xbf"]
    return content + scene.draw.choice(more)


def _emptied(scene: Scene, content: bytes) -> bytes:
    return b""


def files_damaged(scene: Scene) -> None:
    """A file of the run is changed while nobody writes: it is refused with its name, or the run is
    whole in the end."""
    run = scene.run()
    if run is None:
        return
    file = scene.draw.choice(sorted(path for path in run.folder.iterdir() if path.is_file()))
    content = file.read_bytes()
    damage = scene.draw.choice([_torn, _doubled, _garbled, _followed, _emptied])
    file.write_bytes(damage(scene, content) if content else b"garbage")
    scene.told(f"{damage.__name__[1:]} {file.name}")
    scene.forget()
    command = scene.start(resumed=run)
    scene.ended(command, codes={0, 3})
    if command.code == 3:
        assert file.name in command.printed(), command.printed()
        file.write_bytes(content)
        scene.forget()


FAULTS: dict[str, Callable[[Scene], None]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        *(killed, interrupted, suspended, launcher_harmed, program_harmed, memory_exhausted),
        *(memory_taken_by_a_neighbour, memory_refused, machine_asleep),
        *(clock_stepped, processes_exhausted, descriptors_exhausted, file_size_limited),
        *(folder_moved, two_at_once, files_damaged, disk_in_trouble),
    )
}
"""Every fault, by the name it is counted under."""

INTERPOSED = {"clock stepped", "machine asleep", "processes exhausted", "disk in trouble"}
"""Faults that need the library of interposed calls."""


def possible() -> dict[str, Callable[[Scene], None]]:
    """The faults that this machine can have."""
    without = set() if trouble_library() else INTERPOSED
    if not os.access(MEMORY_GROUPS / "cgroup.procs", os.W_OK):
        without = without | {"memory taken by a neighbour"}
    return {name: fault for name, fault in FAULTS.items() if name not in without}
