"""The report of the published study `ffmpeg-threads`: CPU limit and thread count of FFmpeg in a pod.

Limit and threads are raised together; and at fixed CPU limits it is asked how many threads, and which counts cannot be told
apart.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.plot import plot_panels
from deadzone.explaining.phases.quantities import listing, number, response
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.verdict import verdict
from deadzone.language.catalogue import join, say
from deadzone.language.formats import printed
from deadzone.reports.document.display import Figure, Regression, Table
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.document.regression import regression
from deadzone.reports.ffmpeg_threads import cpu_work
from deadzone.reports.figures import curves
from deadzone.reports.figures.curves import phases_text, steps_text
from deadzone.reports.published import arithmetic, guideline
from deadzone.reports.published.report import REFERENCE, Published, PublishedReport, load_report
from deadzone.style import PHASE_STYLES

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


def by_count(counts: Counts) -> list[dict[str, Any]]:
    """Of each curve: phases, recommended count, how many cannot be told apart, and the fastest measured."""
    return [
        {
            "limit": count.limit,
            "kind": "without" if count.is_without_flagged else "with",
            "suffix": "-clean" if count.is_without_flagged else "",
            "n": len(count.rows),
            "fastest": count.best_measured,
            **curves.in_words(count.model, count.advice),
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
        words = curves.in_words(count.model, count.advice)
        rows.append({"limit": limit, "expected": expected, "gained": gain(count, advised), **words})
    return rows


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
        ends = (number(end, 1) for end in (cpu_work.cpu_time(rows).min(), cpu_work.cpu_time(rows).max()))
        found[name] = say("quantity.range", start=next(ends), stop=next(ends))
    return found


MEASURED_LINEAR = 10
"""The author calls scaling linear up to here [cores]."""


def facts(published: Published, model: PhaseModel, counts: Counts, pairs: pd.DataFrame) -> dict[str, Any]:
    """What sentences and tables are made from. model: of the curve with threads equal to the limit.

    pairs: the cells measured twice; what differs by less than they do is no effect.
    """
    usual = arithmetic.usual_difference(pairs)
    curve = published.table("limit-equals-threads")
    phases = _author_phases(published.table("author-phases"), model)
    ours = [(row["start"], row["stop"], row["label"]) for row in model.phases.to_dict("records")]
    zones = model.phases[model.phases["label"] == "dead_zone"]
    early = zones[zones["stop"] <= MEASURED_LINEAR]
    wall = published.table("auto-versus-explicit").pivot(
        index="cpu_limit", columns="thread_setting", values="wall_s"
    )
    faster = wall.index[wall["equal_to_limit"] / wall["auto"] - 1 < -usual]
    twice = pairs[(pairs["cpu_limit"] == 11) & (pairs["threads"] == 11)].iloc[0]
    at = {limit: at_limit(counts, limit) for limit in (4, 5, 6, 11)}
    return {
        "usual": usual,
        "largest": float(pairs["difference_percent"].abs().max()) / 100,
        "verdict": verdict(model, model.recommend()),
        "phases": phases_text(model),
        "least_sure": float(model.phases["probability"].min()),
        "same_phases": [(row["step_start"], row["step_stop"], row["label"]) for row in phases] == ours,
        "author_phases": phases,
        "n_author": len(phases),
        "n_same": sum(row["theirs"] == row["ours"] for row in phases),
        "zones": _zones(model, zones),
        "n_zones": len(zones),
        "zones_probability": float(zones["probability"].min()) if len(zones) else 0.0,
        "early_zones": _zones(model, early),
        "n_early": len(early),
        "better": listing([f"{limit:g}" for limit in faster]),
        "automatic": wall.reset_index().to_dict("records"),
        "work_changes": cpu_work.by_phase(model, curve),
        "counts": by_count(counts),
        "settings": by_limit(counts),
        "gain": gain(at[4], 7.0),
        "fastest_4": f"{at[4].best_measured:g}",
        "only_seven": at[4].advice.tied == (7,),
        "flat_5": set(at[5].model.step_labels) == {"plateau"},
        "only_plenty": set(at[11].advice.tied) <= {10, 11},
        "first": printed(twice["first_wall_s"]),
        "second": printed(twice["second_wall_s"]),
        **cpu_work.facts(cpu_work.breakthrough(model, curve)),
        **flagged_facts(published),
        **{
            f"{name}_{limit}": text
            for limit, one in at.items()
            for name, text in curves.in_words(one.model, one.advice).items()
        },
    }


def _zones(model: PhaseModel, zones: pd.DataFrame) -> str:
    steps = [steps_text(model, zone["start"], zone["stop"]) for zone in zones.to_dict("records")]
    return listing(steps) if steps else say("quantity.none")


def _author_phases(author: pd.DataFrame, model: PhaseModel) -> list[dict[Any, Any]]:
    """The author's phases beside the phase that the fit gives most of the same steps."""
    steps, rows = model.steps, author.to_dict("records")
    for row in rows:
        inside = steps[(steps["start"] >= row["step_start"]) & (steps["stop"] <= row["step_stop"])]
        row["theirs"] = PHASE_STYLES[row["label"]].name
        row["ours"] = join([PHASE_STYLES[label].name for label in dict.fromkeys(inside["label"])], ", ")
        row |= {"n": int((inside["label"] == row["label"]).sum()), "all": len(inside)}
    return rows


@dataclass(frozen=True, eq=False)
class FfmpegThreads(PublishedReport):
    """The study, and its curves.

    model, advice: of wall time over the CPU limit, threads equal to the limit. counts: the curves over the
    thread count at fixed limits. pairs: cells measured twice.
    """

    FOLDER = "ffmpeg_threads"
    curve: pd.DataFrame
    model: PhaseModel
    advice: Recommendation
    counts: Counts
    pairs: pd.DataFrame

    def curve_figure(self) -> Figure:
        """The curve with limit and threads raised together."""
        return curves.curve_figure(self.model, self.advice, "response", is_face=True)

    def curve_phases(self) -> Table:
        """Its phases."""
        return curves.phases_table(self.model, "phases")

    def work_figure(self) -> Figure:
        """CPU time that the job takes, and cores that it keeps busy."""
        return cpu_work.work_figure(self.curve, self.model)

    def counts_figure(self) -> Figure:
        """Threads varied at fixed CPU limits: the three long curves with all their trials, one below the other."""
        drawn = [count for count in self.counts if not count.is_without_flagged][:DRAWN]
        words = [say("thread_counts.panel", limit=f"{c.limit:g}", phases=phases_text(c.model)) for c in drawn]
        with new_figure(PANEL_IN * len(drawn), len(drawn)) as (drawing, axes):
            panels = zip(drawn, axes, words, strict=True)
            plot_panels([(count.model, ax, count.advice, title) for count, ax, title in panels])
        return Figure.of(drawing, say("thread_counts.figure"), join(words, "; "), id="threads")

    def repeats_table(self) -> Table:
        """What was measured twice."""
        return arithmetic.repeats_table(self.pairs)

    def guideline_table(self) -> Table:
        """The guideline that follows from the fit."""
        return guideline.guideline_table(self.model, self.advice)

    def regression(self) -> Regression:
        """The regression-style summary of the main curve."""
        return regression(self.model)


def read_study(published: Published) -> FfmpegThreads:
    """The study with its curves fitted."""
    curve = published.table("limit-equals-threads")
    model = fit_phases(curve, "cpu_limit", "wall_s")
    counts = fit_counts(published)
    pairs = arithmetic.repeats(published.name)
    known = facts(published, model, counts, pairs)
    return FfmpegThreads(published, curve, model, model.recommend(), counts, pairs, known=known)


def load(source: str = REFERENCE, lang: str = "en") -> FfmpegThreads:
    """The published study. source: "reference". lang: language of the report, "en" or "ko".

    Raises ReportError for another source or language, TableError if a published table is missing.
    """
    return load_report("ffmpeg-threads", source, lang, read_study)
