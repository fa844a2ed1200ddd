"""The study `pod-cpu-limit`: the times of its requests, and what follows from them by arithmetic alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.explaining.phases.quantities import number, percent
from deadzone.language.catalogue import say
from deadzone.language.numbers import printed
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.bars import bars
from deadzone.reports.published.reference_checks import figure

if TYPE_CHECKING:
    from deadzone.reports.published.published import Published

LIMITED, CONTAINER, UNLIMITED = "pod", "docker", "pod_unlimited"
"""Names of the environments: the pod with its limit, the container, the pod without its limit."""

ENVIRONMENTS = (LIMITED, CONTAINER, UNLIMITED)

GIGABIT_BYTES_S = 125e6
"""What a line of 1 Gbit/s carries at most [bytes/s]."""


@dataclass(frozen=True)
class Times:
    """The times of the three environments and what follows.

    wall, total: elapsed time by the shell and by curl [s], by environment. ttfb, connect: as curl counts them [s].
    client_cpu: CPU time of the client [s]. cores: of the node. upload: size of the video [bytes].
    """

    wall: dict[str, float]
    total: dict[str, float]
    ttfb: dict[str, float]
    connect: dict[str, float]
    client_cpu: dict[str, float]
    cores: float
    upload: float

    def ratio(self, clock: str) -> float:
        """How many times slower the limited pod is than the container, by "wall" or "total"."""
        times = {"wall": self.wall, "total": self.total}[clock]
        return times[LIMITED] / times[CONTAINER]

    @property
    def restored(self) -> float:
        """Share of the slowdown that goes when the limit goes, on a log scale."""
        gone = np.log(self.total[LIMITED] / self.total[UNLIMITED])
        return float(gone / np.log(self.total[LIMITED] / self.total[CONTAINER]))

    @property
    def left(self) -> float:
        """How much slower the pod without its limit is than the container, a fraction."""
        return self.total[UNLIMITED] / self.total[CONTAINER] - 1

    @property
    def more_work(self) -> float:
        """Least factor by which the CPU time grew under the limit, if the job waited for nothing but its one core.

        In the container the node's cores give at most cores * total seconds of CPU time; under a limit of one
        core the job had at most its own total. A factor above 1 is time that the limit itself does not explain.
        """
        return self.total[LIMITED] / (self.cores * self.total[CONTAINER])

    @property
    def upload_rate(self) -> float:
        """Rate at which the video would have gone over the line before the first byte came back [bytes/s]."""
        return self.upload / self.ttfb[LIMITED]


def read_times(published: Published) -> Times:
    """The times of the study."""
    walls, phases = published.table("request-time"), published.table("request-phases")

    def each(frame: pd.DataFrame, column: str) -> dict[str, float]:
        return {name: figure(frame, column, environment=name) for name in ENVIRONMENTS}

    user, system = each(walls, "client_user_s"), each(walls, "client_sys_s")
    return Times(
        wall=each(walls, "wall_s"),
        total=each(phases, "total_s"),
        ttfb=each(phases, "ttfb_s"),
        connect=each(phases, "connect_s"),
        client_cpu={name: user[name] + system[name] for name in ENVIRONMENTS},
        cores=figure(published.table("environments"), "host_cores", environment=CONTAINER),
        upload=1e6 * float(published.table("test-video")["size_mb"].iloc[0]),
    )


def trials_of(published: Published) -> pd.DataFrame:
    """The requests as a table of trials, one row an environment, in the columns of a run."""
    walls, phases = published.table("request-time"), published.table("request-phases")
    client = walls.set_index("environment")[["client_user_s", "client_sys_s"]].sum(axis=1)
    kept = phases[["environment", "cpu_limit", "dns_s", "connect_s", "ttfb_s", "total_s"]]
    names = kept["environment"].map(environment_name)
    return kept.assign(client_cpu_s=kept["environment"].map(client), environment=names, status="ok")


def times_table(times: Times) -> Table:
    """The times of the three environments, side by side."""
    rows = {
        "wall": times.wall,
        "total": times.total,
        "ttfb": times.ttfb,
        "connect": times.connect,
        "client_cpu": times.client_cpu,
    }
    frame = pd.DataFrame(
        {
            say("request_times.time"): [say(f"request_times.name_{name}") for name in rows],
            **{
                environment_name(e): [printed(round(row[e], 6)) for row in rows.values()]
                for e in ENVIRONMENTS
            },
            say("request_times.slower"): [_ratio(row) for row in rows.values()],
        }
    )
    caption = say(
        "request_times.table", wall=f"{times.ratio('wall'):.2f}", total=f"{times.ratio('total'):.2f}"
    )
    return Table(frame, caption, numeric=list(frame.columns[1:]), id="times", row_ids=list(rows))


def _ratio(row: dict[str, float]) -> str:
    return f"{row[LIMITED] / row[CONTAINER]:.2f}"


def environment_name(environment: str) -> str:
    """An environment in words."""
    return say(f"request_times.environment_{environment}")


def times_figure(times: Times) -> Figure:
    """The total of each environment."""
    caption = say(
        "request_times.figure",
        ratio=f"{times.ratio('total'):.1f}",
        restored=times.restored,
        left=percent(times.left),
    )
    names = [environment_name(name) for name in ENVIRONMENTS]
    totals = [times.total[name] for name in ENVIRONMENTS]
    return bars(names, totals, say("request_times.axis"), caption, "response")


def missing_table() -> Table:
    """The table of the first experiment, which the document announces and does not hold."""
    blank = say("request_times.not_in_document")
    frame = pd.DataFrame(
        {
            say("request_times.environment"): ["A", "B", "C"],
            **{say(f"request_times.name_{name}"): [blank] * 3 for name in ("wall", "ttfb", "server")},
        }
    )
    return Table(frame, say("request_times.missing"), id="experiment-1")


def work_sentence(times: Times) -> str:
    """Whether one core in place of the whole node can explain the slowdown by itself."""
    return say(
        "request_times.work" if times.more_work > 1 else "request_times.work_enough",
        ratio=f"{times.ratio('total'):.1f}",
        cores=printed(times.cores),
        most=number(times.cores * times.total[CONTAINER], 1),
        limited=number(times.total[LIMITED], 1),
        factor=f"{times.more_work:.1f}",
    )


def after_first_byte_sentence(times: Times) -> str:
    """How much of the request lies after what was counted as the first byte."""
    after = times.total[LIMITED] - times.ttfb[LIMITED]
    return say(
        "request_times.after_first_byte",
        after=number(after, 0.1),
        total=number(times.total[LIMITED], 0.1),
        least=number(min(times.total[n] - times.ttfb[n] for n in (CONTAINER, UNLIMITED)), 0.1),
    )


def first_byte_sentence(times: Times) -> str:
    """What equal times to the first byte prove, and what not."""
    return say(
        "request_times.first_byte",
        low=f"{min(times.ttfb.values()):.2f}",
        high=f"{max(times.ttfb.values()):.2f}",
        size=printed(times.upload / 1e6),
        rate=f"{times.upload_rate / 1e6:.0f}",
        share=times.upload_rate / GIGABIT_BYTES_S,
    )
