"""Programs whose scaling stops by one mechanism, most built from planted.c, and the trials of their
sweeps."""

import contextlib
import os
import resource
import shutil
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from deadzone.errors import TargetError
from deadzone.measurement import Command
from deadzone.run.targets.limits.io import IoLimiter, io_limit
from deadzone.run.targets.local import LocalTarget
from deadzone.run.trust import doubts
from deadzone.study.design import Treatment
from deadzone.study.spec import TrustSpec
from deadzone.study.target_specs import LocalTargetSpec

SOURCE = Path(__file__).with_name("planted.c")
CONNECTIONS = Path(__file__).with_name("planted_connections.py")
WORK = 40_000_000
"""Turns of a loop, a tenth of a second or so of one core; on a faster one there are more."""

WORK_S = 0.1
"""A quarter of what a trial under a limit of 0.8 cores needs, or a fifth of a second at the least
after what it skips: one that ends within two periods of its limit is busier than that, for it has
the quota of the last one whole [s]."""

PACES = 5

TRUST = TrustSpec()
"""As in a sweep, a trial that neighbours disturbed is measured again: they are a mechanism too, and
not the planted one."""


class Planted(NamedTuple):
    """One program and its sweep.

    names: the mechanism that stops it, none where it scales to the end. also: what is honestly
    right beside it. mode: of planted.c. work: turns of a loop, or, where is_calls, so many calls.
    cpu_limit, calls_s: limits in force.
    """

    names: str | None
    mode: str
    knob: str
    levels: tuple[float, ...]
    work: int = WORK
    also: tuple[str, ...] = ()
    cpu_limit: float | str = "none"
    is_calls: bool = False
    calls_s: float | str = "none"

    @property
    def right(self) -> frozenset[str]:
        """Mechanisms whose naming is no mistake: where more threads compute at once than there are
        cores, some are ready."""
        beyond = self.mode in AT_ONCE and max(self.levels) > len(os.sched_getaffinity(0))
        return frozenset({self.names, *self.also, "cpu_full" if beyond else None} - {None})


AT_ONCE = ("serial", "pool", "spin", "line", "stream")
"""Modes in which all threads compute at once at times."""

MIB = 1024 * 1024
THREADS = (1, 2, 4)
FILE_BYTES = 32 * MIB

PLANTED: Mapping[str, Planted] = {
    "none": Planted(None, "none", "cpu_limit", (0.3, 0.5, 0.8), 3 * WORK),
    "a mutex held while asleep": Planted("waiting_for_each_other", "mutex", "threads", THREADS),
    "a pool waits for a serial part": Planted(
        "waiting_for_each_other", "pool", "threads", THREADS, 4 * WORK
    ),
    "a serial part before threads start": Planted(
        "too_few_threads", "serial", "threads", THREADS, 4 * WORK
    ),
    "a pool of two database connections": Planted(
        "waiting_for_each_other",
        "connections",
        "threads",
        THREADS,
        150,
        also=("more_cpu_work",),
        is_calls=True,
    ),
    "a slow peer that answers one at a time": Planted(
        "outside", "peer", "threads", THREADS, 60, is_calls=True
    ),
    "a spin lock": Planted("more_cpu_work", "spin", "threads", THREADS, 2 * WORK),
    "two counters in one cache line": Planted(
        "more_cpu_work", "line", "threads", THREADS, WORK // 4
    ),
    "the bandwidth of memory": Planted(
        "more_cpu_work", "stream", "threads", THREADS, 20_000_000, is_calls=True
    ),
    "a table beyond the caches": Planted(
        "more_cpu_work", "table", "table_kib", (256, 4096, 65536), 2_000_000, is_calls=True
    ),
    "a disk with a limit of calls": Planted(
        "waiting_for_disk", "file", "threads", THREADS, 90, is_calls=True, calls_s=200
    ),
    "memory beyond its limit": Planted(
        "memory_short",
        "mapped",
        "memory_limit",
        (20 * MIB, 26 * MIB, 64 * MIB),
        1000,
        also=("waiting_for_disk", "more_cpu_work", "less_work"),
        is_calls=True,
        calls_s=1000,
    ),
    "a quota": Planted("throttled", "none", "threads", THREADS, cpu_limit=0.3),
    "more busy threads than cores": Planted("cpu_full", "none", "threads", (2, 4, 8), 2 * WORK),
    "one thread": Planted("too_few_threads", "none", "cpu_limit", THREADS),
    "work skipped at the last level": Planted(
        "less_work", "skip", "cpu_limit", (0.4, 0.6, 0.8), 4 * WORK
    ),
}

ANSWER_S = 0.005
"""What the slow peer takes for one request [s]."""

SHOWN = 1.4
"""A mechanism of the hardware is there where it takes so many times the CPU that the same work
takes without it."""


class SlowPeer(socketserver.ThreadingTCPServer):
    """Answers byte by byte, one request of all connections at a time."""

    daemon_threads = True

    def __init__(self) -> None:
        self.turn = threading.Lock()
        super().__init__(("127.0.0.1", 0), Answers)


class Answers(socketserver.BaseRequestHandler):
    """Of one connection."""

    server: SlowPeer

    def handle(self) -> None:
        """Answer until the client leaves."""
        while byte := self.request.recv(1):
            with self.server.turn:
                time.sleep(ANSWER_S)
            self.request.sendall(byte)


def built(folder: Path) -> Path | None:
    """The program, built in a folder; None without a C compiler."""
    program, compiler = folder / "planted", shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    subprocess.run([compiler, "-O1", "-pthread", "-o", program, SOURCE], check=True)
    return program


def cpu_s(program: Path, mode: str, threads: int, work: int) -> float:
    """The CPU time of a run, the median of a few [s]."""
    times = []
    for _ in range(PACES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, mode, str(threads), str(work)], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return max(median(times), 1e-3)


@cache
def pace(program: Path) -> float:
    """How many times WORK takes WORK_S of a core here, at least once."""
    return max(1.0, WORK_S / cpu_s(program, "none", 1, WORK))


@cache
def cannot_show(program: Path, of: Planted) -> str:
    """Why this machine cannot show a mechanism that is planted; empty where it can."""
    if of.mode == "line":
        times = cpu_s(program, "line", 2, WORK // 4) / cpu_s(program, "apart", 2, WORK // 4)
        if times < SHOWN:
            return (
                f"two threads on one cache line take {times:.2f} times the CPU time that they take "
                f"on two{_load()}"
            )
    if of.mode == "stream":
        times = cpu_s(program, "stream", 2, of.work) / cpu_s(program, "stream", 1, of.work)
        if times < SHOWN:
            return (
                f"two cores do not fill it: they take {times:.2f} times the CPU time of one for "
                f"the same bytes{_load()}"
            )
    try:
        with _surroundings(program, of), _target(program.parent, of):
            return ""
    except TargetError as error:
        return str(error)


def _load() -> str:
    return f", at a load of {os.getloadavg()[0]:.1f}"


def _target(folder: Path, of: Planted) -> LocalTarget:
    """Where the trials of a sweep run. folder: on the disk whose calls are limited."""
    limits: Sequence[float | str] = of.levels if of.knob == "cpu_limit" else (of.cpu_limit,)
    memory = of.levels if of.knob == "memory_limit" else ()
    io = IoLimiter(folder, [io_limit("none", of.calls_s)]) if of.calls_s != "none" else None
    return LocalTarget(LocalTargetSpec(iops_limit=of.calls_s), limits, memory, io)


@contextlib.contextmanager
def _surroundings(program: Path, of: Planted) -> Iterator[str]:
    """What a program needs to be there, and its further argument."""
    if of.mode == "peer":
        with SlowPeer() as peer:
            threading.Thread(target=peer.serve_forever, daemon=True).start()
            try:
                yield str(peer.server_address[1])
            finally:
                peer.shutdown()
        return
    if of.mode in ("file", "mapped"):
        file = program.with_name("blocks")
        if not file.exists():
            file.write_bytes(os.urandom(FILE_BYTES))
            os.sync()
        yield str(file)
        return
    yield ""


def _command(program: Path, of: Planted, level: float, extra: str) -> Command:
    threads = int(level) if of.knob == "threads" else 1
    if of.mode == "connections":
        return Command((sys.executable, "-S", str(CONNECTIONS), str(threads), str(of.work), "2"))
    mode = of.mode if of.mode != "skip" else "skip" if level == of.levels[-1] else "none"
    work = of.work if of.is_calls else round(of.work * pace(program))
    return Command(
        (
            str(program),
            mode,
            str(threads),
            str(work),
            extra or (str(int(level)) if of.mode == "table" else ""),
        )
    )


def _treatment(of: Planted, level: float) -> Treatment:
    limits: dict[str, Any] = {"cpu_limit": of.cpu_limit}
    return Treatment(
        limits | ({of.knob: level} if of.knob in ("cpu_limit", "memory_limit") else {})
    )


def trials(
    program: Path, of: Planted, replicates: int, seed: int = 1, most_untrusted: float = 1.0
) -> pd.DataFrame:
    """The trials of a sweep, in blocks of random order, as the tidy table names them; ended early
    where neighbours disturb more than a share of them."""
    rng, rows = np.random.default_rng(seed), []
    planned = replicates * len(of.levels)
    with _surroundings(program, of) as extra, _target(program.parent, of) as target:
        for block in range(1, replicates + 1):
            for level in rng.permutation(of.levels).tolist():
                if sum(not row["trusted"] for row in rows) > most_untrusted * planned:
                    return pd.DataFrame(rows)
                treatment = _treatment(of, level)
                target.prepare(treatment)
                command = _command(program, of, level, extra)
                for _ in range(TRUST.max_attempts):
                    measured = target.execute(command, 60)
                    assert measured.status == "ok", (measured.error, measured.stderr)
                    found = doubts(measured, treatment.levels["cpu_limit"], TRUST)
                    if not found:
                        break
                rows.append({of.knob: level, "block": block, "trial": len(rows) + 1, "wall_s": measured.wall_s,  # noqa: E501
                             "warmup": False, "trusted": not found, "status": measured.status, "distrust_reason": "; ".join(found),  # noqa: E501
                             "user_s": measured.user_s, "sys_s": measured.sys_s, **measured.counted})  # fmt: skip  # noqa: E501
    return pd.DataFrame(rows)
