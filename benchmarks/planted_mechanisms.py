"""Programs whose scaling stops by exactly one mechanism, built from planted.c, and the trials of their sweeps."""

import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from deadzone.measurement import Command
from deadzone.measuring.targets.local import LocalTarget
from deadzone.measuring.trust import doubts
from deadzone.study.design import Treatment
from deadzone.study.spec import TrustSpec
from deadzone.study.target_specs import LocalTarget as LocalSpec

SOURCE = Path(__file__).with_name("planted.c")
WORK = 40_000_000
"""Turns of a loop, a tenth of a second or so of one core; on a faster one there are more."""

WORK_S = 0.1
"""A quarter of what a trial under a limit of 0.8 cores needs, or a fifth of a second at the least after what it skips: one
that ends within two periods of its limit is busier than that, for it has the quota of the last one whole [s]."""

PACES = 5

TRUST = TrustSpec()
"""As in a sweep, a trial that neighbours disturbed is measured again: they are a mechanism too, and not the planted one."""


class Planted(NamedTuple):
    """One program and its sweep. names: the mechanism that stops it, none where it scales to the end."""

    names: str | None
    mode: str
    knob: str
    levels: tuple[float, ...]
    work: int = WORK
    threads: int = 1
    cpu_limit: float | str = "none"


PLANTED: Mapping[str, Planted] = {
    "none": Planted(None, "none", "cpu_limit", (0.2, 0.4, 0.8), 3 * WORK),
    "a mutex held while asleep": Planted("waiting_for_each_other", "mutex", "threads", (1, 2, 4)),
    "a quota": Planted("throttled", "none", "threads", (1, 2, 4), 2 * WORK, cpu_limit=0.3),
    "more busy threads than cores": Planted("cpu_full", "none", "threads", (2, 4, 8), 2 * WORK),
    "one thread": Planted("too_few_threads", "none", "cpu_limit", (1, 2, 4)),
    "work skipped at the last level": Planted("less_work", "skip", "cpu_limit", (0.4, 0.6, 0.8), 4 * WORK),
}


def built(folder: Path) -> Path | None:
    """The program, built in a folder; None without a C compiler."""
    program, compiler = folder / "planted", shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    subprocess.run([compiler, "-O1", "-pthread", "-o", program, SOURCE], check=True)
    return program


@cache
def pace(program: Path) -> float:
    """How many times WORK takes WORK_S of a core here, at least once."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(PACES):
        subprocess.run([program, "none", "1", str(WORK)], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime
    return max(1.0, WORK_S * PACES / max(used, 1e-3))


def trials(
    program: Path, of: Planted, replicates: int, seed: int = 1, most_untrusted: float = 1.0
) -> pd.DataFrame:
    """The trials of a sweep, in blocks of random order, as the tidy table names them; ended early where neighbours disturb more
    than a share of them."""
    rng, rows = np.random.default_rng(seed), []
    planned = replicates * len(of.levels)
    limits: Sequence[float | str] = of.levels if of.knob == "cpu_limit" else (of.cpu_limit,)
    with LocalTarget(LocalSpec(), levels=limits) as target:
        for block in range(1, replicates + 1):
            for level in rng.permutation(of.levels).tolist():
                if sum(not row["trusted"] for row in rows) > most_untrusted * planned:
                    return pd.DataFrame(rows)
                limit = level if of.knob == "cpu_limit" else of.cpu_limit
                target.prepare(Treatment({"cpu_limit": limit}))
                threads = int(level) if of.knob == "threads" else of.threads
                mode = of.mode if of.mode != "skip" else "skip" if level == of.levels[-1] else "none"
                command = Command((str(program), mode, str(threads), str(round(of.work * pace(program)))))
                for _ in range(TRUST.max_attempts):
                    measured = target.execute(command, 60)
                    assert measured.status == "ok", measured.stderr
                    found = doubts(measured, limit, TRUST)
                    if not found:
                        break
                rows.append({of.knob: level, "block": block, "trial": len(rows) + 1, "wall_s": measured.wall_s,
                             "warmup": False, "trusted": not found, "status": measured.status,
                             "user_s": measured.user_s, "sys_s": measured.sys_s, **measured.counted})  # fmt: skip
    return pd.DataFrame(rows)
