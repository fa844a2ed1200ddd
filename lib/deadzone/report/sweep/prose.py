"""The sentences of a report, made from the numbers, each with what it rests on.

The tables of a report, as texts with units and sensible digits, each under a sentence about the
data.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from deadzone.analysis.mechanisms.explaining import limits, no_cause, sentences
from deadzone.analysis.phases.candidates import places
from deadzone.analysis.phases.decision import is_of_trials
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.quantities import axis_label, listing, plain_name
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.summary import SLOPES, fit_facts, phase_rows, shape, summarise
from deadzone.analysis.settings.wording import in_order
from deadzone.language.formats import date
from deadzone.language.messages import N_, Message, _, join, ngettext, say, spoken
from deadzone.language.tabling import Layout
from deadzone.report.document.display import (
    Claim,
    CommandBlock,
    Evidence,
    Prose,
    Table,
    Title,
    Verdict,
)
from deadzone.report.sweep.analysis import Analysis, Slice
from deadzone.report.sweep.trials import Source
from deadzone.store.command_lines import command_line
from deadzone.store.run import RunFolder
from deadzone.study.scales import level_name

RAW = Evidence("trials.parquet")
REPRODUCE = "reproduce"
"""Id of the commands that make a run again."""


def title(analysis: Analysis) -> Title:
    """Title and question, and what a reader must know before the verdict: what makes the trials
    doubtful, and where there is no verdict, what is wrong with the experiment."""
    source, head = analysis.source, head_of(analysis.source)
    facts = {
        _("Study"): head.study,
        _("Measured"): date(head.date, spoken()) if head.date else "",
        _("Host"): head.host,
        _("Run"): head.run_id,
        _("Trials"): _(
            "{n:count} analysed of {all:count}", n=len(source.analysed), all=len(source.trials)
        ),
    }
    return replace(
        head,
        doubts=(*source.doubts, *(_grave(analysis) if analysis.advice is None else ())),
        facts=tuple((name, value) for name, value in facts.items() if value),
        verdict=analysis.verdict,
    )


def _grave(analysis: Analysis) -> list[str]:
    """What is wrong with the experiment, without notes and without what the verdict says."""
    grave = [finding for finding in analysis.findings if finding.severity != "notes"]
    return [str(finding) for finding in grave if finding.sentence not in analysis.problem]


def head_of(source: Source) -> Title:
    """What the head of a page tells of a run."""
    return Title(
        source.title,
        source.question,
        study=source.name,
        run_id=source.run_id or "",
        host=str(source.provenance.get("host", "")),
        date=str(source.provenance.get("recorded_at", "")),
    )


def verdict(analysis: Analysis) -> Verdict:
    """The setting, what it gives, and how sure that is."""
    advice = analysis.advice
    if advice is None:
        text = _("This run does not support a recommendation. {reason}", reason=analysis.problem)
        claims = [Claim(text, (Evidence("failures"), Evidence("untrusted"), RAW))]
    else:
        claims = [Claim(advice.reason, _evidence_of_advice(analysis))]
    is_sure = advice and advice.setting is not None and not advice.doubt
    style = "verdict" if is_sure else "warnings"
    return Verdict(
        tuple(claims), heading=_("Verdict"), style=style, id="verdict", of=head_of(analysis.source)
    )


def to_do(analysis: Analysis) -> list[Claim]:
    """What would make the setting surer; nothing where the trials decide."""
    advice = analysis.advice
    if advice is None:
        return []
    return [Claim(caveat) for caveat in advice.caveats if is_of_trials(caveat)]


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
        claims.append(Claim(text, (Evidence(f"{s.anchor('phases')}-{number + 1}"),)))
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


def shape_in_words(s: Slice) -> list[Claim]:
    """Whether there are thresholds at all."""
    told = shape(s.model)
    return [Claim(told, (Evidence(s.anchor("response")), RAW))] if told else []


def why_in_words(s: Slice) -> list[Claim]:
    """Why each phase is what it is, where the trials carry an account of time."""
    return [
        Claim(sentence, (Evidence(s.anchor("phases")), RAW))
        for sentence in (*sentences(s.why), *no_cause(s.source.analysed, s.model))
    ]


def notes(analysis: Analysis) -> Prose | None:
    """What is noted about the experiment and what the fits warn of, beside what the advice says;
    None if there is nothing."""
    noted = [str(finding) for finding in analysis.findings if finding.severity == "notes"]
    said = analysis.advice.caveats if analysis.advice else ()
    for s in analysis:
        more = [warning for warning in s.model.warnings if warning not in said]
        noted += [
            _("{slice}: {said}", slice=s.name, said=text) if s.name else text for text in more
        ]
    claims = tuple(Claim(note, (RAW,)) for note in noted)
    return Prose(claims, heading=_("Warnings"), level=3, style="warnings") if claims else None


def reproduce(source: Source) -> CommandBlock:
    """The commands that make the run, and this report of it, again."""
    if source.study is None:
        sliced = "".join(f" --by {name}" for name in source.by)
        lines = [
            f"deadzone fit TABLE --knob {source.knob} --response {source.response} --goal "
            f"{source.goal}{sliced}"
        ]
    else:
        line = command_line(RunFolder(source.folder)) if source.folder else ""
        lines = [*filter(None, [line]), f"deadzone report {source.run_id}"]
    return CommandBlock(tuple(lines), id=REPRODUCE)


OUTLIERS = N_(
    "{n} of {all:count} trials is an outlier; it stays in the data and counts for little in the "
    "fit.",
    "{n} of {all:count} trials are outliers; they stay in the data and count for little in the "
    "fit.",
)

LEFT_OUT_TABLE = Layout(
    columns={
        "{knob_label}": "{level}",
        N_("trials", context="count"): "{count:,}",
        N_("status"): "{status}",
        N_("reason"): "{reason}",
        N_("trial numbers"): "{numbers}",
    },
    caption="{told}",
    numeric=(0, 1),
)

UNTRUSTED = N_(
    "{n} attempt was disturbed from outside; it is kept, and analysed only for want of others.",
    "{n:count} attempts were disturbed from outside; they are kept, and analysed only for want of "
    "others.",
)
FAILED = N_(
    "{n} of {all:count} trials failed; it is kept, and left out of the fit.",
    "{n:count} of {all:count} trials failed; they are kept, and left out of the fit.",
)


def positions(model: PhaseResult, trials: pd.DataFrame) -> np.ndarray:
    """Where each trial stands on the knob's axis, NaN for those whose level is not on it."""
    named = {level_name(level): place for level, place in places(model).items()}
    return trials[model.knob].map(level_name).map(named).to_numpy(float)


def cores_used(trials: pd.DataFrame) -> list[str]:
    """The columns with the cores that the trials used, and those that servers used which belong to
    them."""
    beside = (name for name in map(str, trials) if name.endswith("_cores"))
    return [name for name in ("cpu_efficiency", *beside) if is_measured(trials, name)]


def is_measured(trials: pd.DataFrame, column: str) -> bool:
    """Whether any trial has a value of a column."""
    return column in trials and bool(trials[column].notna().any())


def outliers_table(s: Slice) -> Table | None:
    """The trials that were given less weight, with the reason; None if there are none."""
    n = len(s.model.outliers)
    if not n:
        return None
    caption = say(OUTLIERS, n=n, all=s.model.n_trials)
    return Table.shown(summarise(s.model, s.advice).sections[-1], s.anchor("outliers"), caption)


def left_out(source: Source) -> list[Table]:
    """The trials that were disturbed, and those that failed, timed out or were killed, one row for
    those alike at a level; no table where there are none."""
    tables = []
    for identity, rows, reason, text in (
        ("untrusted", source.untrusted, "distrust_reason", UNTRUSTED),
        ("failures", source.failed, "error", FAILED),
    ):
        if rows.empty:
            continue
        said = rows[reason].fillna("") if reason in rows else ""
        named = {"level": rows[source.knob], "status": rows.get("status", ""), "reason": said}
        alike = rows.assign(**named).astype(dict.fromkeys((*named, "trial"), str))
        grouped = alike.groupby([*named], sort=False)["trial"]
        shown = grouped.agg(count="size", numbers=lambda trials: listing([*trials])).reset_index()
        told = say(text, n=len(rows), all=len(source.trials))
        cells, label = shown.to_dict("records"), axis_label(source.knob)
        tables.append(Table.of(LEFT_OUT_TABLE, cells, identity, told=told, knob_label=label))
    return tables


PHASES_TABLE = Layout(
    columns={
        "{label}": "{range}",
        N_("phase"): "{phase}",
        N_("gain"): "{gain:percent}",
        "{slope_name}": "{slope}",
        N_("std err"): "{error}",
        N_("{certainty:percent} interval"): "{interval}",
        "p": "{p_value:p}",
    },
    caption="{told}",
    ids="{position}",
    numeric=(2, 3, 4, 5, 6),
)

MEANINGS = {
    False: N_("An elasticity of 1 is perfect scaling, 0 no gain, below 0 harm."),
    True: N_("A unit is one of the knob's, on an interval scale."),
}
"""Of the slope of a phase, by whether the knob is on an interval scale."""


def names(response: str, knob: str) -> dict[str, str]:
    """Two columns in words, as the sentences on a curve name them."""
    return {"response": plain_name(response), "knob": plain_name(knob)}


def phases_text(model: PhaseModel) -> str:
    """All phases in a line: `linear 1-4, dead zone 4-6, ...`."""
    return join(["{phase} {start}-{stop}".format(**row) for row in phases_shown(model)], ", ")


def phases_table(
    model: PhaseModel,
    *,
    identity: str = "phases",
    name: str = "",
) -> Table:
    """One row a phase: range, label, gain over the phase, elasticity with its standard error,
    interval and p (of no effect at all, by Student's t).

    identity: id of the table. name: of the curve, beside others.
    """
    rows = phase_rows(model)
    for row in rows:
        row["range"] = _("{start} to {stop}", start=row["start"], stop=row["stop"])
        row["interval"] = _("{start} to {stop}", start=row["low"], stop=row["high"])
    is_interval = model.axis.is_interval
    caption = ngettext(
        "The curve of {response} over {knob} is a single phase. {meaning}",
        "The curve of {response} over {knob} has {n} phases. {meaning}",
        n=len(rows),
        meaning=say(MEANINGS[is_interval]),
        **names(model.response, model.knob),
    )
    return Table.of(
        PHASES_TABLE,
        rows,
        identity,
        told=f"{name}. {caption}" if name else caption,
        label=axis_label(model.knob),
        slope_name=say(SLOPES[is_interval]),
        certainty=model.certainty,
    )


def fit_in_words(model: PhaseModel) -> Message:
    """What stands below the coefficients of a fit: trials, noise and R2."""
    return _(
        "n = {n_trials:count} trials at {n_levels} levels; noise {noise:percent}; R² = "
        "{r_squared:number}.",
        **fit_facts(model),
    )
