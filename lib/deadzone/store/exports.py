"""Runs for other tools: hyperfine's formats, for whatever already reads those.

The keys are those of `hyperfine --export-json` and the columns those of `--export-csv` (hyperfine
1.18).
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

STATISTICS = ("mean", "stddev", "median", "user", "system", "min", "max")


def results(trials: pd.DataFrame, command: str, factors: Sequence[str]) -> list[dict[str, Any]]:
    """One result a treatment, from its analysed trials.

    trials: a tidy table. command: what was run, for readers. Of a treatment of which no trial is
    trusted all are taken, as a report does that says so. Raises nothing; treatments without trials
    are absent.
    """
    measured = trials[~trials["warmup"].fillna(False) & (trials["status"] == "ok")]
    trusted = measured["trusted"].fillna(True).astype(bool)
    any_trusted = trusted.groupby([measured[factor] for factor in factors]).transform("any")
    analysed = measured[trusted | ~any_trusted]
    by_treatment = analysed.groupby(list(factors), sort=False)
    return [
        _result(group, command, dict(zip(factors, levels, strict=True)))
        for levels, group in by_treatment
    ]


def _result(group: pd.DataFrame, command: str, parameters: dict[str, Any]) -> dict[str, Any]:
    walls = group["wall_s"]
    stated = " ".join(f"{name}={value}" for name, value in parameters.items())
    return {
        "command": f"{command} {stated}",
        "mean": float(walls.mean()),
        "stddev": float(walls.std()) if len(walls) > 1 else None,
        "median": float(walls.median()),
        "user": float(group["user_s"].mean()),
        "system": float(group["sys_s"].mean()),
        "min": float(walls.min()),
        "max": float(walls.max()),
        "times": [float(wall) for wall in walls],
        "memory_usage_byte": [int(size) for size in group["max_rss_bytes"]],
        "exit_codes": [int(code) for code in group["exit_code"]],
        "parameters": {name: str(value) for name, value in parameters.items()},
    }


def as_csv(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The results as hyperfine's CSV: command, the statistics, then a column a parameter."""
    table = [
        {key: row[key] for key in ("command", *STATISTICS)}
        | {f"parameter_{name}": value for name, value in row["parameters"].items()}
        for row in rows
    ]
    return pd.DataFrame(table)
