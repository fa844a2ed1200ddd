"""The claims of a run, judged by its trials, and the section of its report: what was claimed beside
what the data support."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pandas as pd

from deadzone.analysis.claims.judging import ClaimVerdict, judge
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.claims.verdicts import Verdict
from deadzone.analysis.phases.quantities import axis_label, number
from deadzone.errors import StudyError
from deadzone.language.messages import N_, _, join, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Claim, Evidence, Prose, Table, section
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.trials import Source
from deadzone.store.run import RunFolder
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.claims import check_claims, same_level
from deadzone.study.design import levels_of
from deadzone.study.levels import Level
from deadzone.study.scales import level_name, levels_in

TRIALS = "claim-trials"
"""Id of the table of trials that verdicts rest on; a trial's row is `claim-trials-<number>`."""

VERDICT_NAMES = {
    "supported": N_("supported"),
    "partly": N_("in part"),
    "undecided": N_("not shown"),
    "contradicted": N_("contradicted"),
    "not_measured": N_("not measured"),
}


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

MOST_TRIALS_NAMED = 24
"""The most links of a claim; `--json` names all trials."""


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
    measured_levels = {name: levels_in(source.trials[name]) for name in (source.knob, *source.by)}
    levels = levels_of(source.study) if source.study else measured_levels
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
    known = [(dict(zip(source.by, place, strict=True)), model) for place, model in models.items()]
    asked = (source.response, source.goal, source.knob)
    measured = Measured(source.analysed, *asked, levels, known)
    return judge([claim for claim, _ in made], measured, added=[added for _, added in made])


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


def claims_table(judged: Sequence[ClaimVerdict]) -> Table:
    """One row a claim: what is claimed, the verdict, and what the data say; above them how many the
    data support, in part, not at all, or cannot decide."""
    counts = {name: sum(verdict.verdict == name for verdict in judged) for name in VERDICT_NAMES}
    rows = [{"one": verdict} for verdict in judged]
    return Table.of(CLAIMS_TABLE, rows, "claims", n=len(judged), **counts)


def verdict_name(verdict: Verdict) -> str:
    """A verdict in words."""
    return say(VERDICT_NAMES[verdict])


def named_trials(verdict: ClaimVerdict) -> tuple[int, ...]:
    """The trials that a verdict rests on; none where they are very many."""
    return verdict.trials if len(verdict.trials) <= MOST_TRIALS_NAMED else ()


def evidence_of(judged: Sequence[ClaimVerdict]) -> Prose:
    """Where the evidence for each conclusion that does not stand as it is can be looked up, and the
    trials of each claim on a run."""
    claims = []
    for verdict in judged:
        if verdict.evidence and (verdict.verdict != "supported" or verdict.trials):
            named = verdict_name(verdict.verdict)
            linked = [Evidence(f"{TRIALS}-{n}", _("trial {n}", n=n)) for n in named_trials(verdict)]
            see = _("{claim}: {verdict}.", claim=verdict.claim, verdict=named)
            text = join([see, _("It rests on the trials linked here.") if linked else ""])
            claims.append(Claim(text, (*map(Evidence, verdict.evidence), *linked)))
    return Prose(tuple(claims), heading=_("Where to look"), level=3, id="section-evidence")


def claims_section(
    source: Source, analysis: Analysis | None = None, further: Sequence[object] = ()
) -> list[Block]:
    """The claims of a run with their verdicts; nothing where it has none. further: see
    `judge_run`."""
    judged = judge_run(source, analysis, further)
    if not judged:
        return []
    evidence, trials = evidence_of(judged), _trials_table(source, judged)
    table = [section(_("What was claimed"), "heading"), claims_table(judged)]
    return [*table, *([evidence] if evidence.paragraphs else []), *([trials] if trials else [])]


def _trials_table(source: Source, judged: Sequence[ClaimVerdict]) -> Table | None:
    """A row for each trial that a verdict rests on: its levels and whatever of it was claimed; None
    without any."""
    linked = {n for verdict in judged for n in named_trials(verdict)}
    if not linked or source.study is None or source.folder is None:
        return None
    sound = source.analysed
    frame = sound[sound["trial"].isin(linked)].drop_duplicates("trial", keep="last")
    levels = ["trial", *levels_of(source.study)]
    claimed = [name for claim, _ in RunFolder(source.folder).claims() for name in claim.columns()]
    values = [name for name in (source.response, *claimed) if name in frame and name not in levels]
    facts = {axis_label(name): frame[name].map(level_name) for name in levels}
    facts |= {axis_label(name): frame[name].astype(float).map(number) for name in values}
    caption = _("The trials that the verdicts rest on, each with what was claimed of it.")
    ids = list(facts[axis_label("trial")])
    return Table.of_frame(pd.DataFrame(facts), caption, list(facts), TRIALS, ids)


def line(verdict: ClaimVerdict) -> str:
    """A claim, its verdict and its figures in a line of a terminal."""
    named, claim, found = verdict_name(verdict.verdict), verdict.claim, verdict.found
    return _("{verdict}: {claim}. {found}", verdict=named, claim=claim, found=found)
