"""The trials of a run as an OpenMetrics series, so that a dashboard can mark when each of them ran.

`promtool tsdb create-blocks-from openmetrics` puts the text into a Prometheus; deploy/grafana asks for it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

NAME = "deadzone_trial"

HEAD = (
    f"# TYPE {NAME} gauge",
    f"# HELP {NAME} 1 while a trial of a run was measured, 0 at its end.",
)

STEP_S = 60.0
"""Prometheus looks back five minutes for a sample: one a minute keeps a long trial alive, and the 0 ends it [s]."""


def as_openmetrics(trials: pd.DataFrame, study: str, factors: Sequence[str]) -> str:
    """The text of the series, one for each trial, samples in the order of time.

    trials: a tidy table. Raises nothing; trials without a time of start are left out.
    """
    lines = list(HEAD)
    for row in trials.to_dict("records"):
        lines += _series({str(name): value for name, value in row.items()}, study, factors)
    return "\n".join((*lines, "# EOF")) + "\n"


def _series(row: dict[str, Any], study: str, factors: Sequence[str]) -> Iterator[str]:
    if not isinstance(row["started_at"], str):
        return
    begin = datetime.fromisoformat(row["started_at"]).timestamp()
    length = row["wall_s"] if row["wall_s"] == row["wall_s"] else 0.0  # a lost trial has no wall time
    labels = {
        "study": study,
        "run_id": row["run_id"],
        "trial": row["trial"],
        "attempt": row["attempt"],
        "status": row["status"],
        "treatment": " ".join(f"{name}={_level(row[name])}" for name in factors),
    }
    named = ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items())
    after = 0.0
    while after < length:
        yield f"{NAME}{{{named}}} 1 {begin + after:.3f}"
        after += STEP_S
    yield f"{NAME}{{{named}}} 0 {begin + length:.3f}"


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
