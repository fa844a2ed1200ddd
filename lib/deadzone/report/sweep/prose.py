"""The sentences of a report, made from the numbers, each with what it rests on.

What would decide where the data cannot: how many more trials at which levels, and how long they
take.

The time is that of the trials themselves, from the wall times measured at each level, and the
pauses between them; a trial repeated because it was disturbed comes on top.
"""

import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from deadzone.analysis.mechanisms.wording import limits, missing_measurements, no_cause, sentences
from deadzone.analysis.phases.candidates import level_text, place_of
from deadzone.analysis.phases.decision import is_of_trials
from deadzone.analysis.phases.naming import UNSURE, ends
from deadzone.analysis.phases.power import further_trials
from deadzone.analysis.phases.quantities import listing, plain_name
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.shape import shape
from deadzone.analysis.phases.summary import phase_rows
from deadzone.analysis.settings.wording import in_order
from deadzone.language.formats import date
from deadzone.language.messages import N_, Message, _, join, say, spoken
from deadzone.report.document.display import (
    Claim,
    CommandBlock,
    Evidence,
    Prose,
    Title,
    Verdict,
)
from deadzone.report.figures.curves import fit_in_words
from deadzone.report.sweep.analysis import Analysis, Slice
from deadzone.report.sweep.tables import positions
from deadzone.report.sweep.trials import Source
from deadzone.store.run import RunFolder

CORES = {
    "none": N_(
        "The machine has {cores} cores, so a plateau is expected beyond {cores}; the data show "
        "none."
    ),
    "agrees": N_(
        "The plateau begins at {start} cores, within one level of the machine's {cores}: more than "
        "it has buys nothing."
    ),
    "below": N_(
        "The plateau begins at {start} cores, below the machine's {cores}: the program cannot use "
        "them all."
    ),
    "above": N_(
        "The plateau begins at {start} cores, above the machine's {cores}: something other than "
        "cores limits it."
    ),
}


LESS = N_("Less, {setting}, is {loss} worse.")
MORE = N_("More, {setting}, is {loss} worse.")

PHASE_SENTENCES = {
    "better": N_(
        "{start} to {stop} is {phase} ({meaning}): {response} ends {change:percent} better, with "
        "{told} ({certainty:percent} interval {low} to {high})."
    ),
    "worse": N_(
        "{start} to {stop} is {phase} ({meaning}): {response} ends {change:percent} worse, with "
        "{told} ({certainty:percent} interval {low} to {high})."
    ),
}

SLOPES = {False: N_("an elasticity of {slope}"), True: N_("{slope} a unit")}
"""By whether the knob is on an interval scale."""

TIMES_CLOSER = 2
"""So many times smaller the interval of a doubtful phase is to become."""

CORES_TOLERANCE_LEVELS = 1
"""The bend of a curve of CPU limits is expected at the number of cores, within one level of the
sweep."""

RAW = Evidence("trials.parquet")
REPRODUCE = "reproduce"
"""Id of the commands that make a run again."""


def unsure_phases(s: Slice) -> list[Claim]:
    """What would show whether each doubtful phase really is one."""
    claims = []
    for position, phase in enumerate(s.model.phases.to_dict("records"), start=1):
        if float(phase["probability"]) >= UNSURE:
            continue
        inside = s.model.levels[s.model.levels["level"].between(phase["start"], phase["stop"])]
        levels = [float(level) for level in inside["level"]]
        more = further_trials(max(int(inside["n"].max()), 1), TIMES_CLOSER)
        text = _(
            "Whether {start} to {stop} really is such a phase: {n:count} more trials at each of "
            "the levels {levels} halve the interval of its elasticity.",
            n=more,
            levels=listing([level_text(s.model, level) for level in levels]),
            **ends(s.model, phase),
        )
        text = join([text, _time_of(s, levels, more)])
        claims.append(Claim(text, (_row_of(s, position),)))
    return claims


def _time_of(s: Slice, levels: list[float], replicates: int) -> str:
    """How long so many trials at each of the levels take; nothing where no wall time was
    measured."""
    trials = s.source.analysed
    if "wall_s" not in trials:
        return ""
    at, wall = positions(s.model, trials), trials["wall_s"].to_numpy(float)
    each = [float(np.median(wall[at == level])) for level in levels if np.any(at == level)]
    if len(each) < len(levels):
        return ""
    pause = s.source.study.design.cooldown_s if s.source.study else 0.0
    seconds = replicates * (sum(each) + pause * len(levels))
    return _("They take about {duration:duration} on this machine.", duration=seconds)


def title(analysis: Analysis) -> Title:
    """Title and question, and what a reader must know before the verdict: what makes the trials
    doubtful, and where there is no verdict, what is wrong with the experiment."""
    source, told = analysis.source, head_of(analysis.source)
    facts = {
        _("Study"): told["study"],
        _("Measured"): date(told["date"], spoken()) if told["date"] else "",
        _("Host"): told["host"],
        _("Run"): told["run_id"],
        _("Trials"): _(
            "{n:count} analysed of {all:count}", n=len(source.analysed), all=len(source.trials)
        ),
    }
    return Title(
        **told,
        doubts=(*source.doubts, *(_grave(analysis) if analysis.advice is None else ())),
        facts=tuple((name, value) for name, value in facts.items() if value),
        verdict=analysis.verdict,
    )


def _grave(analysis: Analysis) -> list[str]:
    """What is wrong with the experiment, without notes and without what the verdict says."""
    grave = [str(finding) for finding in analysis.findings if finding.severity != "notes"]
    return [text for text in grave if not (analysis.stopped and text in analysis.problem)]


def head_of(source: Source) -> dict[str, Any]:
    """What the head of a page tells of a run."""
    return {
        "title": source.title,
        "subtitle": source.question,
        "study": source.name,
        "run_id": source.run_id or "",
        "host": str(source.provenance.get("host", "")),
        "date": str(source.provenance.get("recorded_at", "")),
    }


def verdict(analysis: Analysis) -> Verdict:
    """The setting, what it gives, how sure that is, and what less or more of the knob brings."""
    if analysis.advice is None:
        text = _("This run does not support a recommendation. {reason}", reason=analysis.problem)
        claims = [Claim(text, (Evidence("failures"), Evidence("untrusted"), RAW))]
    else:
        claims = [Claim(analysis.advice.reason, _evidence_of_advice(analysis))]
        if beside := _neighbouring_settings(analysis):
            claims.append(Claim(beside, (Evidence("settings"),)))
        claims += filter(None, map(cores_check, analysis.slices))
    style = "verdict" if analysis.advice and analysis.advice.setting is not None else "warnings"
    return Verdict(
        tuple(claims), heading=_("Verdict"), style=style, id="verdict", **head_of(analysis.source)
    )


def _neighbouring_settings(analysis: Analysis) -> Message | None:
    """How much worse the next smaller and the next larger setting are, where they are not as good;
    None without an order of settings."""
    answer, advice = analysis.answer, analysis.advice
    assert answer is not None and advice is not None
    if advice.setting is None or answer.others or not answer.knob_scale.positions:
        return None
    table = advice.table.reset_index(drop=True)
    at = table.index[table["setting"] == advice.setting][0]
    parts = [
        say(text, setting=table["name"][i], loss=answer.scale.amount_text(float(table["loss"][i])))
        for i, text in ((at - 1, LESS), (at + 1, MORE))
        if i in table.index and not table["tied"][i]
    ]
    return join(parts) if parts else None


def to_do(analysis: Analysis) -> list[Claim]:
    """What would make the setting surer, with what it costs; nothing where the trials decide."""
    advice = analysis.advice
    if advice is None:
        return []
    parts, time = [caveat for caveat in advice.caveats if is_of_trials(caveat)], ""
    if len(analysis.slices) == 1 and advice.replicates and advice.replicates.replicates:
        [s] = analysis.slices
        own = [tied[s.model.knob] if isinstance(tied, dict) else tied for tied in advice.tied]
        levels = [level for value in own if (level := place_of(s.model, value)) is not None]
        time = _time_of(s, levels, advice.replicates.replicates)
    if time:
        return [Claim(join([*parts, time]), (Evidence("settings"),))]
    return [*map(Claim, parts)]


def doubts(analysis: Analysis) -> list[Claim]:
    """What makes the verdict doubtful: findings about the experiment first, then what to know of
    the setting."""
    if analysis.advice is None:
        return []
    sentences = [
        *_grave(analysis),
        *(caveat for caveat in analysis.advice.caveats if not is_of_trials(caveat)),
        *(analysis.answer.notes if analysis.answer and analysis.slices else ()),
    ]
    return [
        Claim(sentence)
        for sentence in dict.fromkeys(sentences)
        if sentence not in analysis.advice.reason
    ]


def limiting(s: Slice) -> list[Claim]:
    """What limits each phase, or where that cannot be told what the phase is, in a line each."""
    claims = []
    for number, row in enumerate(phase_rows(s.model)):
        told = limits(s.why, number) if s.why else row["meaning"]
        text = _("{start} to {stop} ({phase}): {told}.", told=told, **row)
        claims.append(Claim(text, (_row_of(s, number + 1),)))
    return claims


def _evidence_of_advice(analysis: Analysis) -> tuple[Evidence, ...]:
    """The figure, the row of the setting, the trials themselves, and the command behind them."""
    answer, advice = analysis.answer, analysis.advice
    assert answer is not None and advice is not None
    chosen = advice.setting if isinstance(advice.setting, dict) else {}
    where = ", ".join(f"{name} = {chosen.get(name)}" for name in analysis.source.by)
    evidence = [Evidence(s.anchor("response")) for s in analysis.slices if s.name in ("", where)]
    rows = list(in_order(answer, advice)["setting"])
    row = f"-{rows.index(advice.setting) + 1}" if advice.setting in rows else ""
    return (*evidence, Evidence(f"settings{row}"), RAW, Evidence(REPRODUCE, _("the command")))


def phases_in_words(s: Slice) -> Prose:
    """One sentence a phase, one on whether there are thresholds at all, and why each phase is what
    it is, where the trials carry an account of time."""
    claims = [_phase(s, row) for row in phase_rows(s.model)]
    return Prose((*claims, *_shape(s), *why_in_words(s)))


def below_the_phases(s: Slice) -> Prose:
    """What a fit rests on, whether there are thresholds at all, and what would show whether a
    doubtful phase is one."""
    return Prose((fit_in_words(s.model), *_shape(s), *unsure_phases(s)))


def _shape(s: Slice) -> list[Claim]:
    told = shape(s.model)
    return [Claim(told, (Evidence(s.anchor("response")), RAW))] if told else []


def why_in_words(s: Slice) -> list[Claim]:
    """Why each phase is what it is, where the trials carry an account of time."""
    why = [*sentences(s.why), *missing_measurements(s.source.provenance, s.why)]
    why += no_cause(s.source.analysed, s.model)
    return [Claim(sentence, (Evidence(s.anchor("phases")), RAW)) for sentence in why]


def _phase(s: Slice, row: Mapping[str, Any]) -> Claim:
    """row: of `phase_rows`."""
    told = {
        "phase": row["with_chances"],
        "response": plain_name(s.model.response),
        "change": abs(row["gain"]),
        "told": say(SLOPES[s.model.axis.is_interval], slope=row["slope"]),
        "certainty": s.model.certainty,
    }
    text = say(PHASE_SENTENCES["better" if row["gain"] >= 0 else "worse"], **{**row, **told})
    return Claim(text, (Evidence(s.anchor("response")), _row_of(s, row["position"])))


def _row_of(s: Slice, position: int) -> Evidence:
    """The row of a phase in the table of phases. position: 1 for the first."""
    return Evidence(f"{s.anchor('phases')}-{position}")


def cores_check(s: Slice) -> Claim | None:
    """Whether the curve bends at the machine's number of cores, as more quota than cores must buy
    nothing."""
    model = s.model
    cores = s.source.provenance.get("cores_usable")
    levels = [float(level) for level in model.levels["level"]]
    if model.knob != "cpu_limit" or not cores or not min(levels) < cores < max(levels):
        return None
    last = model.phases.iloc[-1]
    at = min(range(len(levels)), key=lambda i: abs(levels[i] - cores))
    begins = min(range(len(levels)), key=lambda i: abs(levels[i] - float(last["start"])))
    key = "below" if begins < at else "above"
    if last["label"] != "plateau":
        key = "none"
    elif abs(at - begins) <= CORES_TOLERANCE_LEVELS:
        key = "agrees"
    text = say(CORES[key], start=level_text(model, float(last["start"])), cores=cores)
    return Claim(text, (Evidence(s.anchor("response")), _row_of(s, len(model.phases))))


def warnings(s: Slice, advice: Recommendation | None) -> Prose | None:
    """What the fit itself warns of, without what the advice says already; None if there is
    nothing."""
    said = advice.caveats if advice else ()
    more = tuple(warning for warning in s.model.warnings if warning not in said)
    if not more:
        return None
    words = _("Warnings")
    words = _("{heading}: {slice}", heading=words, slice=s.name) if s.name else words
    return Prose(more, heading=words, level=3, style="warnings", id=s.anchor("warnings"))


def findings(analysis: Analysis) -> Prose | None:
    """What is noted about the experiment beside what makes the verdict doubtful; None if there is
    nothing."""
    notes = [str(finding) for finding in analysis.findings if finding.severity == "notes"]
    if not notes:
        return None
    said = tuple(Claim(note, (RAW,)) for note in notes)
    return Prose(said, heading=_("Findings about the experiment"), level=3, id="findings")


def reproduce(source: Source) -> CommandBlock:
    """The commands that make the run, and this report of it, again."""
    if source.study is None:
        sliced = "".join(f" --by {name}" for name in source.by)
        lines = [
            f"deadzone fit TABLE --knob {source.knob} --response {source.response} --goal "
            f"{source.goal}{sliced}"
        ]
    else:
        changed = [
            part for name, value in source.overrides.items() for part in ("-p", name, str(value))
        ]
        name = RunFolder(source.folder).study_name() if source.folder else source.name
        lines = [
            shlex.join(("deadzone", "run", name, *changed)),
            f"deadzone report {source.run_id}",
        ]
    return CommandBlock(tuple(lines), id=REPRODUCE)
