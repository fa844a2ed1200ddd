"""What moved since the previous run of a study: the section of its report, and the sentence of the
command."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deadzone.analysis.compare.comparing import compare_tables
from deadzone.analysis.compare.page import VERDICTS, change_text
from deadzone.analysis.compare.result import rows_of
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import ends
from deadzone.analysis.phases.quantities import listing, plain_name
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.trend.movement import Movement, movement
from deadzone.errors import CompareError, DeadzoneError
from deadzone.language.formats import date
from deadzone.language.messages import N_, _, join, ngettext, say, spoken
from deadzone.report.document.display import Block, Prose
from deadzone.report.sweep.analysis import Analysis, Slice, analyse
from deadzone.report.sweep.claims import judge_run, verdict_name
from deadzone.report.sweep.source import load_source
from deadzone.report.sweep.trials import Source
from deadzone.store.run import RunFolder, list_runs
from deadzone.style import PHASE_STYLES

MACHINE = ("cpu_model", "cores_usable", "limits_mechanism", "target")
"""Facts that must agree: on another machine other phases are no news."""

Moves = Sequence[tuple[Slice, Movement]]
"""Each slice of the run that the previous one has, too, and what moved in it."""


@dataclass(frozen=True, eq=False)
class RegressionCheck:
    """A run beside the previous one of its study.

    previous: id of the earlier run, empty where there is none. moved: whether a step of any curve
    is in another phase now; without curves, whether the best setting moved. sentence: the whole
    comparison in a sentence or two, or why the two are not compared; empty where there is no
    earlier run. details: sentences on the recommended settings and on the response.
    """

    now: Analysis
    previous: str = ""
    moved: bool = False
    sentence: str = ""
    details: tuple[str, ...] = ()

    def blocks(self) -> list[Block]:
        """The section of the report; nothing for a study's first run."""
        if not self.previous:
            return []
        return [
            Prose(
                (self.sentence, *self.details),
                heading=_("Since the previous run"),
                style="warnings" if self.moved else "",
                id="section-since",
            )
        ]


def regression_check(now: Analysis) -> RegressionCheck:
    """Set a run's analysis beside that of the run before it, where there is one that was measured
    alike."""
    source = now.source
    earlier = _previous(source)
    if earlier is None or now.advice is None:
        return RegressionCheck(now)
    alike: dict[str, Any] = {"knob": source.knob, "response": source.response, "goal": source.goal}
    try:
        then = analyse(load_source(str(earlier.folder), **alike))
    except DeadzoneError:
        then = None
    recorded = str(earlier.provenance().get("recorded_at", ""))
    run = {"previous": earlier.run_id, "date": date(recorded, spoken())}
    if then is None or then.advice is None:
        problem = _(
            "Run {previous} of {date} has no answer of its own, so nothing is compared with it.",
            **run,
        )
        return RegressionCheck(now, earlier.run_id, sentence=problem)
    machines = [side.provenance for side in (then.source, source)]
    if different := [name for name in MACHINE if machines[0].get(name) != machines[1].get(name)]:
        before, after = (
            listing([str(facts.get(name)) for name in different]) for facts in machines
        )
        problem = _(
            "Run {previous} of {date} was measured on another machine ({before}, now {after}), so "
            "the phases of the two are not compared.",
            before=before,
            after=after,
            **run,
        )
        return RegressionCheck(now, earlier.run_id, sentence=problem)
    old = {s.name: s.model for s in then}
    moves = [(s, movement(old[s.name], s.model)) for s in now if s.name in old]
    changed_claims = _claims(now, then, earlier.run_id)
    if not (now.slices or then.slices):
        moved, sentence = _best_setting(then.advice, now.advice, run)
    elif any(move.comparable for _s, move in moves):
        moved, sentence = any(move.moved for _s, move in moves), _phases(moves, run)
    else:
        problem = _(
            "Run {previous} of {date} measured other levels of {knob} than this one, so the "
            "phases of the two are not compared.",
            knob=plain_name(source.knob),
            **run,
        )
        return RegressionCheck(now, earlier.run_id, sentence=join([problem, changed_claims]))
    details = (*_settings(moves), *_response(then.source, source, earlier.run_id))
    sentence = join([sentence, changed_claims])
    return RegressionCheck(now, earlier.run_id, moved, sentence, details)


def _previous(source: Source) -> RunFolder | None:
    """The run of the same study that was measured last before this one."""
    if source.folder is None:
        return None
    siblings = list_runs(source.folder.parent.parent, source.folder.parent.name)
    earlier = [
        run for run in siblings if run.run_id < source.folder.name and run.journal_file.exists()
    ]
    return earlier[-1] if earlier else None


def _best_setting(
    then: Recommendation, now: Recommendation, run: dict[str, str]
) -> tuple[bool, str]:
    """Whether, without curves, each run shows the other's setting to be worse than its own best
    (Hsu's comparisons with the best): where nothing moved, both are so with at most a twentieth of
    a twentieth."""
    moved = now.setting not in then.tied and then.setting not in now.tied
    text = (
        N_(
            "The best setting moved since run {previous} of {date}: {before} then, {after} now, "
            "and each run shows the other's to be worse."
        )
        if moved
        else N_(
            "Since run {previous} of {date} no move of the best setting is shown: {before} then, "
            "{after} now."
        )
    )
    before, after = (
        _("none") if advice.setting is None else str(advice.chosen["name"])
        for advice in (then, now)
    )
    return moved, say(text, before=before, after=after, **run)


def _phases(moves: Moves, run: dict[str, str]) -> str:
    """Which steps of which slice are in another phase now."""
    sentences = []
    for s, move in moves:
        if not move.moved:
            continue
        steps = move.steps[move.steps["moved"]].to_dict("records")
        sentence = ngettext(
            "Phases moved since run {previous} of {date}: the step {steps} of {knob} is in another "
            "phase now.",
            "Phases moved since run {previous} of {date}: the steps {steps} of {knob} are in "
            "another phase now.",
            n=len(steps),
            steps=listing([_step(s.model, row) for row in steps]),
            knob=plain_name(move.knob),
            **run,
        )
        sentences.append(_("{slice}: {said}", slice=s.name, said=sentence) if s.name else sentence)
    return join(sentences) or _(
        "No phase moved since run {previous} of {date}: of {n:count} steps that both runs "
        "measured, none is in another phase, as far as the trials of both can tell.",
        n=sum(len(move.steps) for _s, move in moves),
        **run,
    )


def _step(model: PhaseModel, row: dict[Any, Any]) -> str:
    before, after = (PHASE_STYLES[str(row[f"label_{end}"])].name for end in ("before", "after"))
    return _(
        "{start} to {stop} ({before}, now {after})", before=before, after=after, **ends(model, row)
    )


def _settings(moves: Moves) -> list[str]:
    return [
        _(
            "The recommended setting moved from {before} to {after}: one of the two runs rules "
            "out what the other one recommends.",
            before=_setting(s.model, move.setting_before),
            after=_setting(s.model, move.setting_after),
        )
        for s, move in moves
        if move.setting_moved
    ]


def _setting(model: PhaseModel, value: Any) -> str:
    return str(value) if isinstance(value, str | dict) else level_text(model, float(value))


def _response(then: Source, now: Source, previous: str) -> list[str]:
    """How the response changed over all treatments that both runs hold."""
    factors = list(now.study.factor_names()) if now.study else [now.knob]
    try:
        comparison = compare_tables(
            then.analysed,
            now.analysed,
            now.response,
            factors=factors,
            goal=now.goal,
            names=(previous, str(now.run_id)),
        )
    except CompareError:
        return []
    row = rows_of(comparison.overall)[0]
    return [
        _(
            "Over all common treatments the {response} changed by {change} at {certainty:percent}: "
            "{verdict}.",
            response=plain_name(now.response),
            change=change_text(row),
            certainty=comparison.confidence,
            verdict=say(VERDICTS[row["verdict"]]),
        )
    ]


def _claims(now: Analysis, before: Analysis, previous: str) -> str:
    """Which claims that both runs were judged by have another verdict now."""
    earlier = {verdict.claim: verdict.verdict for verdict in judge_run(before.source, before)}
    named = [
        _(
            "{claim} ({before}, now {now})",
            claim=judged.claim,
            before=verdict_name(was),
            now=verdict_name(judged.verdict),
        )
        for judged in judge_run(now.source, now)
        if (was := earlier.get(judged.claim, judged.verdict)) != judged.verdict
    ]
    if not named:
        return ""
    text = N_("Since run {previous} the verdict on a claim changed: {changes}.")
    return say(text, previous=previous, changes=listing(named))
