"""Trials that do less, nothing, or as much as a set time allows: how often that is found, and how
often a sound sweep is suspected.

Drawn curves (`benchmarks/synthetic`) are the time of a trial; around each a sweep is drawn with CPU
time, bytes and what the program prints of its work. Half of the programs print a count: the same in
each trial, one that goes with the knob, or one that scatters with the time of the trial about the
same at every level. Sound sweeps have what looks like a fault and is none: a setting that needs
less CPU time, down to a twentieth; a program that mostly waits; a plateau at which all levels take
the same time and do the same; threads that spin while they wait. Into each sweep every fault is
planted once. The thresholds are then halved and doubled one by one, on the same sweeps. On 65
curves of other seeds 7.7 % of the sweeps that need less CPU were suspected and 6.2 % of those that
mostly wait; since then a level must also be over within STARTED_S.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from synthetic.curves import OTHER_TIERS, TIERS, Curve, draw_tier  # noqa: E402

from deadzone.analysis.findings import counts  # noqa: E402
from deadzone.analysis.findings.experiment import Experiment  # noqa: E402

PAGE = HERE.parent / "docs" / "benchmarks" / "work_findings.md"
FIRST_SEED = 20261129
"""The checks were made on tables written by hand, and changed by curves of the seeds from 20261128,
20261203, 20261204, 555000 and 777000 on; none of these was looked at."""

KNOB = "n"
REPLICATED = tuple(name for name, tier in (TIERS | OTHER_TIERS).items() if tier.replicates > 1)
"""One trial a level shows nothing that the checks count as sure."""

CHECKS = {"less_work": counts.less_work, "fixed_duration": counts.fixed_duration}
SOUND_LOOKS = ("plain", "less CPU", "mostly waits", "flat", "flat and spins")
"""What a sound sweep looks like; the last is a set time in all but its seconds, and has a row of
its own."""


def sweep(curve: Curve, look: str, rng: np.random.Generator) -> pd.DataFrame:
    """A sound sweep around a drawn curve, its median trial of half a second to twenty."""
    n, knob = len(curve.x), curve.x
    wall = curve.y / np.median(curve.y) * np.exp(rng.uniform(np.log(0.5), np.log(20)))
    if look.startswith("flat"):
        wall = np.median(wall) * np.exp(rng.choice([0.002, 0.01, 0.03]) * rng.standard_normal(n))
    level = np.searchsorted(curve.levels, knob)
    cpu = (
        np.median(wall)
        * rng.uniform(0.3, 1.0)
        * np.exp(rng.uniform(-0.1, 0.4) * np.log(knob / knob.min()))
    )
    if look == "less CPU":  # better settings need less of it, in steps or all along
        cpu = (
            wall * np.exp(np.linspace(0, np.log(rng.uniform(0.05, 0.8)), len(curve.levels)))[level]
        )
    elif look == "mostly waits":
        cpu = wall * rng.uniform(0.01, 0.1)
    elif look == "flat and spins":
        cpu = wall * np.minimum(knob / knob.min(), 16) * 0.9
    cpu = cpu * np.exp(rng.choice([0.01, 0.05]) * rng.standard_normal(n))
    table = pd.DataFrame({KNOB: knob, "wall_s": wall, "user_s": 0.9 * cpu, "sys_s": 0.1 * cpu})
    return table.assign(trial=np.arange(1, n + 1), io_read_bytes=rng.choice([29_134, 50_000_000]), io_written_bytes=12,  # noqa: E501
                        printed_work=printed(table, rng))  # fmt: skip


def printed(table: pd.DataFrame, rng: np.random.Generator) -> list[str]:
    """What a sound program prints of its work in each trial."""
    kind, n = rng.choice(["", "", "same", "knob", "time"]), len(table)
    if not kind:
        return [""] * n
    late = table["wall_s"] / table.groupby(KNOB)["wall_s"].transform("median")
    base = {"same": 5000 + 0 * late, "knob": 240 * table[KNOB], "time": 5000 * late}[str(kind)]
    return [f"rows_processed={round(value)}" for value in base]


def _upper(table: pd.DataFrame) -> np.ndarray:
    return (table[KNOB] > table[KNOB].median()).to_numpy()


def _scaled(table: pd.DataFrame, where: np.ndarray, wall: float, cpu: float) -> pd.DataFrame:
    """The times of some trials by factors."""
    return table.assign(wall_s=table["wall_s"] * np.where(where, wall, 1),
                        **{name: table[name] * np.where(where, cpu, 1) for name in ("user_s", "sys_s")})  # fmt: skip  # noqa: E501


def says_less(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The upper levels process 10 to 90 % of the rows, print that, and take as much less time."""
    share, where = rng.uniform(0.1, 0.9), _upper(table)
    rows = np.where(where, round(5000 * share), 5000)
    return _scaled(table, where, share, share).assign(
        printed_work=[f"rows_processed={one}" for one in rows]
    )


def says_nothing(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """One level processes no row, prints that, and ends at once."""
    where = (table[KNOB] == rng.choice(table[KNOB].unique())).to_numpy()
    rows = np.where(where, 0, 5000)
    return _scaled(table, where, 0.1, 0.1).assign(
        printed_work=[f"rows_processed={one}" for one in rows]
    )


def idles(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The upper levels do nothing and print nothing: they start up, 5 to 20 ms, beside trials of
    half a second of CPU or more."""
    where, start = _upper(table), rng.uniform(0.005, 0.02)
    busy = np.maximum(table["wall_s"], 0.6)
    cpu = np.where(where, start, 0.8 * busy) * np.exp(0.05 * rng.standard_normal(len(table)))
    return table.assign(wall_s=np.where(where, start * 1.5, busy), user_s=0.9 * cpu, sys_s=0.1 * cpu, printed_work="",  # noqa: E501
                        io_read_bytes=29_134)  # fmt: skip


def _set_time(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    wall = rng.choice([1.0, 2.0, 10.0]) * np.exp(
        rng.choice([0.0005, 0.003, 0.015]) * rng.standard_normal(len(table))
    )
    return table.assign(wall_s=wall, user_s=0.7 * wall, sys_s=0.05 * wall)


def counts_a_rate(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Every trial runs for a set time and prints as many events as it got done, by the curve, with
    1 to 15 % of scatter."""
    rate = (
        table["wall_s"].median()
        / table["wall_s"]
        * np.exp(rng.uniform(0.01, 0.15) * rng.standard_normal(len(table)))
    )
    fixed = _set_time(table, rng)
    done = np.round(20_000 * rate * fixed["wall_s"]).astype(int)
    return fixed.assign(printed_work=[f"events={one}" for one in done])


def burns_more(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Every trial runs for a set time, prints nothing, and its CPU time grows with the knob up to 4
    to 16 cores."""
    fixed = _set_time(table, rng)
    cores = np.minimum(table[KNOB] / table[KNOB].min(), rng.integers(4, 17)) * 0.95
    cpu = fixed["wall_s"] * cores * np.exp(0.02 * rng.standard_normal(len(table)))
    return fixed.assign(user_s=0.95 * cpu, sys_s=0.05 * cpu, printed_work="")


Fault = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]
FAULTS: dict[str, tuple[str, Fault]] = {
    "rows processed fall": ("less_work", says_less),
    "one level processes none": ("less_work", says_nothing),
    "upper levels only start up": ("less_work", idles),
    "a set time, events counted": ("fixed_duration", counts_a_rate),
    "a set time, CPU time alone": ("fixed_duration", burns_more),
}
Spread = tuple[tuple[float, float], ...]
HALVED: dict[str, tuple[Any, ...]] = {
    "NOTHING": (counts.NOTHING / 2, counts.NOTHING * 2),
    "LEAST_APART": (counts.LEAST_APART / 2, counts.LEAST_APART * 2),
    "STARTED_S": (counts.STARTED_S / 2, counts.STARTED_S * 2),
    "GOES_WITH": (counts.GOES_WITH / 2, 0.9),
    "IN_STEP": (counts.IN_STEP / 2, 0.95),
    "EXACT": (counts.EXACT / 2, counts.EXACT * 2),
    "START_UP": tuple(tuple(part * by for part in counts.START_UP) for by in (0.5, 2.0)),
    "SAME_TIME": tuple(
        tuple((1 + (most - 1) * by, least / by) for most, least in counts.SAME_TIME)
        for by in (0.5, 2.0)
    ),
}
"""Each threshold at half and at twice (0.9 of a correlation, 0.95 of an elasticity)."""


def keys(table: pd.DataFrame) -> dict[str, str]:
    """What the checks of work find beyond a note, with its severity, each by its own p-value."""
    seen = Experiment(table, KNOB, "wall_s")
    found = {}
    for key, check in CHECKS.items():
        for one in check(seen):
            severity = one.severity or ("stops" if key == "less_work" else "doubts")
            if one.weight and one.p <= 0.02 and severity != "notes":
                found[key] = severity
    return found


@contextmanager
def threshold(name: str, value: Any) -> Iterator[None]:
    """A threshold of the checks for a while."""
    usual = getattr(counts, name)
    setattr(counts, name, value)
    try:
        yield
    finally:
        setattr(counts, name, usual)


Case = tuple[str, str, pd.DataFrame]


def drawn(count: int) -> list[Case]:
    """Sound sweeps and those with a fault: name, the key that should be found (none of a sound
    one), and the table."""
    found: list[Case] = []
    curves = [one for tier in REPLICATED for one in draw_tier(tier, count, FIRST_SEED)]
    for seed, curve in enumerate(curves):
        rng = np.random.default_rng(FIRST_SEED + seed)
        tables = {look: sweep(curve, look, rng) for look in SOUND_LOOKS}
        found += [(look, "", table) for look, table in tables.items()]
        found += [(name, key, plant(tables["plain"], rng)) for name, (key, plant) in FAULTS.items()]
    return found


def measured(cases: list[Case]) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """How often each fault is found, and how often each look of a sound sweep is suspected, by
    key."""
    found: Counter[str] = Counter()
    alarms: Counter[tuple[str, str]] = Counter()
    for name, key, table in cases:
        said = keys(table)
        found[name] += bool(key) and key in said
        alarms.update((name, one) for one in said if not key)
    return found, alarms


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of {whole}"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", type=int, default=6, help="drawn curves of each tier")
    cases = drawn(parser.parse_args().curves)
    number = len(cases) // (len(SOUND_LOOKS) + len(FAULTS))
    found, alarms = measured(cases)
    faults = [
        f"| {name} | `{key}` | {_share(found[name], number)} |" for name, (key, _) in FAULTS.items()
    ]
    sound = [
        f"| {look} | {_share(alarms[look, 'less_work'], number)} | "
        f"{_share(alarms[look, 'fixed_duration'], number)} |"
        for look in SOUND_LOOKS
    ]
    around = []
    for name, values in HALVED.items():
        for word, value in zip(("half", "twice"), values, strict=True):
            with threshold(name, value):
                hits, wrong = measured(cases)
            told = " | ".join(f"{hits[fault] / number:.1%}" for fault in FAULTS)
            usual = sum(n for (look, _), n in wrong.items() if look != SOUND_LOOKS[-1])
            around.append(
                f"| `{name}` | {word} | {told} | {usual / (number * (len(SOUND_LOOKS) - 1)):.1%} |"
            )
    intro = " ".join((__doc__ or "").split("\n\n", 1)[1].split())
    PAGE.write_text(
        "\n".join(
            [
                "# Trials that do less, nothing, or as much as a set time allows", "", intro, "",
                f"{number} drawn curves of {len(REPLICATED)} tiers with two trials a level or " f"more, seeds from {FIRST_SEED} on. " f"Wanted: " f"95 " f"% " f"found, " f"at"  # noqa: E501
                " most 2 % false alarms. Made by `benchmarks/work_findings.py`.", "",
                "| planted | check | found |", "| --- | --- | --- |", *faults, "",
                "| sound sweep | `less_work` | `fixed_duration` |", "| --- | --- | --- |", *sound, "",  # noqa: E501
                f"| threshold | at | {' | '.join(FAULTS)} | sound, without the last row |",
                "| --- | --- | " + "--- | " * (len(FAULTS) + 1), *around, "",
            ]
        )
    )  # fmt: skip
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
