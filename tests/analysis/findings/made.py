"""Tables of trials as a sweep would have measured them, made from a seed, to plant mistakes in."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding
from deadzone.analysis.findings.examining import CATALOGUE, CHECKS, examine
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.phases.fit import fit_phases

LEVELS = (1, 2, 3, 4, 6, 8)


def sound_trials(
    seed: int,
    noise: float = 0.03,
    replicates: int = 5,
    levels: tuple[float, ...] = LEVELS,
    tails: str = "normal",
) -> pd.DataFrame:
    """A randomised sweep of a program that does the same work at every level, and scales until 4.

    noise: standard deviation of ln(wall_s). tails: `normal`, `heavy` (Student's t, three degrees of
    freedom) or `skewed` (exponential: slower, never much faster).
    """
    rng = np.random.default_rng(seed)
    order = [(block, level) for block in range(replicates + 1) for level in rng.permutation(levels)]
    shape = (len(order), 3)
    draw = {
        "normal": lambda: rng.standard_normal(shape),
        "heavy": lambda: rng.standard_t(3, shape) / np.sqrt(3),
        "skewed": lambda: rng.standard_exponential(shape) - 1,
    }[tails]()
    rows = []
    for i, (block, level) in enumerate(order):
        scatter = np.exp(noise * draw[i])
        wall = (0.05 + 1 / min(level, 4)) * scatter[0]
        cpu = 0.9 * scatter[1]
        rows.append({
            "trial": i + 1, "block": block, "warmup": block == 0, "n": int(level),
            "started_at": (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=i)).isoformat(),
            "wall_s": wall, "user_s": 0.9 * cpu, "sys_s": 0.1 * cpu, "cpu_efficiency": cpu / wall,
            "foreign_cpu": abs(0.02 * draw[i, 2]),
            "max_rss_bytes": int(15e6 + 1e4 * level + rng.integers(0, 3) * 4096),
            "voluntary_switches": int(5 + 3 * level + rng.integers(0, 3)),
            "minor_faults": int(1800 + 5 * level + rng.integers(0, 4)),
        })  # fmt: skip
    return pd.DataFrame(rows).assign(
        attempt=1, exit_code=0, status="ok", trusted=True, left_running=0, io_read_bytes=812467,
        io_written_bytes=12, stdout_bytes=12, stdout_lines=1, stderr_lines=0, error_lines=0,
        printed_units="", items=1000.0,
    )  # fmt: skip


def plain_trials(seed: int = 1) -> pd.DataFrame:
    """A sound table without the columns that a sweep adds."""
    return sound_trials(seed)[["trial", "n", "wall_s"]]


Change = Callable[[pd.DataFrame], pd.DataFrame]
Column = Callable[[pd.DataFrame], Any]


def where(rows: Column, **columns: Any) -> Change:
    """A change of a table: columns in the rows that `rows` of the table tells; a function of the
    table, or a value."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        here = rows(table)
        of = {name: value(table) if callable(value) else value for name, value in columns.items()}
        return table.assign(**{name: np.where(here, of[name], table[name]) for name in of})

    return change


def times(name: str, factor: float) -> Column:
    return lambda table: table[name] * factor


def some(table: pd.DataFrame) -> np.ndarray:
    """The trials that chance chooses."""
    return np.random.default_rng(5).random(len(table)) < 0.4


def thrown_out(table: pd.DataFrame) -> pd.Series:
    return (table.index % 3 == 0) & ~table["warmup"]


def after_large(table: pd.DataFrame) -> pd.Series:
    return table["n"].shift(1, fill_value=0) >= 4


def asleep(table: pd.DataFrame, awake: float = 0.0) -> pd.DataFrame:
    used = table[["user_s", "sys_s"]] * 0.1
    wall = used.sum(axis=1) + 0.6
    return table.assign(voluntary_switches=2, wall_s=wall, ready_s=awake, **used)


def found(
    table: pd.DataFrame,
    response: str = "wall_s",
    goal: str = "min",
    *,
    knob: str = "n",
    model: bool = False,
    accept: dict[str, str] | None = None,
    only: str = "",
    **facts: Any,
) -> dict[str, Finding]:
    """What is found in a table, by its key; with the phases where `model` says so. only: the key of
    a check that is made alone, for all of them take long; it is corrected for no other."""
    fitted = fit_phases(table, knob, response, goal) if model else None
    seen = Experiment(table, knob, response, goal, model=fitted, **{"cores": 8, **facts})
    checks = [CATALOGUE[only].check] if only else CHECKS
    return {one.key: one for one in examine(seen, accept, checks)}
