"""The sentences of a report, made from the numbers, each with what it rests on."""

import shlex
from dataclasses import replace

from deadzone.analysis.mechanisms.explaining import limits, no_cause, sentences
from deadzone.analysis.phases.decision import is_of_trials
from deadzone.analysis.phases.summary import phase_rows, shape
from deadzone.analysis.settings.wording import in_order
from deadzone.analysis.trial_columns import counted, is_untrusted
from deadzone.language.formats import date
from deadzone.language.messages import _, spoken
from deadzone.report.document.display import Claim, CommandBlock, Evidence, Prose, Title, Verdict
from deadzone.report.sweep.analysis import Analysis, Slice, Source
from deadzone.store.command_lines import command_line
from deadzone.store.reference import reference_run
from deadzone.store.run import RunFolder

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
            "{n:count} of {all:count} trusted",
            n=len(counted(source.analysed)),
            all=len(source.analysed),
        )
        if is_untrusted(source.trials, source.knob)
        else _("{n:count} analysed of {all:count}", n=len(source.analysed), all=len(source.trials)),
    }
    return replace(
        head,
        doubts=(*source.doubts, *analysis.left_out),
        facts=tuple((name, value) for name, value in facts.items() if value),
        verdict=analysis.verdict,
    )


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
    claim = (
        Claim(advice.reason, _evidence_of_advice(analysis))
        if advice
        else Claim(analysis.problem, (Evidence("failures"), Evidence("untrusted"), RAW))
    )
    is_sure = advice and advice.setting is not None and not advice.doubt
    style = "verdict" if is_sure else "warnings"
    return Verdict(
        (claim,), heading=_("Verdict"), style=style, id="verdict", of=head_of(analysis.source)
    )


def to_do(analysis: Analysis) -> list[Claim]:
    """What would make the setting surer; nothing where the trials decide."""
    return [Claim(caveat) for caveat in analysis.caveats if is_of_trials(caveat)]


def doubts(analysis: Analysis) -> list[Claim]:
    """What makes the verdict doubtful: findings about the experiment first, then what to know of
    the setting."""
    sentences = [
        *analysis.further("stops", "doubts"),
        *(caveat for caveat in analysis.caveats if not is_of_trials(caveat)),
        *(analysis.answer.notes if analysis.answer and analysis.slices else ()),
    ]
    said = analysis.recommendation["reason"]
    return [Claim(sentence) for sentence in dict.fromkeys(sentences) if sentence not in said]


def limiting(s: Slice) -> list[Claim]:
    """What limits each phase, or where that cannot be told what the phase is, in a line each."""
    phases, why = s.anchor("phases"), s.why
    return [
        Claim(
            _(
                "{start} to {stop} ({phase}): {told}.",
                told=limits(why, i) if why else row["meaning"],
                **row,
            ),
            (Evidence(f"{phases}-{i + 1}"),),
        )
        for i, row in enumerate(phase_rows(s.model))
    ]


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
    noted = [note for note in analysis.further("notes") if note not in analysis.left_out]
    told = analysis.answer.notes if analysis.answer else ()
    noted += [
        _("{slice}: {said}", slice=s.name, said=warning) if s.name else warning
        for s in analysis
        for warning in s.model.warnings
        if warning not in (*analysis.caveats, *told)
    ]
    claims = tuple(Claim(note, (RAW,)) for note in noted)
    return Prose(claims, heading=_("Warnings"), level=3, style="warnings") if claims else None


def reproduce(source: Source) -> CommandBlock:
    """The commands that make the run, and this report of it, again."""
    if source.study is None:
        by = [word for name in source.by for word in ("--by", name)]
        roles = ("--knob", source.knob, "--response", source.response, "--goal", source.goal)
        lines = [shlex.join(("deadzone", "fit", "TABLE", *roles, *by))]
    else:
        line = command_line(RunFolder(source.folder)) if source.folder else ""
        study = source.study.study
        run_id = "reference" if source.folder == reference_run(study) else source.run_id
        lines = [*filter(None, [line]), f"deadzone report {study}/{run_id}"]
    return CommandBlock(tuple(lines), id=REPRODUCE)
