"""Time reading and comparing profiles of 50 MB, and `go tool pprof -top` of the same file; write
the table.

    python benchmarks/profiles.py

The profiles are recorded ones scaled up: copies whose functions have other names and addresses,
until the uncompressed protobuf is that large. Writes docs/benchmarks/profiles.md; nothing in it is
typed by hand.
"""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from synthetic.pprof_files import write_pprof

from deadzone import __version__
from deadzone.store.provenance import cpu_model, usable_cores
from deadzone_profiles.model import Profile
from deadzone_profiles.reading import read_profile

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "profiles.md"
RECORDED = ROOT / "tests" / "data" / "profiles"

BYTES = 50_000_000
VARIANTS = 100
"""Each function of the recorded profile under so many names: about 15,000 functions, a large
program."""

REPEATS = 3
MOST_SECONDS = 5.0
MOST_BYTES = 1_000_000_000

READ = (
    "from deadzone_profiles.reading import read_profile as r; from pathlib import Path; import "
    "sys; "
)
READ_ONE = READ + "r(Path(sys.argv[1]))"
COMPARE = READ + (
    "from deadzone_profiles.comparison import compare_profiles; "
    "compare_profiles(r(Path(sys.argv[1])), r(Path(sys.argv[2])), 'cpu')"
)


@dataclass(frozen=True)
class Cost:
    """Of one execution: wall and CPU seconds, and peak memory in bytes."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def scaled(profile: Profile, size: int) -> bytes:
    """A profile as protobuf of about this size, made of copies of a recorded one."""
    one_round = len(write_pprof(repeated(profile, VARIANTS)))
    names = len(
        write_pprof(
            repeated(
                replace(profile, values=profile.values[:0], offsets=profile.offsets[:1]), VARIANTS
            )
        )
    )
    rounds = round((size - names) / (one_round - names))
    return write_pprof(repeated(profile, VARIANTS * rounds))


def repeated(profile: Profile, copies: int) -> Profile:
    """A profile so many times over, with VARIANTS names for each function."""
    variant = np.arange(copies) % VARIANTS
    frames = profile.frames[: profile.offsets[-1]]
    names = [f"{name}.v{number}" for number in range(VARIANTS) for name in profile.functions]
    return replace(
        profile,
        values=np.tile(profile.values, (copies, 1)),
        offsets=np.concatenate(([0], np.cumsum(np.tile(np.diff(profile.offsets), copies)))),
        frames=(frames + (variant * len(profile.functions))[:, None]).ravel().astype(np.int32),
        functions=tuple(names),
        packages=("",) * len(names),
    )


def cost(command: Sequence[str]) -> Cost:
    """Execute a command; the fastest of REPEATS by wall time, with the largest memory of all."""
    runs = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed")
        runs.append(Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024))
    fastest = min(runs, key=lambda run: run.wall_s)
    return replace(fastest, peak_bytes=max(run.peak_bytes for run in runs))


def build(name: str, path: Path) -> str:
    """Write a scaled profile, and say what it holds.

    In a process of its own: Linux counts the peak memory of a process from that of the one it was
    forked from.
    """
    path.write_bytes(scaled(read_profile(RECORDED / f"cpu-{name}.pb.gz"), BYTES))
    made = read_profile(path)
    return (
        f"{made.samples:,} samples, {len(made.frames):,} stack entries, {len(made.functions):,} "
        "functions"
    )


def measure(folder: Path) -> tuple[list[str], dict[str, Cost]]:
    """What the files are, and the cost of each way to read them."""
    paths, facts = [], []
    for name in ("before-1", "after-1"):
        path = folder / f"{name}.pb"
        build = (sys.executable, __file__, "--build", name, str(path))
        made = subprocess.run(build, check=True, capture_output=True, text=True).stdout.strip()
        facts.append(f"`{name}`: {path.stat().st_size / 1e6:.1f} MB, {made}")
        paths.append(str(path))
    costs = {
        "deadzone: read one": cost((sys.executable, "-c", READ_ONE, paths[0])),
        "deadzone: read both and compare (functions, packages, intervals)": cost(
            (sys.executable, "-c", COMPARE, *paths)
        ),
    }
    if shutil.which("go"):
        costs["go tool pprof -top of one"] = cost(("go", "tool", "pprof", "-top", paths[0]))
        costs["go tool pprof -top -diff_base of both"] = cost(
            ("go", "tool", "pprof", "-top", f"-diff_base={paths[0]}", paths[1])
        )
    return facts, costs


def page(facts: Sequence[str], costs: dict[str, Cost], load: float) -> str:
    """The page as Markdown."""
    compared = costs["deadzone: read both and compare (functions, packages, intervals)"]
    met = compared.wall_s <= MOST_SECONDS and compared.peak_bytes <= MOST_BYTES
    rows = "\n".join(
        f"| {name} | {c.wall_s:.2f} | {c.cpu_s:.2f} | {c.peak_bytes / 1e6:,.0f} |"
        for name, c in costs.items()
    )
    go = (
        ""
        if shutil.which("go")
        else "\nGo is not installed on this machine, so `go tool pprof` was not timed.\n"
    )
    return (
        "# How fast profiles are read\n\nWritten by `benchmarks/profiles.py`; not edited by "
        "hand.\n\n"
        f"deadzone {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
        f"{datetime.date.today().isoformat()}; {usable_cores()} cores of {cpu_model()}, load "
        f"average when it began: {load:.2f}.\n\n"
        f"Recorded CPU profiles of a Go server, scaled up, uncompressed:\n"
        + "".join(f"- {fact}\n" for fact in facts)
        + f"\nFastest of {REPEATS} runs, each a new process, its start included; the memory is the "
        f"largest of them.\n\n"
        "| what | wall s | CPU s | peak MB |\n| --- | --- | --- | --- |\n"
        f"{rows}\n{go}\nTarget: a profile of 50 MB parsed and compared in {MOST_SECONDS:g} s and "
        f"under "
        f"{MOST_BYTES / 1e9:g} GB. Two of them took {compared.wall_s:.2f} s ({compared.cpu_s:.2f} "
        f"s of CPU time; on a "
        f"busy machine the wall time is longer): {'met' if met else '**missed**'}.\n"
    )


def main() -> None:
    """Measure and write the page."""
    if sys.argv[1:2] == ["--build"]:
        print(build(sys.argv[2], Path(sys.argv[3])))
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        facts, costs = measure(Path(folder))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(facts, costs, load), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
