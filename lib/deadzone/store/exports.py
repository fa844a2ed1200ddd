"""Runs for other tools: hyperfine's formats, for whatever already reads those, and the times of
trials as an OpenMetrics series, so that a dashboard can mark when each of them ran.

The keys are those of `hyperfine --export-json` and the columns those of `--export-csv` (hyperfine
1.18). `promtool tsdb create-blocks-from openmetrics` puts the series into a Prometheus;
deploy/grafana asks for it there.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

STATISTICS = ("mean", "stddev", "median", "user", "system", "min", "max")


NAME = "deadzone_trial"

STEP_S = 60.0
"""Prometheus looks back five minutes for a sample: one a minute keeps a long trial alive, and the 0
ends it [s]."""


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


def as_openmetrics(trials: pd.DataFrame, study: str, factors: Sequence[str]) -> str:
    """The text of the series, one for each trial, samples in the order of time.

    trials: a tidy table. Raises nothing; trials without a time of start are left out.
    """
    lines = [
        f"# TYPE {NAME} gauge",
        f"# HELP {NAME} 1 while a trial of a run was measured, 0 at its end.",
    ]
    for row in trials.to_dict("records"):
        lines += _series({str(name): value for name, value in row.items()}, study, factors)
    return "\n".join((*lines, "# EOF")) + "\n"


def _series(row: dict[str, Any], study: str, factors: Sequence[str]) -> Iterator[str]:
    if not isinstance(row["started_at"], str):
        return
    begin = datetime.fromisoformat(row["started_at"]).timestamp()
    # a lost trial has no wall time
    length = row["wall_s"] if row["wall_s"] == row["wall_s"] else 0.0
    labels = {
        "study": study,
        "run_id": row["run_id"],
        "trial": row["trial"],
        "attempt": row["attempt"],
        "status": row["status"],
        "treatment": " ".join(f"{name}={_level(row[name])}" for name in factors),
    }
    named = ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items())
    for after in np.arange(0.0, length, STEP_S):
        yield f"{NAME}{{{named}}} 1 {begin + after:.3f}"
    yield f"{NAME}{{{named}}} 0 {begin + length:.3f}"


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
