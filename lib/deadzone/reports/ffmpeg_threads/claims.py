"""The conclusions of the study `ffmpeg-threads`, judged by its own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.language.catalogue import join, say
from deadzone.explaining.phases.quantities import listing, number, percent
from deadzone.reports.document.display import Table
from deadzone.reports.published.arithmetic import usual_difference
from deadzone.explaining.claims.judging import Judged
from deadzone.explaining.claims.verdicts import Verdict
from deadzone.reports.ffmpeg_threads.cpu_work import breakthrough, cpu_time, sentence
from deadzone.reports.figures.curves import phases_text, setting_text, steps_text, tied_text
from deadzone.language.numbers import printed
from deadzone.reports.ffmpeg_threads.thread_counts import ThreadCount, at_limit, flagged_sentence, gain
from deadzone.style import PHASE_STYLES

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel
    from deadzone.reports.published.published import Published

Counts = tuple[ThreadCount, ...]


def judge(published: Published, model: PhaseModel, counts: Counts, pairs: pd.DataFrame) -> tuple[Judged, ...]:
    """All conclusions, in the order of the document. model: of the curve with threads equal to the limit.

    pairs: the cells measured twice; what differs by less than they do is no effect.
    """
    usual = usual_difference(pairs)
    curve = published.table("limit-equals-threads")
    return (
        _phases(published.table("author-phases"), model),
        _scaling(model, curve),
        _dead_zone(published.table("auto-versus-explicit"), model, usual),
        _parallelism(model, curve),
        _cores_used(curve),
        _optimum(at_limit(counts, 4), usual),
        _at_five(at_limit(counts, 5)),
        _at_six(at_limit(counts, 6), usual),
        _outliers(published),
        _plenty(at_limit(counts, 11), pairs),
    )


def _phases(author: pd.DataFrame, model: PhaseModel) -> Judged:
    theirs = [(row["step_start"], row["step_stop"], row["label"]) for row in author.to_dict("records")]
    ours = [(row["start"], row["stop"], row["label"]) for row in model.phases.to_dict("records")]
    found = say(
        "ffmpeg_claims.phases_found",
        phases=phases_text(model),
        probability=float(model.phases["probability"].min()),
    )
    verdict: Verdict = "supported" if theirs == ours else "partly"
    return Judged("phases", say("ffmpeg_claims.phases"), found, verdict, ("response", "author-phases"))


def _scaling(model: PhaseModel, curve: pd.DataFrame) -> Judged:
    wall, cpu = curve.set_index("cpu_limit")["wall_s"], cpu_time(curve).set_axis(curve["cpu_limit"])
    zones = model.phases[(model.phases["label"] == "dead_zone") & (model.phases["stop"] <= 10)]
    found = say(
        "ffmpeg_claims.scaling_found",
        speedup=f"{wall[1] / wall[10]:.1f}",
        zones=listing([steps_text(model, z["start"], z["stop"]) for z in zones.to_dict("records")])
        if len(zones)
        else say("quantity.none"),
        low=number(cpu[1], 1),
        high=number(cpu[:10].max(), 1),
    )
    return Judged(
        "scaling",
        say("ffmpeg_claims.scaling"),
        found,
        "contradicted" if len(zones) else "partly",
        ("response", "work"),
    )


def _dead_zone(automatic: pd.DataFrame, model: PhaseModel, usual: float) -> Judged:
    change = automatic_changes(automatic)
    better = [f"{limit:g}" for limit, value in change.items() if value < -usual]
    zones = model.phases[model.phases["label"] == "dead_zone"]
    found = say(
        "ffmpeg_claims.dead_zone_found" if len(zones) else "ffmpeg_claims.no_dead_zone_found",
        zones=listing([steps_text(model, z["start"], z["stop"]) for z in zones.to_dict("records")])
        if len(zones)
        else "-",
        probability=float(zones["probability"].min()) if len(zones) else 0.0,
        better=listing(better),
    )
    return Judged(
        "dead-zone",
        say("ffmpeg_claims.dead_zone"),
        found,
        "partly" if len(zones) else "supported",
        ("automatic", "phases"),
    )


def automatic_changes(automatic: pd.DataFrame) -> pd.Series:
    """Time with as many threads as cores relative to ffmpeg's own choice, minus 1, by CPU limit (cores)."""
    wall = automatic.pivot(index="cpu_limit", columns="thread_setting", values="wall_s")
    return wall["equal_to_limit"] / wall["auto"] - 1


def _parallelism(model: PhaseModel, curve: pd.DataFrame) -> Judged:
    change = breakthrough(model, curve)
    verdict: Verdict = (
        "undecided" if change is None else "contradicted" if change.cpu_share > 0.5 else "supported"
    )
    return Judged(
        "parallelism", say("ffmpeg_claims.parallelism"), sentence(change), verdict, ("work", "work-changes")
    )


def _cores_used(curve: pd.DataFrame) -> Judged:
    beyond = curve[curve["cpu_limit"] >= 11]
    used = cpu_time(beyond) / beyond["wall_s"]
    low, high = f"{used.min():.1f}", f"{used.max():.1f}"
    return Judged(
        "cores-used", say("ffmpeg_claims.cores_used"), say("ffmpeg_claims.cores_used_found", low=low, high=high),
        "supported" if used.max() < 11 else "contradicted", ("work",),
    )  # fmt: skip


def _optimum(count: ThreadCount, usual: float) -> Judged:
    found = say(
        "ffmpeg_claims.optimum_found",
        gain=gain(count, 7.0),
        usual=usual,
        advised=setting_text(count.model, count.advice),
        tied=tied_text(count.model, count.advice),
        fastest=f"{count.best_measured:g}",
    )
    is_shown = gain(count, 7.0) > usual
    verdict: Verdict = "supported" if count.advice.tied == (7,) else "partly" if is_shown else "contradicted"
    return Judged(
        "optimum", say("ffmpeg_claims.optimum"), found, verdict, ("threads", "thread-counts-4-clean")
    )


def _at_five(count: ThreadCount) -> Judged:
    flat = set(count.model.step_labels) == {"plateau"}
    found = say(
        "ffmpeg_claims.five_found", phases=phases_text(count.model), tied=tied_text(count.model, count.advice)
    )
    return Judged(
        "five", say("ffmpeg_claims.five"), found, "supported" if flat else "partly", ("thread-counts-5",)
    )


def _at_six(count: ThreadCount, usual: float) -> Judged:
    wall = count.rows.set_index("threads")["wall_s"]
    worse = float(wall[[8, 12]].max() / wall[6] - 1)
    found = say("ffmpeg_claims.six_found", phases=phases_text(count.model), worse=worse, usual=usual)
    verdict: Verdict = "partly" if worse < usual else "supported"
    return Judged("six", say("ffmpeg_claims.six"), found, verdict, ("thread-counts-6",))


def _outliers(published: Published) -> Judged:
    return Judged(
        "outliers", say("ffmpeg_claims.outliers"), flagged_sentence(published), "undecided", ("threads",)
    )


def _plenty(count: ThreadCount, pairs: pd.DataFrame) -> Judged:
    twice = pairs[(pairs["cpu_limit"] == 11) & (pairs["threads"] == 11)].iloc[0]
    found = say(
        "ffmpeg_claims.plenty_found",
        tied=tied_text(count.model, count.advice),
        advised=setting_text(count.model, count.advice),
        first=printed(twice["first_wall_s"]),
        second=printed(twice["second_wall_s"]),
    )
    is_only = set(count.advice.tied) <= {10, 11}
    return Judged(
        "plenty",
        say("ffmpeg_claims.plenty"),
        found,
        "supported" if is_only else "undecided",
        ("threads", "repeats"),
    )


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
