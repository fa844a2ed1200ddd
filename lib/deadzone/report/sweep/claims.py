"""The claims of a run, judged by its trials, and the section of its report."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pandas as pd

from deadzone.analysis.claims.judging import ClaimVerdict, judge
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.mechanisms.explaining import mechanisms_between
from deadzone.analysis.phases.fit import curve_of
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import axis_label, number
from deadzone.errors import StudyError
from deadzone.language.messages import _
from deadzone.report.document.display import Block, Table, section
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.claims_table import claims_table, evidence_of, named_trials, verdict_name
from deadzone.report.sweep.source import Source
from deadzone.store.run import RunFolder
from deadzone.store.table import is_at
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.claims import ClaimSpec, check_claims, same_level
from deadzone.study.design import levels_of
from deadzone.study.levels import Level
from deadzone.study.scales import level_name, levels_in

TRIALS = "claim-trials"
"""Id of the table of trials that verdicts rest on; a trial's row is `claim-trials-<number>`."""


def judge_run(
    source: Source, analysis: Analysis | None = None, further: Sequence[object] = ()
) -> tuple[ClaimVerdict, ...]:
    """The verdict on every claim of a run, those that were added later included.

    analysis: of the source, so that no curve is fitted a second time. further: claims, as
    sentences, YAML or mappings, that are judged with them and not stored. A table that is no run
    has no other claims.

    Raises StudyError for a claim that the run cannot test, or that contradicts another one.
    """
    made = RunFolder(source.folder).claims() if source.study and source.folder else []
    levels = _levels_of(source)
    if further:
        if not isinstance(further, list | tuple):
            raise StudyError(f"Further claims are {further!r:.60}; give a list of sentences.")
        today = datetime.now(UTC).date().isoformat()
        made = [*made, *((parse_claim(text), today) for text in further)]
        columns = [str(name) for name in source.trials.columns]
        check_claims([claim for claim, _ in made], levels, source.knob, columns)
    if not made:
        return ()
    models = analysis.answer.models if analysis and analysis.answer else {}
    known = [(dict(zip(source.by, levels, strict=True)), model) for levels, model in models.items()]
    measured = measured_of(
        source.analysed, source.response, source.goal, source.knob, levels, known
    )
    return judge([claim for claim, _ in made], measured, added=[added for _, added in made])


def measured_of(
    trials: pd.DataFrame,
    response: str,
    goal: str,
    knob: str,
    levels: Mapping[str, Sequence[Level]],
    known: Sequence[tuple[Mapping[str, Level], PhaseModel]] = (),
) -> Measured:
    """What claims are judged by. levels: of every factor. known: curves that are fitted already, by
    the levels that they are at."""

    def model_of(given: Mapping[str, Level]) -> PhaseModel | None:
        for where, model in known:
            if all(
                name in given and same_level(level, given[name]) for name, level in where.items()
            ):
                return model
        return curve_of(trials[is_at(trials, given)], knob, response, goal)

    return Measured(
        trials, response, goal, knob, levels, model_of,
        lambda rows, ends: mechanisms_between(rows, response, goal, knob, ends),
    )  # fmt: skip


def _levels_of(source: Source) -> Mapping[str, Sequence[Level]]:
    """The levels of every factor: of a run those planned, of a table those measured."""
    if source.study:
        return levels_of(source.study)
    return {name: levels_in(source.trials[name]) for name in (source.knob, *source.by)}


def contradicted(
    source: Source, analysis: Analysis, levels: Mapping[str, Level]
) -> list[ClaimVerdict]:
    """The claims that speak of a setting and are contradicted: what rests on the setting should not
    rest on them."""
    made = RunFolder(source.folder).claims() if source.folder else []
    return [
        verdict
        for (claim, _), verdict in zip(made, judge_run(source, analysis), strict=True)
        if verdict.verdict == "contradicted" and _speaks_of(claim, source.knob, levels)
    ]


def _speaks_of(claim: ClaimSpec, knob: str, levels: Mapping[str, Level]) -> bool:
    named = [*claim.settings(), *((knob, level) for level in claim.knob_levels())]
    return any(factor in levels and same_level(level, levels[factor]) for factor, level in named)


def claims_section(
    source: Source, analysis: Analysis | None = None, further: Sequence[object] = ()
) -> list[Block]:
    """The claims of a run with their verdicts; nothing where it has none. further: see
    `judge_run`."""
    judged = judge_run(source, analysis, further)
    if not judged:
        return []
    table = claims_table(judged)
    evidence, trials = evidence_of(judged, TRIALS), _trials_table(source, judged)
    shown = (
        section(_("What was claimed"), "heading"),
        table,
        evidence if evidence.paragraphs else None,
        trials,
    )
    return [block for block in shown if block is not None]


def _trials_table(source: Source, judged: Sequence[ClaimVerdict]) -> Table | None:
    """A row for each trial that a verdict rests on: its levels and whatever of it was claimed; None
    without any."""
    linked = {n for verdict in judged for n in named_trials(verdict)}
    if not linked or source.study is None or source.folder is None:
        return None
    frame = source.analysed[source.analysed["trial"].isin(linked)].drop_duplicates(
        "trial", keep="last"
    )
    levels = ["trial", *levels_of(source.study)]
    claimed = [name for claim, _ in RunFolder(source.folder).claims() for name in claim.columns()]
    values = [name for name in (source.response, *claimed) if name in frame and name not in levels]
    facts = {axis_label(name): frame[name].map(level_name) for name in levels}
    facts |= {axis_label(name): frame[name].astype(float).map(number) for name in values}
    ids = list(facts[axis_label("trial")])
    return Table(
        pd.DataFrame(facts),
        _("The trials that the verdicts rest on, each with what was claimed of it."),
        numeric=list(facts),
        id=TRIALS,
        row_ids=ids,
    )


def line(verdict: ClaimVerdict) -> str:
    """A claim, its verdict and its figures in a line of a terminal."""
    return _(
        "{verdict}: {claim}. {found}",
        verdict=verdict_name(verdict.verdict),
        claim=verdict.claim,
        found=verdict.found,
    )
