"""The tables of a sweep's report, as texts with units and sensible digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.phases.candidates import level_text
from deadzone.phases.quantities import axis_label, number, percent, plain_name, response
from deadzone.report.display import Table
from deadzone.report.figures import positions
from deadzone.report.source import Source
from deadzone.style import PHASE_STYLES

if TYPE_CHECKING:
    from deadzone.phases.model import PhaseModel

MAD_TO_SIGMA = 1.4826
"""Makes the median absolute deviation of normal data estimate their standard deviation."""

PROVENANCE_ROWS = {
    "run_id": "run",
    "recorded_at": "measured at (UTC)",
    "host": "host",
    "cpu_model": "processor",
    "cores_usable": "cores usable",
    "memory_bytes": "memory (bytes)",
    "operating_system": "system",
    "kernel": "kernel",
    "virtualised": "virtual machine",
    "limits_mechanism": "limit put in force by",
    "scratch": "trials write to",
    "program_version": "program",
    "clip": "clip",
    "clip_frames": "frames in the clip",
    "clip_sha256": "clip SHA-256",
    "load_average_1min": "load average at the start",
    "git_commit": "git commit",
    "git_changed": "changed since the commit",
}
"""Facts shown in a report, in this order, with their names; provenance.json holds all."""


def treatments_table(source: Source, model: PhaseModel) -> Table:
    """One row a level: trials, median, spread, and where measured the cores used and the throttled periods."""
    trials = source.analysed.assign(_position=positions(model, source.analysed))
    rows = [_treatment(model, position, group) for position, group in trials.groupby("_position")]
    frame = pd.DataFrame(rows)
    caption = (
        f"Treatments: median {plain_name(model.response)} and spread (robust standard deviation) of the trials at each "
        f"level of {plain_name(model.knob)}."
    )
    return Table(frame, caption, numeric=list(frame.columns))


def _treatment(model: PhaseModel, position: Any, group: pd.DataFrame) -> dict[str, str]:
    values = group[model.response].to_numpy(float)
    middle = float(np.median(values))
    spread = MAD_TO_SIGMA * float(np.median(np.abs(values - middle)))
    row = {
        axis_label(model.knob): level_text(model, float(position)),
        "trials": str(len(group)),
        f"median {axis_label(model.response)}": number(middle, spread or None),
        "spread": number(spread) if len(values) > 1 else "-",
    }
    if "cpu_efficiency" in group and group["cpu_efficiency"].notna().any():
        row["CPU used (cores)"] = f"{group['cpu_efficiency'].median():.2f}"
    if "nr_periods" in group and group["nr_periods"].notna().any():
        periods, throttled = group["nr_periods"].sum(), group["nr_throttled"].sum()
        row["throttled periods (%)"] = f"{100 * throttled / periods:.0f}" if periods else "0"
    return row


def phases_table(model: PhaseModel) -> Table:
    """One row a phase: range, label, total improvement, improvement a unit of the knob, elasticity."""
    unit = plain_name(model.knob)
    rows = []
    for phase in model.phases.to_dict("records"):
        gain = improvement(model, phase["start"], phase["stop"])
        width = phase["stop"] - phase["start"]
        interval = f"{phase['elasticity_low']:.2f} to {phase['elasticity_high']:.2f}"
        rows.append(
            {
                f"range of {axis_label(model.knob)}": f"{_edge(model, phase['start'])} to {_edge(model, phase['stop'])}",
                "phase": PHASE_STYLES[phase["label"]].name,
                "improvement": percent(gain),
                f"improvement per unit of {unit}": percent(gain / width),
                "elasticity": f"{phase['elasticity']:.2f}",
                f"{model.certainty:.0%} interval": interval,
                "probability": percent(phase["probability"]),
            }
        )
    frame = pd.DataFrame(rows)
    return Table(
        frame,
        "Phases: improvement is relative to the phase's start; an elasticity of 1 is perfect scaling, 0 no gain, below 0 harm.",
        numeric=list(frame.columns[2:]),
    )


def _edge(model: PhaseModel, level: float) -> str:
    return level_text(model, float(level))


def improvement(model: PhaseModel, start: float, stop: float) -> float:
    """How much better the fitted response is at stop than at start, as a share of the one at start."""
    fitted = model.levels.set_index("level")["fitted"]
    ratio = float(fitted[stop] / fitted[start])
    return 1 - ratio if model.goal == "min" else ratio - 1


def outliers_table(model: PhaseModel) -> Table | None:
    """The trials that were given less weight, with the reason; None if there are none."""
    if model.outliers.empty:
        return None
    frame = pd.DataFrame(
        {
            "trial": [str(trial) for trial in model.outliers["trial"]],
            axis_label(model.knob): [level_text(model, float(level)) for level in model.outliers["knob"]],
            axis_label(model.response): [number(float(value)) for value in model.outliers["response"]],
            "reason": list(model.outliers["reason"]),
        }
    )
    caption = "Outliers: these trials stay in the data and count for little in the fit."
    return Table(frame, caption, numeric=list(frame.columns[:3]))


def untrusted_table(source: Source) -> Table | None:
    """The attempts that were disturbed, and what disturbed them; None if there are none."""
    rows = source.untrusted
    if rows.empty:
        return None
    frame = pd.DataFrame(
        {
            "trial": rows["trial"].astype(str),
            "attempt": rows["attempt"].astype(str),
            axis_label(source.knob): rows[source.knob].astype(str),
            axis_label(source.response): [number(float(value)) for value in rows[source.response]],
            "reason": rows["distrust_reason"].fillna("").astype(str),
        }
    )
    caption = f"Untrusted trials: {len(rows)} attempts were disturbed from outside; they are kept, and left out of the fit."
    return Table(frame, caption, numeric=list(frame.columns[:4]))


def failed_table(source: Source) -> Table | None:
    """The trials that failed, timed out or were killed; None if there are none."""
    rows = source.failed
    if rows.empty:
        return None
    frame = pd.DataFrame(
        {
            "trial": rows["trial"].astype(str),
            axis_label(source.knob): rows[source.knob].astype(str),
            "status": rows["status"].astype(str),
            "error": rows["error"].fillna("").astype(str),
        }
    )
    return Table(
        frame, f"Failed trials: {len(rows)}; they are kept, and left out of the fit.", numeric=["trial"]
    )


def provenance_table(source: Source) -> Table | None:
    """The circumstances of the run; None for a plain table."""
    facts = {"run_id": source.run_id, **source.provenance}
    rows = [
        (shown, _fact(facts[key])) for key, shown in PROVENANCE_ROWS.items() if facts.get(key) is not None
    ]
    if not source.provenance:
        return None
    return Table(pd.DataFrame(rows, columns=["circumstance", "value"]), "Provenance of the run.")


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def recommended_value(model: PhaseModel, level: float) -> str:
    """The fitted response at a level, with its unit."""
    fitted = model.levels.set_index("level")["fitted"]
    return response(float(fitted[level]), model.response)
