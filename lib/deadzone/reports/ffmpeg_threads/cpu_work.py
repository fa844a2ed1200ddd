"""Why a job takes the time it takes: the CPU time it needs, and the cores that it keeps busy.

wall time = CPU time / cores used, so every change of the wall time is a change of one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.explaining.phases.quantities import number
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.curves import steps_text
from deadzone.style import INK, MUTED, PHASE_STYLES, TRIAL_COLOUR, figure_style

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel

FIGURE_SIZE = (7.2, 4.2)


@dataclass(frozen=True)
class Change:
    """What changes from one level to another, as ratios of the later to the earlier value, dimensionless.

    start, stop: levels of the knob. wall: of the wall time, cpu: of the CPU time of the job, cores: of the
    cores used. wall = cpu / cores. cpu_share: share of ln(wall) that is due to the CPU time; nan where the
    wall time did not change.
    """

    start: float
    stop: float
    wall: float
    cpu: float
    cores: float

    @property
    def cpu_share(self) -> float:
        """Share of the change of ln(wall) that is a change of CPU time."""
        return float(np.log(self.cpu) / np.log(self.wall)) if self.wall != 1 else float("nan")


def cpu_time(rows: pd.DataFrame) -> pd.Series:
    """CPU time of each job [s]: user and system time together."""
    return rows["user_s"] + rows["sys_s"]


def change(rows: pd.DataFrame, knob: str, start: float, stop: float) -> Change:
    """What changes between two levels of a curve with one row a level."""
    at = rows.assign(cpu_s=cpu_time(rows)).set_index(knob).loc[[start, stop]]
    wall, cpu = (float(at[column].iloc[1] / at[column].iloc[0]) for column in ("wall_s", "cpu_s"))
    return Change(start, stop, wall, cpu, cpu / wall)


def breakthrough(model: PhaseModel, rows: pd.DataFrame) -> Change | None:
    """What changes over the breakthrough of a curve; None where it has none."""
    found = model.phases[model.phases["label"] == "breakthrough"]
    if found.empty:
        return None
    return change(rows, model.knob, float(found["start"].iloc[0]), float(found["stop"].iloc[-1]))


def sentence(found: Change | None) -> str:
    """Whether the breakthrough is more parallelism or less work."""
    if found is None:
        return say("cpu_work.no_breakthrough")
    key = "cpu_work.less_work" if found.cpu_share > 0.5 else "cpu_work.more_cores"
    return say(
        key,
        start=f"{found.start:g}",
        stop=f"{found.stop:g}",
        wall=f"{1 / found.wall:.2f}",
        cpu=f"{1 / found.cpu:.2f}",
        cores=f"{found.cores:.2f}",
        share=found.cpu_share,
    )


def work_table(model: PhaseModel, rows: pd.DataFrame) -> Table:
    """The change of wall time, CPU time and cores used over each phase."""
    phases = model.phases.to_dict("records")
    changes = [change(rows, model.knob, float(p["start"]), float(p["stop"])) for p in phases]
    frame = pd.DataFrame(
        {
            say("curves.steps"): [steps_text(model, c.start, c.stop) for c in changes],
            say("curves.phase"): [PHASE_STYLES[p["label"]].name for p in phases],
            say("cpu_work.wall"): [f"× {c.wall:.2f}" for c in changes],
            say("cpu_work.cpu"): [f"× {c.cpu:.2f}" for c in changes],
            say("cpu_work.cores"): [f"× {c.cores:.2f}" for c in changes],
        }
    )
    return Table(frame, say("cpu_work.caption"), numeric=list(frame.columns[2:]), id="work-changes")


def work_figure(rows: pd.DataFrame, model: PhaseModel) -> Figure:
    """CPU time of a job over the knob, and below it the cores that it kept busy."""
    import matplotlib.pyplot as plt

    x, cpu = rows[model.knob].to_numpy(float), cpu_time(rows).to_numpy(float)
    cores = cpu / rows["wall_s"].to_numpy(float)
    with figure_style():
        drawing, (above, below) = plt.subplots(2, 1, sharex=True, figsize=FIGURE_SIZE, layout="constrained")
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
    caption = say(
        "cpu_work.figure",
        most=number(cpu[most], 1),
        at=f"{x[most]:g}",
        least=number(cpu[least], 1),
        where=f"{x[least]:g}",
        used=f"{cores.max():.1f}",
    )
    return Figure.of(drawing, caption, caption, id="work")
