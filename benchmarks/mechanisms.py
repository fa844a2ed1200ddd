"""Measure how often a planted mechanism is named, and a wrong one, and what the account costs;
write the page.

    python benchmarks/mechanisms.py [--seeds N] [--only PROGRAM]

Each program stops scaling by one mechanism (planted_mechanisms.py) and is really run, so neighbours
matter. Writes docs/benchmarks/mechanisms.md; of it only what stands under the heading "By hand" is
typed, and kept.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from harness import MOST_TURNS, cpu_s, quiet
from planted_mechanisms import PLANTED, TRUST, Planted, built, cannot_show, pace, trials
from scipy.optimize import curve_fit
from whole_commands import verdict

import deadzone
from deadzone.measurement import Command
from deadzone.run.targets.interference import read_machine
from deadzone.run.targets.local import LocalTarget
from deadzone.store.provenance import cpu_model, usable_cores
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "mechanisms.md"
BY_HAND = "\n## By hand\n"
REPLICATES = 5
SEEDS = 20
LEAST_NAMED, MOST_WRONG = 0.9, 0.01

WORKERS = ("threads", "cpu_limit")
"""Knobs over which the Universal Scalability Law says anything."""

TELLS = 0.1
"""A term of the law that makes the job take a tenth longer at the last level is one that its reader
sees."""

TURNS, TRIALS_A_TURN = 20, 20
COST_TARGET_MS, COST_TARGET_SHARE = 1.0, 0.01
BUSY_THREADS = 4


@dataclass
class Row:
    """What was found of one program, over its runs."""

    runs: int = 0
    named: int = 0
    wrong: int = 0
    undecided: int = 0
    others: int = 0
    untrusted: int = 0
    trials: int = 0
    law: Counter[str] | None = None


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument(
        "--only", action="append", choices=PLANTED, help="of the page, the rows to write anew"
    )
    asked = parser.parse_args()
    if asked.only:
        return _rows_anew(asked.only, asked.seeds)
    seeds = asked.seeds
    load, began = os.getloadavg()[0], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        if program is None:
            print("No C compiler; install gcc.")
            return 1
        rows = [_line(name, program, seeds) for name in PLANTED]
        costs = _costs(program)
    page = [
        "# Which mechanism is named for a phase",
        "",
        "Written by `benchmarks/mechanisms.py`; only what stands under *By hand* is typed.",
        "",
        f"deadzone {deadzone.__version__}; {datetime.datetime.now(datetime.UTC):%Y-%m-%d}; "
        f"{usable_cores()} cores of {cpu_model()}, Linux {os.uname().release}; load of the machine "
        f"{load:.1f} before and {os.getloadavg()[0]:.1f} after (a quiet one has about 0); "
        f"{(time.monotonic() - began) / 60:.0f} minutes.",
        "",
        f"Each program is run at 3 levels with {REPLICATES} trials each, {seeds} times; a trial "
        f"that neighbours disturbed is measured again, up to {TRUST.max_attempts} times in all. "
        "Named: the planted mechanism is confirmed for some phase, or, where it scales to the "
        "end, none is. Wrong: one is confirmed that is neither planted nor honestly right beside "
        "it. Open: of those that would be wrong, the share of verdicts that stay undecided. Where "
        "more threads compute at once than there are cores, some are ready and find none, so "
        "`cpu_full` is right too. Memory beyond its limit is read from the disk again, which is "
        "work of the kernel and a wait for the disk too. Threads of Python that wait for a "
        "connection take CPU time to hand over the interpreter.",
        "",
        "USL: what the Universal Scalability Law (Gunther 2007, Guerrilla Capacity Planning), "
        "fitted to the same trials by least squares, shows its reader: contention or coherency "
        f"where that term makes the job take {TELLS:.0%} longer at the last level.",
        "",
        "| program | mechanism | right too | runs | named | wrong | open | trials not trusted | "
        "USL |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
        _targets(rows),
        "",
        *costs,
    ]
    _, heading, typed = (PAGE.read_text(encoding="utf-8") if PAGE.exists() else "").partition(
        BY_HAND
    )
    text = "\n".join(page) + "\n" + heading + typed
    print(text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def _rows_anew(names: list[str], seeds: int) -> int:
    """Measure some programs, and put their rows into the page in place of the old ones."""
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        assert program, "no C compiler"
        rows = {name: _line(name, program, seeds) for name in names}
    told = (
        f"Measured anew on {datetime.datetime.now(datetime.UTC):%Y-%m-%d} with later code, load "
        f"{os.getloadavg()[0]:.1f}: "
    )
    lines = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        name = line.split(" | ")[0].removeprefix("| ")
        again = [told + ", ".join(names) + ".", ""] if line.startswith("USL: ") else []
        lines += [*again, rows.get(name, line) if line.startswith("| ") else line]
    lines = [_targets(lines) if line.startswith("Targets:") else line for line in lines]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _targets(rows: list[str]) -> str:
    """Whether each program that can be shown is named often enough, and others seldom enough, by
    the rows of the table."""
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    shown = [one for one in cells if one[:1] and one[0] in PLANTED and one[3].isdigit()]
    missed = [
        f"{one[0]} ({one[4]} of {one[3]})"
        for one in shown
        if int(one[4]) < LEAST_NAMED * int(one[3])
    ]
    wrong, runs = (sum(int(one[place]) for one in shown) for place in (5, 3))
    named = f"missed by {', '.join(missed)}" if missed else "met"
    return (
        f"Targets: each program named in at least {LEAST_NAMED:.0%} of its runs: {named}. A wrong "
        f"one confirmed in at most {MOST_WRONG:.0%} of all runs: {wrong} of {runs}; "
        f"{verdict(wrong <= MOST_WRONG * runs)}."
    )


def _line(name: str, program: Path, seeds: int) -> str:
    of = PLANTED[name]
    began = time.monotonic()
    if reason := cannot_show(program, of):
        return f"| {name} | {of.names} | | not here: {' '.join(reason.split())} | | | | | |"
    row = _row(program, of, seeds)
    beside = ", ".join(sorted(of.right - {of.names}))
    law = (
        ", ".join(f"{said} {n}" for said, n in (row.law or Counter()).most_common())
        or "no number of workers"
    )
    print(
        f"{name}: named {row.named}, wrong {row.wrong} of {row.runs}; "
        f"{time.monotonic() - began:.0f} s",
        file=sys.stderr,
    )
    return (
        f"| {name} | {of.names or 'none'} | {beside} | {row.runs} | {row.named} | {row.wrong} | "
        f"{row.undecided / max(row.others, 1):.0%} | {row.untrusted} of {row.trials} | {law} |"
    )


def _row(program: Path, of: Planted, seeds: int) -> Row:
    row = Row(runs=seeds, law=Counter() if of.knob in WORKERS else None)
    for seed in range(seeds):
        frame = trials(program, of, REPLICATES, seed)
        model = deadzone.fit_phases(frame, of.knob, "wall_s", keep_untrusted=True)
        table = deadzone.explain_phases(frame, model).table
        confirmed = set(table["mechanism"][table["verdict"] == "confirmed"])
        row.named += of.names in confirmed if of.names else not confirmed
        row.wrong += bool(confirmed - of.right)
        rest = table[~table["mechanism"].isin(of.right)]
        row.undecided += int((rest["verdict"] == "undecided").sum())
        row.others += len(rest)
        row.untrusted += int((~frame["trusted"]).sum())
        row.trials += len(frame)
        if row.law is not None:
            row.law[_law(frame, of.knob)] += 1
    return row


def _law(frame: pd.DataFrame, knob: str) -> str:
    """Which terms of the Universal Scalability Law a reader sees in trials."""
    n = frame[knob].to_numpy(float) / frame[knob].min()
    wall_s = frame["wall_s"].to_numpy(float)

    def log_wall(n: np.ndarray, log_one: float, contention: float, coherency: float) -> np.ndarray:
        return log_one + np.log((1 + contention * (n - 1) + coherency * n * (n - 1)) / n)

    start = (float(np.log(wall_s[n == 1].mean())), 0.1, 0.01)
    bounds = ((-np.inf, 0, 0), (np.inf, np.inf, np.inf))
    (_, contention, coherency), _ = curve_fit(log_wall, n, np.log(wall_s), start, bounds=bounds)
    most = n.max()
    terms = {"contention": contention * (most - 1), "coherency": coherency * most * (most - 1)}
    return " and ".join(name for name, term in terms.items() if term >= TELLS) or "neither"


def _costs(program: Path) -> list[str]:
    """The section on what an account costs a trial, with and without it in turns."""
    commands = {
        "`true`": Command(("true",)),
        f"{BUSY_THREADS} busy threads": Command(
            (str(program), "none", str(BUSY_THREADS), str(round(40_000_000 * pace(program))))
        ),
    }
    lines = [
        "## What the account costs a trial",
        "",
        f"Turns of trials with the account and with `account: off`, {TRIALS_A_TURN} of `true` or "
        "one of threads that are looked at; turns in which others used the machine are left out. "
        "Added: time of a trial in all, setting up and reading included, the difference of the "
        "medians. Wall time: the same of what the program took.",
        "",
        "| program | turns | added a trial | its wall time | longer by | target |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, command in commands.items():
        taken = _in_turns(command, TRIALS_A_TURN if name == "`true`" else 1)
        if not taken[True]:
            lines.append(f"| {name} | 0 | others used the machine in every turn | | | |")
            continue
        (with_ms, wall_s), (without_ms, bare_s) = (
            [median(one[i] for one in taken[account]) for i in (0, 1)] for account in (True, False)
        )
        added_ms, longer = with_ms - without_ms, wall_s / bare_s - 1
        met = added_ms <= COST_TARGET_MS if name == "`true`" else longer <= COST_TARGET_SHARE
        target = (
            f"at most {COST_TARGET_MS:g} ms"
            if name == "`true`"
            else f"at most {COST_TARGET_SHARE:.0%}"
        )
        lines.append(
            f"| {name} | {len(taken[True])} | {added_ms:.2f} ms | {1000 * wall_s:.2f} ms | "
            f"{longer:+.2%} | {target}; {verdict(met)} |"
        )
    return lines


def _in_turns(command: Command, trials_a_turn: int) -> dict[bool, list[tuple[float, float]]]:
    """Time of a trial in all [ms] and its wall time [s], medians of each turn, with and without the
    account."""
    taken: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    targets = {account: LocalTarget(LocalTargetSpec(account=account)) for account in taken}
    with targets[True], targets[False]:
        for turn in range(MOST_TURNS * TURNS):
            found = {
                account: _turn(targets[account], command, trials_a_turn)
                for account in (turn % 2 == 0, turn % 2 != 0)
            }
            if all(found.values()):
                for account, one in found.items():
                    taken[account].append(one)  # type: ignore[arg-type]
            if len(taken[True]) >= TURNS:
                break
    return taken


def _turn(target: LocalTarget, command: Command, n: int) -> tuple[float, float] | None:
    """Of some trials; None if others used the machine."""
    target.prepare(Treatment({"cpu_limit": "none"}))
    before, own, began = read_machine(), cpu_s(), time.perf_counter()
    measured = [target.execute(command, 60) for _ in range(n)]
    took_ms = 1000 * (time.perf_counter() - began) / n
    used = cpu_s() - own + sum((one.user_s or 0.0) + (one.sys_s or 0.0) for one in measured)
    return (took_ms, median(one.wall_s for one in measured)) if quiet(before, used) else None


if __name__ == "__main__":
    sys.exit(main())
