"""What the conclusions of the study `ffmpeg-threads` are judged by, and the author's own phases and guideline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.explaining.phases.quantities import listing, number, percent
from deadzone.language.catalogue import join, say
from deadzone.language.numbers import printed
from deadzone.reports.document.display import Table
from deadzone.reports.ffmpeg_threads.cpu_work import breakthrough, sentence
from deadzone.reports.ffmpeg_threads.thread_counts import ThreadCount, at_limit, flagged_sentence, gain
from deadzone.reports.figures.curves import phases_text, setting_text, steps_text, tied_text
from deadzone.reports.published.arithmetic import usual_difference
from deadzone.style import PHASE_STYLES

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel
    from deadzone.reports.published.published import Published

Counts = tuple[ThreadCount, ...]

MEASURED_LINEAR = 10
"""The author calls scaling linear up to here [cores]."""


def facts(published: Published, model: PhaseModel, counts: Counts, pairs: pd.DataFrame) -> dict[str, Any]:
    """What the author's conclusions are judged by. model: of the curve with threads equal to the limit.

    pairs: the cells measured twice; what differs by less than they do is no effect.
    """
    usual = usual_difference(pairs)
    author = published.table("author-phases")
    theirs = [(row["step_start"], row["step_stop"], row["label"]) for row in author.to_dict("records")]
    ours = [(row["start"], row["stop"], row["label"]) for row in model.phases.to_dict("records")]
    zones = model.phases[model.phases["label"] == "dead_zone"]
    early = zones[zones["stop"] <= MEASURED_LINEAR]
    automatic = automatic_changes(published.table("auto-versus-explicit"))
    work = breakthrough(model, published.table("limit-equals-threads"))
    twice = pairs[(pairs["cpu_limit"] == 11) & (pairs["threads"] == 11)].iloc[0]
    at = {limit: at_limit(counts, limit) for limit in (4, 5, 6, 11)}
    return {
        "usual": usual,
        "phases": phases_text(model),
        "least_sure": float(model.phases["probability"].min()),
        "same_phases": theirs == ours,
        "zones": _zones(model, zones),
        "n_zones": len(zones),
        "zones_probability": float(zones["probability"].min()) if len(zones) else 0.0,
        "early_zones": _zones(model, early),
        "n_early": len(early),
        "better": listing([f"{limit:g}" for limit, value in automatic.items() if value < -usual]),
        "work": sentence(work),
        "has_breakthrough": work is not None,
        "cpu_share": work.cpu_share if work else 0.0,
        "gain": gain(at[4], 7.0),
        "fastest_4": f"{at[4].best_measured:g}",
        "only_seven": at[4].advice.tied == (7,),
        "flat_5": set(at[5].model.step_labels) == {"plateau"},
        "only_plenty": set(at[11].advice.tied) <= {10, 11},
        "flagged": flagged_sentence(published),
        "first": printed(twice["first_wall_s"]),
        "second": printed(twice["second_wall_s"]),
        **{f"phases_{limit}": phases_text(one.model) for limit, one in at.items()},
        **{f"tied_{limit}": tied_text(one.model, one.advice) for limit, one in at.items()},
        **{f"advised_{limit}": setting_text(one.model, one.advice) for limit, one in at.items()},
    }


def _zones(model: PhaseModel, zones: pd.DataFrame) -> str:
    steps = [steps_text(model, zone["start"], zone["stop"]) for zone in zones.to_dict("records")]
    return listing(steps) if steps else say("quantity.none")


def automatic_changes(automatic: pd.DataFrame) -> pd.Series:
    """Time with as many threads as cores relative to ffmpeg's own choice, minus 1, by CPU limit (cores)."""
    wall = automatic.pivot(index="cpu_limit", columns="thread_setting", values="wall_s")
    return wall["equal_to_limit"] / wall["auto"] - 1


def author_phases_table(author: pd.DataFrame, model: PhaseModel) -> Table:
    """The author's phases beside the phase that the fit gives most of the same steps."""
    steps = model.steps
    rows = []
    for theirs in author.itertuples():
        inside = steps[(steps["start"] >= theirs.step_start) & (steps["stop"] <= theirs.step_stop)]
        agreeing = int((inside["label"] == theirs.label).sum())
        rows.append(
            {
                say("ffmpeg_claims.cores"): f"{theirs.cpu_limit_from:g}-{theirs.cpu_limit_to:g}",
                say("curves.steps"): f"{theirs.step_start:g}-{theirs.step_stop:g}",
                say("ffmpeg_claims.theirs"): PHASE_STYLES[str(theirs.label)].name,
                say("ffmpeg_claims.ours"): join(
                    [PHASE_STYLES[label].name for label in dict.fromkeys(inside["label"])], ", "
                ),
                say("ffmpeg_claims.agreeing"): say("ffmpeg_claims.of", n=agreeing, all=len(inside)),
            }
        )
    frame = pd.DataFrame(rows)
    same = sum(row[say("ffmpeg_claims.theirs")] == row[say("ffmpeg_claims.ours")] for row in rows)
    return Table(frame, say("ffmpeg_claims.phases_caption", n=same, all=len(rows)), id="author-phases")


def automatic_table(automatic: pd.DataFrame, usual: float) -> Table:
    """ffmpeg's own choice against as many threads as cores, with what is within the scatter of a repeat."""
    wall = automatic.pivot(index="cpu_limit", columns="thread_setting", values="wall_s")
    change = automatic_changes(automatic)
    frame = pd.DataFrame(
        {
            say("ffmpeg_claims.limit"): [f"{limit:g}" for limit in wall.index],
            say("ffmpeg_claims.auto"): [number(value) for value in wall["auto"]],
            say("ffmpeg_claims.equal"): [number(value) for value in wall["equal_to_limit"]],
            say("ffmpeg_claims.change"): [percent(value) for value in change],
            say("ffmpeg_claims.reading"): [_reading(float(value), usual) for value in change],
        }
    )
    return Table(
        frame,
        say("ffmpeg_claims.automatic_caption", usual=usual),
        numeric=list(frame.columns[:4]),
        id="automatic",
    )


def _reading(change: float, usual: float) -> str:
    if abs(change) <= usual:
        return say("ffmpeg_claims.within")
    return say("ffmpeg_claims.faster" if change < 0 else "ffmpeg_claims.slower")


def author_guideline(guidelines: pd.DataFrame) -> str:
    """The author's own guideline in one sentence."""
    row: Any = guidelines.set_index("resources")
    return say(
        "ffmpeg_claims.guideline",
        scarce=f"{row.loc['scarce', 'cpu_limit_to']:g}",
        low=f"{row.loc['scarce', 'threads_per_core_from']:g}",
        high=f"{row.loc['scarce', 'threads_per_core_to']:g}",
        start=f"{row.loc['middling', 'cpu_limit_from']:g}",
        stop=f"{row.loc['middling', 'cpu_limit_to']:g}",
        plenty=f"{row.loc['plenty', 'cpu_limit_from']:g}",
        least=f"{row.loc['plenty', 'threads_from']:g}",
        most=f"{row.loc['plenty', 'threads_to']:g}",
    )
