"""Why a job takes the time it takes: the CPU time it needs, and the cores that it keeps busy.

wall time = CPU time / cores used, so every change of the wall time is a change of one or the other.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.mechanisms.parts import NEEDED, WORK, parts_of
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import number
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Figure
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.figures.curves import steps_text
from deadzone.style import INK, MUTED, PHASE_STYLES, TRIAL_COLOUR

FIGURE_IN = 4.2


def cpu_time(rows: pd.DataFrame) -> pd.Series:
    """CPU time of each job [s]: user and system time together."""
    return rows["user_s"] + rows["sys_s"]


def change(rows: pd.DataFrame, knob: str, start: float, stop: float) -> dict[str, float]:
    """What changes between two levels of a curve with one row a level: the work as wherever a phase is explained, of trials that
    carry no account of time beside it.

    Ratios of the later to the earlier value, dimensionless: `wall` of the wall time, `cpu` of the CPU time of the job, `cores`
    of the cores used; wall = cpu / cores. `cpu_share`: share of ln(wall) that is due to the CPU time, nan where the wall time
    did not change. `start` and `stop` are the levels.
    """
    at = rows.set_index(knob).reindex(columns=[*NEEDED], fill_value=0.0).loc[[start, stop]]
    work = parts_of(at, at.index.to_numpy(float), "wall_s", "min", knob)[f"work_{WORK}"]
    wall, cpu = float(at["wall_s"].iloc[1] / at["wall_s"].iloc[0]), float(np.exp(work.iloc[1] - work.iloc[0]))
    share = float(np.log(cpu) / np.log(wall)) if wall != 1 else float("nan")
    return {"start": start, "stop": stop, "wall": wall, "cpu": cpu, "cores": cpu / wall, "cpu_share": share}


def breakthrough(model: PhaseModel, rows: pd.DataFrame) -> dict[str, float] | None:
    """What changes over the breakthrough of a curve; None where it has none."""
    found = model.phases[model.phases["label"] == "breakthrough"]
    if found.empty:
        return None
    return change(rows, model.knob, float(found["start"].iloc[0]), float(found["stop"].iloc[-1]))


def facts(found: Mapping[str, float] | None) -> dict[str, Any]:
    """What tells whether the breakthrough is more parallelism or less work."""
    if found is None:
        return {"has_breakthrough": False, "cpu_share": 0.0}
    work = {f"work_{name}": value for name, value in found.items()}
    return {"has_breakthrough": True, "cpu_share": found["cpu_share"], **work}


def by_phase(model: PhaseModel, rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The change of wall time, CPU time and cores used over each phase."""
    return [
        {
            "steps": steps_text(model, phase["start"], phase["stop"]),
            "phase": PHASE_STYLES[phase["label"]].name,
            **change(rows, model.knob, float(phase["start"]), float(phase["stop"])),
        }
        for phase in model.phases.to_dict("records")
    ]


def work_figure(rows: pd.DataFrame, model: PhaseModel) -> Figure:
    """CPU time of a job over the knob, and below it the cores that it kept busy."""
    x, cpu = rows[model.knob].to_numpy(float), cpu_time(rows).to_numpy(float)
    cores = cpu / rows["wall_s"].to_numpy(float)
    with new_figure(FIGURE_IN, 2, sharex=True) as (drawing, (above, below)):
        above.plot(x, cpu, color=TRIAL_COLOUR, marker="o", markersize=4, linewidth=1.4)
        above.set_ylabel(say("cpu_work.cpu_axis"))
        below.plot(x, cores, color=TRIAL_COLOUR, marker="o", markersize=4, linewidth=1.4)
        below.plot(x, x, color=MUTED, linestyle="--", linewidth=1)
        below.annotate(say("cpu_work.limit"), (x[-4], x[-4]), xytext=(-6, 2), textcoords="offset points",
                       ha="right", color=INK, fontsize=8)  # fmt: skip
        below.set_ylabel(say("cpu_work.cores_axis"))
        below.set_xlabel(say("cpu_work.knob_axis"))
        below.set_xticks(x)
        for ax in (above, below):
            ax.set_ylim(bottom=0)
            ax.grid(visible=False, axis="x")
            for phase in model.phases.to_dict("records"):
                colour = PHASE_STYLES[str(phase["label"])].colour
                ax.axvspan(phase["start"], phase["stop"], facecolor=colour, alpha=0.10, linewidth=0, zorder=0)
    most, least = int(np.argmax(cpu)), int(np.argmin(cpu))
    times = {"most": number(cpu[most], 1), "least": number(cpu[least], 1), "used": f"{cores.max():.1f}"}
    caption = say("cpu_work.figure", at=f"{x[most]:g}", where=f"{x[least]:g}", **times)
    return Figure.of(drawing, caption, caption, id="work")
