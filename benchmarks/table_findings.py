"""What a table says beside its curve: how often a planted fault is found, and how often a sound
table is suspected.

Drawn curves (`benchmarks/synthetic`) are the tables. A sound one carries columns that mean no harm:
a compiler, a host drawn for each trial, memory, errors far below the bound, a request count. Into
each of them every fault is planted once. Beside them the sweeps that people published
(`data/reference/published-curves`), of which nothing is known but the knob and the response.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from synthetic.curves import OTHER_TIERS, TIERS, Curve, draw_tier  # noqa: E402

from deadzone.analysis.findings.examining import examine  # noqa: E402
from deadzone.analysis.findings.experiment import Experiment  # noqa: E402

PAGE = HERE.parent / "docs" / "benchmarks" / "table_findings.md"
CASES = HERE.parent / "data" / "reference" / "published-curves"
KNOB, RESPONSE = "pool_size", "time_s"
"""Drawn curves gain faster than threads can, which is a fault of its own: the knob is another one,
but where a fault is of threads."""
FIRST_SEED = 20261205
"""The checks were made and changed on curves of the seeds from 7000, 20261127, 31000000 and
32000000 on; of these seeds none was looked at."""

CHECKS = (
    "errors_by_level", "impossible_numbers", "contradicting_numbers", "levels_confounded",
    "other_factor", "work_differs", "work_size",
)  # fmt: skip


def sound(curve: Curve, rng: np.random.Generator) -> pd.DataFrame:
    """A drawn curve with columns that mean no harm."""
    n = len(curve.x)
    table = pd.DataFrame({KNOB: curve.x, RESPONSE: curve.y})
    return table.assign(
        compiler="gcc-13",
        host=rng.choice(["a", "b"], n),
        peak_mb=np.round(100 * np.exp(0.1 * rng.standard_normal(n)), 1),
        requests=10_000,
        errors=rng.poisson(20, n),
    )


def _upper(table: pd.DataFrame) -> np.ndarray:
    return (table[KNOB] > table[KNOB].median()).to_numpy()


def failing(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """6 to 90 % of the requests fail at the upper levels."""
    return table.assign(errors=np.where(_upper(table), round(10_000 * rng.uniform(0.06, 0.9)), 0))


def below_zero(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """-1 at the largest level."""
    return table.assign(**{RESPONSE: table[RESPONSE].where(table[KNOB] < table[KNOB].max(), -1.0)})


def divided(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The tool divides the time of each trial by the knob, and counts that many iterations."""
    return table.assign(iterations=table[KNOB], **{RESPONSE: table[RESPONSE] / table[KNOB]})


def moved(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The upper levels run on another machine."""
    return table.assign(machine=np.where(_upper(table), "new", "old"))


def mixed(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Every second trial of a level has the other codec, which takes 1.2 to 3 times as long."""
    second = (table.groupby(KNOB).cumcount() % 2).to_numpy(bool)
    factor = np.where(second, rng.uniform(1.2, 3.0), 1.0)
    return table.assign(codec=np.where(second, "b", "a"), **{RESPONSE: table[RESPONSE] * factor})


def more_work(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The upper levels do ten times the iterations."""
    return table.assign(iterations=np.where(_upper(table), 1000, 100))


Fault = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]
FAULTS: dict[str, Fault] = {
    "errors_by_level": failing, "impossible_numbers": below_zero, "contradicting_numbers": divided,
    "levels_confounded": moved, "other_factor": mixed, "work_differs": more_work,
}  # fmt: skip


def keys(table: pd.DataFrame, knob: str, response: str, goal: str) -> dict[str, str]:
    """The findings of a table with their severity; without a curve, as none of these checks needs
    one."""
    return {one.key: one.severity for one in examine(Experiment(table, knob, response, goal))}


def published() -> tuple[Counter[str], int, int, int]:
    """Findings of the published sweeps of settings and their number; and how many of the sizes of
    work are told as such."""
    index = pd.read_csv(CASES / "index.csv")
    alarms: Counter[str] = Counter()
    told = works = 0
    for row in index.itertuples(index=False):
        table = pd.read_csv(CASES / "cases" / f"{row.name}.csv")
        found = keys(table, str(table.columns[0]), str(table.columns[1]), str(row.goal))
        if row.is_work_size == "yes":
            works += 1
            told += "work_size" in found
        else:
            alarms.update(set(CHECKS) & set(found))
    return alarms, len(index) - works, told, works


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", type=int, default=12, help="drawn curves of each tier")
    count = parser.parse_args().curves
    tiers = TIERS | OTHER_TIERS
    curves = [curve for tier in tiers for curve in draw_tier(tier, count, FIRST_SEED)]
    alarms: Counter[str] = Counter()
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    suspected = 0
    for seed, curve in enumerate(curves):
        rng = np.random.default_rng(FIRST_SEED + seed)
        table = sound(curve, rng)
        said = set(keys(table, KNOB, RESPONSE, "min")) & set(CHECKS)
        alarms.update(said)
        suspected += bool(said)
        for key, plant in FAULTS.items():
            if key == "other_factor" and table[KNOB].duplicated().sum() == 0:
                continue  # one trial a level is split by nothing
            planted[key] += 1
            knob = "threads" if key == "contradicting_numbers" else KNOB
            wrong = plant(table, rng).rename(columns={KNOB: knob})
            found[key] += key in keys(wrong, knob, RESPONSE, "min")
    real, sweeps, told, works = published()
    rows = [
        f"| `{key}` | {_share(found[key], planted[key])} | {_share(alarms[key], len(curves))} | "
        f"{_share(real[key], sweeps)} |"
        for key in CHECKS
    ]
    PAGE.write_text(
        "\n".join(
            [
                "# What a table says beside its curve", "", *(__doc__ or "").split("\n\n")[1].split("\n"), "",  # noqa: E501
                f"{len(curves)} drawn curves of {len(tiers)} tiers, seeds from {FIRST_SEED} on; " f"{sweeps} published sweeps " f"of"  # noqa: E501
                " settings. Wanted: 95 % found, at most 2 % false alarms a check and 5 % of tables " "in all. Made by"  # noqa: E501
                " `benchmarks/table_findings.py`.", "",
                "| check | planted faults found | sound drawn tables suspected | published " "settings suspected |",  # noqa: E501
                "| --- | --- | --- | --- |", *rows,
                f"| any of them | | {_share(suspected, len(curves))} | |", "",
                f"Of {works} published sizes of work {told} are told as such, or asked about; the " f"checks of names were made with"  # noqa: E501
                " these at hand. Further names are in "
                "`tests/analysis/findings/test_work_size.py`.", "",
            ]
        )
    )  # fmt: skip
    print(PAGE.read_text())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of {whole}" if whole else "-"


if __name__ == "__main__":
    main()
