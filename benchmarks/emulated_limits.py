"""Emulated CPU limits beside the kernel's quota: the same programs, the same limits, in turns.

Run: .venv/bin/python benchmarks/emulated_limits.py [--rounds 5] [--ahead] Writes
docs/benchmarks/emulated_limits.md. --ahead puts what is measured ahead of all else in the
scheduler, which takes root: for machines that are never quiet.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from deadzone import __version__
from deadzone.analysis.phases.fit import fit_phases
from deadzone.measurement import Command
from deadzone.run.targets.local import QUOTA_MECHANISMS, LocalTarget
from deadzone.run.targets.processes import below
from deadzone.run.workloads.ffmpeg import BUNDLED, find_ffmpeg
from deadzone.store.programs import program_version
from deadzone.store.provenance import cpu_model, operating_system, usable_cores
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "emulated_limits.md"

LIMITS = (0.25, 0.5, 1.0, 1.5, 2.0)

DIFFERENCE_TARGET = 0.10

EMULATED = "emulated"

INPUT_BYTES = 3_000_000
BLOCK_BYTES = 500_000
"""xz compresses blocks in threads: six of these keep two cores busy to the end."""

TIMEOUT_S = 300.0

AHEAD = -20
WEIGHT_AHEAD = 88761
"""Nice level of an autogroup, and the weight that the kernel gives it (sched_prio_to_weight in
kernel/sched/core.c)."""


def programs(folder: Path) -> dict[str, tuple[str, ...]]:
    """A video encoder with many threads, and a compressor with two."""
    source = folder / "input"
    draw = random.Random(1)
    words = [draw.randbytes(draw.randint(2, 9)) for _ in range(4000)]
    data = bytearray()
    while len(data) < INPUT_BYTES:
        data += draw.choice(words)
    source.write_bytes(bytes(data[:INPUT_BYTES]))
    clip = ("-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=2")
    encode = (find_ffmpeg(BUNDLED), "-v", "error", *clip, "-c:v", "libx264", "-f", "null", "-")
    found: dict[str, tuple[str, ...]] = {"ffmpeg": encode}
    if shutil.which("xz"):
        compress = f"xz -6 -T2 --block-size={BLOCK_BYTES} -c {source} | cat >/dev/null"
        found["xz"] = ("sh", "-c", compress)
    return found


def kernels_own() -> str:
    """The best mechanism of the kernel's that works here. Raises SystemExit where none does."""
    for name in QUOTA_MECHANISMS:
        with contextlib.suppress(Exception), LocalTarget(LocalTargetSpec(mechanism=name), LIMITS):
            return name
    raise SystemExit("no mechanism for quotas works here, so there is nothing to compare with")


def put_ahead(target: LocalTarget, name: str) -> None:
    """Let the scheduler prefer what runs in a target, by the weight of its group or its session."""
    launcher = target.processes()[0]
    mechanism = target._mechanism
    if name == EMULATED:
        for pid in (launcher, mechanism._pacer.pid):  # type: ignore[attr-defined]
            Path(f"/proc/{pid}/autogroup").write_text(str(AHEAD))
        return
    group = mechanism.procs_files()[0].parent
    for file, weight in (("cpu.shares", WEIGHT_AHEAD), ("cpu.weight", 10_000)):
        if (group / file).exists():
            (group / file).write_text(str(weight))


def measure(rounds: int, ahead: bool) -> pd.DataFrame:
    """One row a trial."""
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        targets = {
            name: stack.enter_context(LocalTarget(LocalTargetSpec(mechanism=name), LIMITS))  # type: ignore[arg-type]
            for name in (kernels_own(), EMULATED)
        }
        for block in range(rounds):
            for program, argv in programs(folder).items():
                for limit in LIMITS:
                    for name, target in list(targets.items())[:: 1 if block % 2 else -1]:
                        rows.append(trial(target, name, program, argv, limit, block, ahead))
                        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def trial(
    target: LocalTarget,
    name: str,
    program: str,
    argv: tuple[str, ...],
    limit: float,
    block: int,
    ahead: bool,
) -> dict[str, object]:
    """One execution."""
    target.prepare(Treatment({"cpu_limit": limit}))
    if ahead:
        # A program is a session of its own, so that it has to be put ahead as it runs; its group
        # has not.
        put_ahead(target, name)
    before = target.read().overhead_s
    measured = target.execute(
        Command(argv), TIMEOUT_S, Ahead(target) if ahead and name == EMULATED else None
    )
    if measured.status != "ok":
        raise SystemExit(
            f"{program} at {limit} cores by {name}: {measured.error} {measured.stderr}"
        )
    return {
        "program": program, "mechanism": name, "cpu_limit": limit, "block": block,
        "wall_s": measured.wall_s, "share": (measured.cpu_efficiency or 0.0) / limit,
        "status": measured.status,
        "throttled": (measured.nr_throttled or 0) / max(1, measured.nr_periods or 0),
        "overhead": (target.read().overhead_s - before) / measured.wall_s,
        "foreign_cpu": measured.interference.foreign_cpu,
    }  # fmt: skip


class Ahead:
    """Puts a program ahead at its first instruction."""

    def __init__(self, target: LocalTarget) -> None:
        self._target = target

    def begin(self) -> float:
        for pid in below(self._target.processes()[0]):
            Path(f"/proc/{pid}/autogroup").write_text(str(AHEAD))
        return 0.0

    def tick(self, t_s: float) -> tuple[()]:
        return ()

    def end(self) -> float:
        return 0.0


def phases(trials: pd.DataFrame) -> list[tuple[str, float, float]]:
    """Labels of the steps with their ends."""
    found = fit_phases(trials.reset_index(names="trial"), "cpu_limit", "wall_s").phases
    return [
        (str(one["label"]), float(one["start"]), float(one["stop"]))
        for one in found.to_dict("records")
    ]


def report(trials: pd.DataFrame, ahead: bool) -> str:
    """The page in docs/benchmarks/."""
    kernel = next(name for name in trials["mechanism"] if name != EMULATED)
    medians = (
        trials.groupby(["program", "cpu_limit", "mechanism"]).median(numeric_only=True).unstack()
    )
    rows, differences = [], []
    for (program, limit), of in medians.iterrows():
        difference = of["wall_s", EMULATED] / of["wall_s", kernel] - 1
        differences.append(abs(difference))
        rows.append(
            f"| {program} | {limit:g} | {of['wall_s', kernel]:.2f} s | "
            f"{of['wall_s', EMULATED]:.2f} s | {difference:+.1%} | {of['share', kernel]:.0%} | "
            f"{of['share', EMULATED]:.0%} | {of['throttled', kernel]:.0%} | "
            f"{of['throttled', EMULATED]:.0%} | {of['overhead', EMULATED]:.1%} |"
        )
    found = {
        (program, name): phases(some)
        for (program, name), some in trials.groupby(["program", "mechanism"])
    }
    same = {program: found[program, kernel] == found[program, EMULATED] for program, _ in found}
    met = max(differences) <= DIFFERENCE_TARGET and all(same.values())
    others = trials["foreign_cpu"].median()
    return "\n".join(
        [
            "# Emulated CPU limits beside the kernel's",
            "",
            f"Written by `{' '.join(('benchmarks/emulated_limits.py', *sys.argv[1:]))}`; not "
            "edited by hand.",
            "",
            f"deadzone {__version__}, Python {sys.version.split()[0]}, "
            f"{program_version((find_ffmpeg(BUNDLED), '-version'))}, "
            f"{program_version(('xz', '--version'))}; {datetime.now(UTC):%Y-%m-%d}; "
            f"{usable_cores()} cores of {cpu_model()}, {operating_system()}. Others used "
            f"{others:.2f} cores meanwhile (median)"
            + (
                ", for the machine was not quiet; what is measured here was put ahead of them in "
                "the scheduler."
                if ahead
                else "."
            ),
            "",
            f"Medians of {trials['block'].nunique()} trials by each mechanism, in turns. CPU used: "
            "of the limit. Stopped: share of the periods in which the limit stopped the program. "
            "Pacer: CPU of the process that stops and continues.",
            "",
            f"| program | limit [cores] | wall, {kernel} | wall, emulated | difference | CPU used, "
            f"{kernel} | CPU used, emulated | stopped, {kernel} | stopped, emulated | pacer "
            "[cores] |",
            "| --- " * 10 + "|",
            *rows,
            "",
            *(
                f"- {program} by {name}: "
                + ", ".join(f"{label} {start:g} to {stop:g} cores" for label, start, stop in some)
                for (program, name), some in found.items()
            ),
            "",
            f"Target: wall times within {DIFFERENCE_TARGET:.0%} of the kernel's, and the same "
            f"phases; largest difference {max(differences):.1%}, phases "
            f"{'the same' if all(same.values()) else '**different**'}; "
            f"{'met' if met else '**missed**'}.",
            "",
        ]
    )


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="trials of each program, limit and mechanism"
    )
    parser.add_argument(
        "--ahead", action="store_true", help="ahead of all else on the machine (root)"
    )
    options = parser.parse_args()
    page = report(measure(options.rounds, options.ahead), options.ahead)
    REPORT.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
