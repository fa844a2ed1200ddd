"""The report of the published study `ffmpeg-threads`: CPU limit and thread count of FFmpeg in a pod.

What the report of the study `ffmpeg-threads` is made from, and what its author's conclusions are judged by.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import listing
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.verdict import verdict
from deadzone.language.catalogue import join, say
from deadzone.language.numbers import printed
from deadzone.reports.document.display import Figure, Regression, Table
from deadzone.reports.document.regression import regression
from deadzone.reports.ffmpeg_threads import cpu_work, thread_counts
from deadzone.reports.figures import curves
from deadzone.reports.figures.curves import phases_text, setting_text, steps_text, tied_text
from deadzone.reports.published import arithmetic, guideline
from deadzone.reports.published.report import REFERENCE, Published, PublishedReport, open_published
from deadzone.style import PHASE_STYLES

MEASURED_LINEAR = 10
"""The author calls scaling linear up to here [cores]."""


def facts(
    published: Published, model: PhaseModel, counts: thread_counts.Counts, pairs: pd.DataFrame
) -> dict[str, Any]:
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
    at = {limit: thread_counts.at_limit(counts, limit) for limit in (4, 5, 6, 11)}
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
        "counts": thread_counts.by_count(counts),
        "settings": thread_counts.by_limit(counts),
        "gain": thread_counts.gain(at[4], 7.0),
        "fastest_4": f"{at[4].best_measured:g}",
        "only_seven": at[4].advice.tied == (7,),
        "flat_5": set(at[5].model.step_labels) == {"plateau"},
        "only_plenty": set(at[11].advice.tied) <= {10, 11},
        "first": printed(twice["first_wall_s"]),
        "second": printed(twice["second_wall_s"]),
        **cpu_work.facts(cpu_work.breakthrough(model, curve)),
        **thread_counts.flagged_facts(published),
        **{f"phases_{limit}": phases_text(one.model) for limit, one in at.items()},
        **{f"tied_{limit}": tied_text(one.model, one.advice) for limit, one in at.items()},
        **{f"advised_{limit}": setting_text(one.model, one.advice) for limit, one in at.items()},
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
    counts: thread_counts.Counts
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
        """Threads varied at fixed CPU limits."""
        return thread_counts.counts_figure(self.counts)

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
    counts = thread_counts.fit_counts(published)
    pairs = arithmetic.repeats(published.name)
    known = facts(published, model, counts, pairs)
    return FfmpegThreads(published, curve, model, model.recommend(), counts, pairs, known=known)


def load(source: str = REFERENCE, lang: str = "en") -> FfmpegThreads:
    """The published study. source: "reference". lang: language of the report, "en" or "ko".

    Raises ReportError for another source or language, TableError if a published table is missing.
    """
    return read_study(open_published("ffmpeg-threads", source, lang))
