"""The claims of a run, judged by its trials, and the section of its report: what was claimed beside
what the data support."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from deadzone.analysis.claims.judging import VERDICT_NAMES, ClaimVerdict, judge
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases.censored import is_bound
from deadzone.errors import DeadzoneError, StudyError
from deadzone.language.messages import N_
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Table
from deadzone.report.sweep.analysis import Analysis, Source
from deadzone.report.sweep.regression_check import earlier_runs
from deadzone.report.sweep.source import load_source
from deadzone.store.run import RunFolder
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.claims import check_claims, same_level
from deadzone.study.design import levels_of
from deadzone.study.levels import Level
from deadzone.study.response_cells import level_names
from deadzone.study.scales import levels_in

CLAIMS_TABLE = Layout(
    columns={
        N_("claim"): "{one.claim}",
        N_("verdict"): (VERDICT_NAMES, "{one.verdict}"),
        N_("what the data say"): "{one.found}",
    },
    caption=N_(
        "One claim: {supported} supported, {partly} in part, {undecided} not shown, {contradicted} "
        "contradicted, {not_measured} not measured; with 95 % confidence, not one of these "
        "verdicts is wrong.",
        "{n} claims: {supported} supported, {partly} in part, {undecided} not shown, "
        "{contradicted} contradicted, {not_measured} not measured; with 95 % confidence, not one "
        "of these verdicts is wrong.",
    ),
    ids="{one.name}",
)


def judge_run(
    source: Source,
    analysis: Analysis | None = None,
    further: Sequence[object] = (),
    confidence: float = CONFIDENCE,
) -> tuple[ClaimVerdict, ...]:
    """The verdict on every claim of a run, those that were added later included.

    analysis: of the source, so that no curve is fitted a second time. further: claims, as
    sentences, YAML or mappings, that are judged with them and not stored. A table that is no run
    has no other claims. confidence: that none of the verdicts is wrong.

    Raises StudyError for a claim that the run cannot test.
    """
    made = RunFolder(source.folder).claims() if source.study and source.folder else []
    levels = (
        levels_of(source.study)
        if source.study
        else {name: levels_in(source.trials[name]) for name in (source.knob, *source.by)}
    )
    if further:
        if not isinstance(further, list | tuple):
            raise StudyError(f"Further claims are {further!r:.60}; give a list of sentences.")
        today = datetime.now(UTC).date().isoformat()
        made = [*made, *((parse_claim(text), today) for text in further)]
        claims = [claim for claim, _ in made]
        check_claims(claims, levels, source.knob, [*map(str, source.trials)])
    if not made:
        return ()
    models = analysis.answer.models if analysis and analysis.answer else {}
    known = [(dict(zip(source.by, place, strict=True)), model) for place, model in models.items()]
    trials = source.analysed  # of a level with a stopped trial no mean is known
    at = [level_names(trials[name]) for name in (source.knob, *source.by)]
    bound = is_bound(trials, source.response).groupby(at).transform("any").astype(bool)
    measured = Measured(trials[~bound], source.response, source.goal, source.knob, levels, known)
    return judge([claim for claim, _ in made], measured, confidence, [added for _, added in made])


def contradicted(
    source: Source, analysis: Analysis, levels: Mapping[str, Level]
) -> list[ClaimVerdict]:
    """The claims that speak of a setting and are contradicted: what rests on the setting should not
    rest on them."""
    made = RunFolder(source.folder).claims() if source.folder else []
    return [
        verdict
        for (claim, _), verdict in zip(made, judge_run(source, analysis), strict=True)
        if verdict.verdict == "contradicted"
        and any(
            factor in levels and same_level(level, levels[factor])
            for factor, level in claim.named(source.knob)
        )
    ]


def judged_of(run: RunFolder) -> tuple[ClaimVerdict, ...]:
    """The claims of a run, judged; nothing is read where there are none."""
    return judge_run(load_source(str(run.folder))) if run.claims() else ()


def claims_moved(run: RunFolder, judged: Sequence[ClaimVerdict]) -> bool:
    """Whether the verdict on a claim is another than by the previous run of the study. judged: the
    claims of the run."""
    earlier = earlier_runs(run)
    if not (earlier and judged):
        return False
    try:
        before = {one.claim: one.verdict for one in judged_of(earlier[-1])}
    except DeadzoneError:  # it has no trials to judge by
        return False
    return any(before.get(one.claim, one.verdict) != one.verdict for one in judged)


def claims_table(judged: Sequence[ClaimVerdict]) -> Table:
    """One row a claim: what is claimed, the verdict, and what the data say; above them how many the
    data support, in part, not at all, or cannot decide."""
    counts = {name: sum(verdict.verdict == name for verdict in judged) for name in VERDICT_NAMES}
    rows = ({"one": verdict} for verdict in judged)
    return Table.of(CLAIMS_TABLE, rows, "claims", n=len(judged), **counts)
