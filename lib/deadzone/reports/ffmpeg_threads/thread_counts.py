"""The study `ffmpeg-threads` at fixed CPU limits: how many threads, and which counts cannot be told apart."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.plot import plot_panels
from deadzone.explaining.phases.quantities import number, response
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Figure
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.ffmpeg_threads.cpu_work import cpu_time
from deadzone.reports.figures.curves import phases_text, setting_text, tied_text
from deadzone.reports.published.report import Published

TABLES = (
    "threads-at-4-cores",
    "threads-at-8-cores",
    "threads-at-11-cores",
    "oversubscription-at-5-cores",
    "oversubscription-at-6-cores",
)

DRAWN = 3
"""The first three tables are the long ones, and are drawn."""

PANEL_IN = 2.9


@dataclass(frozen=True, eq=False)
class ThreadCount:
    """The curve over the thread count at one CPU limit.

    limit: in cores. rows: those that were fitted. is_without_flagged: whether the author's outliers are left
    out of them. model, advice: of wall time over threads.
    """

    limit: float
    rows: pd.DataFrame
    is_without_flagged: bool
    model: PhaseModel
    advice: Recommendation

    @property
    def best_measured(self) -> float:
        """Thread count of the shortest time measured."""
        return float(self.rows["threads"].to_numpy()[self.rows["wall_s"].argmin()])


Counts = tuple[ThreadCount, ...]


def fit_counts(published: Published) -> Counts:
    """The curves at every fixed limit; where the author flagged outliers, a second one without them."""
    found = []
    for name in TABLES:
        rows = published.table(name)
        found.append(_fitted(rows, is_without_flagged=False))
        if "flagged_by_author" in rows and rows["flagged_by_author"].any():
            found.append(_fitted(rows[~rows["flagged_by_author"]], is_without_flagged=True))
    return tuple(found)


def _fitted(rows: pd.DataFrame, is_without_flagged: bool) -> ThreadCount:
    model = fit_phases(rows, "threads", "wall_s")
    return ThreadCount(float(rows["cpu_limit"].iloc[0]), rows, is_without_flagged, model, model.recommend())


def at_limit(counts: Counts, limit: float) -> ThreadCount:
    """The curve at a limit; without the author's outliers where there are any."""
    return [count for count in counts if count.limit == limit][-1]


def counts_figure(counts: Counts) -> Figure:
    """The three long curves with all their trials, one below the other."""
    drawn = [count for count in counts if not count.is_without_flagged][:DRAWN]
    with new_figure(PANEL_IN * len(drawn), len(drawn)) as (drawing, axes):
        words = [say("thread_counts.panel", limit=f"{c.limit:g}", phases=phases_text(c.model)) for c in drawn]
        panels = zip(drawn, axes, words, strict=True)
        plot_panels([(count.model, ax, count.advice, title) for count, ax, title in panels])
    return Figure.of(drawing, say("thread_counts.figure"), join(words, "; "), id="threads")


def by_count(counts: Counts) -> list[dict[str, Any]]:
    """Of each curve: phases, recommended count, how many cannot be told apart, and the fastest measured."""
    return [
        {
            "limit": count.limit,
            "kind": "without" if count.is_without_flagged else "with",
            "suffix": "-clean" if count.is_without_flagged else "",
            "n": len(count.rows),
            "phases": phases_text(count.model),
            "fastest": count.best_measured,
            **_advice(count),
        }
        for count in counts
    ]


def by_limit(counts: Counts) -> list[dict[str, Any]]:
    """Of each fixed limit: the thread count to set, and what it gains over as many threads as cores."""
    rows = []
    for limit in sorted({count.limit for count in counts}):
        count = at_limit(counts, limit)
        advised: float = count.advice.setting
        value = float(count.model.levels.set_index("level")["fitted"][advised])
        expected = response(value, "wall_s", 0.02 * value)
        rows.append({"limit": limit, "expected": expected, "gained": gain(count, advised), **_advice(count)})
    return rows


def _advice(count: ThreadCount) -> dict[str, str]:
    return {"advised": setting_text(count.model, count.advice), "tied": tied_text(count.model, count.advice)}


def gain(count: ThreadCount, threads: float) -> float:
    """How much shorter the fitted time is than with as many threads as cores, a fraction; negative is longer."""
    fitted = count.model.levels.set_index("level")["fitted"]
    return 1 - float(fitted[threads] / fitted[count.limit])


def flagged_facts(published: Published) -> dict[str, Any]:
    """What the author's outliers at one and two threads have in common with the runs at many cores: CPU time."""
    low = pd.concat([published.table(name) for name in TABLES[:2]])
    flagged, rest = low[low["flagged_by_author"]], low[~low["flagged_by_author"]]
    curve, eleven = published.table("limit-equals-threads"), published.table(TABLES[2])
    many = pd.concat([curve[curve["cpu_limit"] >= 11], eleven[~eleven["flagged_by_author"]]])
    found: dict[str, Any] = {"n_flagged": len(flagged)}
    for name, rows in (("flagged_s", flagged), ("rest_s", rest), ("many_s", many)):
        ends = (number(end, 1) for end in (cpu_time(rows).min(), cpu_time(rows).max()))
        found[name] = say("quantity.range", start=next(ends), stop=next(ends))
    return found
