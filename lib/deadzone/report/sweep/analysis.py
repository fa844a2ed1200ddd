"""The trials that an analysis is made of, with what is asked of them and known about them; and the
analysis: their phase models and the recommendation; `report` shows it.

What is wrong with the experiment behind a source, and what follows for its verdict.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone import packs
from deadzone.analysis.finding import SEVERITIES, Finding, Severity
from deadzone.analysis.findings.examining import barred_levels, examine
from deadzone.analysis.findings.experiment import Experiment, without_barred
from deadzone.analysis.findings.fitting import examined
from deadzone.analysis.phases.censored import is_bound
from deadzone.analysis.phases.decision import UNANSWERED, State, problem, stopping
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import listing
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.roles import of_levels
from deadzone.analysis.settings.answering import Answer
from deadzone.analysis.settings.wording import grid_verdict
from deadzone.analysis.trial_columns import answering, is_well, marked, measured
from deadzone.errors import PhaseError, resume_option
from deadzone.language.messages import N_, Message, _, join, spoken
from deadzone.store.table import SEARCH_STAGE, rows_at
from deadzone.study.scales import WORDS, level_name

if TYPE_CHECKING:
    from deadzone.analysis.mechanisms.explaining import PhasesExplained
    from deadzone.study.spec import Study


FAILED = N_(
    "No trial of {knob} {levels} ended well ({failed:count} tried): this level of the {planned} "
    "planned is missing from everything below.",
    "No trial of {knob} {levels} ended well ({failed:count} tried): these {n} of the {planned} "
    "planned levels are missing from everything below.",
)


@dataclass(frozen=True, eq=False)
class Source(Experiment):
    """An experiment with its circumstances.

    how: the knob and the response are written, see `deadzone.analysis.settings.answering.answer`.
    study, provenance: of a run; None and empty for a plain table. doubts: what a reader
    must know before anything else. folder: of the run, None for a plain table. barred: levels of
    the knob that fail too often to be analysed.
    """

    name: str = ""
    title: str = ""
    question: str = ""
    how: Mapping[str, Any] = field(default_factory=dict)
    study: "Study | None" = None
    run_id: str | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    doubts: tuple[Message, ...] = ()
    folder: Path | None = None
    barred: tuple[Any, ...] = ()

    @property
    def is_search(self) -> bool:
        """Whether several knobs were searched, and what is asked for is what they were searched
        for."""
        study = self.study
        return (
            study is not None
            and study.design.kind == "search"
            and self.response == study.response.name
            and {*self.factors} == {*study.varied()}
        )

    @property
    def factors(self) -> tuple[str, ...]:
        """The other factors and, last, the knob."""
        return (*self.by, self.knob)

    @cached_property
    def accepted(self) -> Mapping[str, str]:
        """Reasons for findings that the study means, by key."""
        return self.study.accept if self.study else {}

    @cached_property
    def judged(self) -> "Source":
        """Itself, with the levels that fail too often."""
        if not (barred := barred_levels(self)):
            return self
        # what the findings say of these levels is said once
        told = FAILED, listing([*map(level_name, barred)])
        doubts = (one for one in self.doubts if (one.text, one.values.get("levels")) != told)
        return replace(self, barred=barred, doubts=tuple(doubts))

    @cached_property
    def _answers(self) -> dict[str, Answer]:
        return {}

    @property
    def answer(self) -> Answer:
        """Every setting with the curves, whatever is wished of a recommendation; worked out once in
        each language. Raises PhaseError for what no curve can be fitted to."""
        if spoken() not in self._answers:
            rows = self.judged.fitted
            self._answers[spoken()] = examined(self, self.accepted, rows, **self.how)
        return self._answers[spoken()]

    @property
    def trials(self) -> pd.DataFrame:
        """Every attempt, those at another workload too."""
        if self.others is None:
            return self.table
        return pd.concat([self.table, self.others]).sort_index()

    @property
    def analysed(self) -> pd.DataFrame:
        """The trials that the analysis rests on: measured, not warm-up, trusted, of no barred level
        but those that time-outs bound."""
        return self._without_barred(analysed_trials(self.trials, self.knob, self.response))

    @property
    def fitted(self) -> pd.DataFrame:
        """The trials that are handed to the fit, which says what it leaves out of a plain table."""
        return self.analysed if self.study else self._without_barred(self.trials)

    def _without_barred(self, trials: pd.DataFrame) -> pd.DataFrame:
        return without_barred(trials, self.knob, self.response, self.barred)

    @property
    def untrusted(self) -> pd.DataFrame:
        """The attempts that are not trusted, warm-up left out."""
        return measured(self.trials[~marked(self.trials, "trusted", missing=True)])

    @property
    def failed(self) -> pd.DataFrame:
        """The trials that did not end well."""
        return self.trials[~is_well(self.trials)]


def analysed_trials(trials: pd.DataFrame, knob: str, response: str = "") -> pd.DataFrame:
    """The rows an analysis rests on, time-outs too where they bound the response."""
    kept = answering(trials, knob)
    return kept[is_well(kept) | is_bound(kept, response)]


def explained_by_account(trials: pd.DataFrame, model: PhaseModel) -> "PhasesExplained | None":
    """See `explain_phases`; None where the trials carry no account of time, the response is no time
    of them, or the knob has no proportion."""
    if "threads_s" not in trials:
        return None
    from deadzone.analysis.mechanisms.explaining import explain_phases  # seldom needed

    try:
        return explain_phases(trials, model)
    except PhaseError:
        return None


@dataclass(frozen=True, eq=False)
class Slice:
    """One curve of a source: its rows, model and recommendation.

    name: which slice, empty if there is one only. position: 0 for the first; its blocks are named
    after it.
    """

    name: str
    source: Source
    model: PhaseModel
    advice: Recommendation
    position: int = 0

    @cached_property
    def why(self) -> "PhasesExplained | None":
        """What explains its phases; None where the trials carry no account of time, or nothing
        scales in proportion."""
        return explained_by_account(self.source.analysed, self.model)

    def anchor(self, block: str) -> str:
        """The id of a block of this slice: `response`, and `slice-2-response` in the second
        slice."""
        return f"slice-{self.position + 1}-{block}" if self.position else block

    def captioned(self, text: str) -> str:
        """A caption that begins with the slice's name, where it has one."""
        return f"{self.name}. {text}" if self.name else text


@dataclass(frozen=True, eq=False)
class Analysis:
    """The slices of a source and the recommendation over all of them.

    answer: every setting, with or without a curve; of a search those that were confirmed.
    searched: what a search over several knobs found. problem: why there is none; slices are empty
    and advice None then. in_each_slice: the recommendation for each combination of the other
    factors' levels, where there are others. findings: what is wrong with the experiment, the
    gravest first; one that stops leaves no slices and no advice.
    """

    source: Source
    slices: tuple[Slice, ...]
    advice: Recommendation | None
    problem: str = ""
    findings: tuple[Finding, ...] = ()
    stopped: bool = False
    in_each_slice: tuple[Recommendation, ...] = ()
    answer: Answer | None = None
    searched: Any = None

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    @property
    def is_spoilt(self) -> bool:
        """Whether there is no answer: a finding stopped it or left nothing to make one of, or more
        is to be measured first."""
        return self.recommendation["state"] in UNANSWERED

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it is a search that has not come to its setting."""
        return self.searched is not None and self.advice is None

    @property
    def recommendation(self) -> dict[str, Any]:
        """The record of the recommendation, or of why there is none."""
        if self.advice is not None:
            return self.advice.to_dict()
        is_stopped = self.stopped or stopping(self.findings) is not None
        left: State = "open" if self.searched else "no_setting"
        state: State = "stopped" if is_stopped else left
        return {"state": state, "setting": None, "reason": self.problem}

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to know of the recommendation."""
        return self.advice.caveats if self.advice else ()

    def further(self, *severities: Severity) -> list[str]:
        """What to say beside the verdict of the findings of some severities, by default of all."""
        wanted, said = severities or SEVERITIES, self.recommendation["reason"]
        each = (one.beside(said) for one in self.findings if one.severity in wanted)
        return [*filter(None, each)]

    @property
    def left_out(self) -> list[str]:
        """What names the levels at which nothing ended well."""
        return [str(one) for one in self.findings if one.bars and one.severity == "notes"]

    @property
    def verdict(self) -> str:
        """What to set, in each slice too, or why nothing."""
        if self.stopped or self.is_unconfirmed:
            return self.problem
        if self.advice is None:
            return _("No phases could be fitted.")
        return grid_verdict(self.advice, self.in_each_slice)


def analyse(
    seen: Source, anyway: bool = False, given: Mapping[str, Any] | None = None, **options: Any
) -> Analysis:
    """Examine the experiment behind a source, fit it, and recommend, unless a finding stops that.

    anyway: give the verdict in spite of findings that stop it. given: levels of factors that are
    not ours to choose. options: see `deadzone.analysis.phases.recommend.recommend_from`. A source
    that no curve can be fitted to gives an analysis that says why.

    Raises PhaseError if the options contradict each other or cannot be read.
    """
    if seen.is_search:
        return _searched(seen, seen.accepted, {"anyway": anyway, "given": given, **options})
    source = seen.judged
    options = {
        "all_there_is": all_there_is(source),
        "barred": source.barred,
        "anyway": anyway,
        **options,
    }
    try:
        if source.analysed.empty:
            raise PhaseError(_("None of the {n:count} trials ended well.", n=len(source.trials)))
        result = seen.answer
    except PhaseError as error:
        findings = examine(seen, seen.accepted)
        stop = stopping(findings)
        if stop is None or anyway or replace(source, barred=()).analysed.empty:
            return Analysis(source, (), None, str(error), findings)
        return Analysis(source, (), None, problem(stop), findings, stopped=True)
    advice = result.recommend(given, **options)
    if advice.state == "stopped":
        return Analysis(source, (), None, advice.reason, result.findings, True, answer=result)
    slices = []
    for position, (levels, model) in enumerate(result.models.items()):
        at = dict(zip(source.by, levels, strict=True))
        part = replace(source, by=(), table=rows_at(source.trials, at), others=None)
        own = model.recommend(**options) if source.by else advice
        slices.append(Slice(of_levels(source.by, levels), part, model, own, position))
    each = tuple(result.in_each_slice(given, **options)) if source.by else ()
    return Analysis(source, tuple(slices), advice, "", result.findings, False, each, result)


def _searched(source: Source, accept: Mapping[str, str], options: dict[str, Any]) -> Analysis:
    """The analysis of a search over several knobs: the setting by its confirmation, in the light of
    what is wrong there."""
    from deadzone.store.command_lines import way_on  # a table needs no study
    from deadzone.store.run import RunFolder

    try:
        found = packs.part(lambda pack: pack.searched)(source.study, source.trials)
    except PhaseError as error:
        return Analysis(source, (), None, str(error), examine(source, accept))
    if found.recommendation is None:
        on = way_on(RunFolder(source.folder)) if source.folder else ""
        said = _(
            "The search is not confirmed yet, so no setting is given. Go on with {resume}.",
            resume=on or resume_option(source.run_id or ""),
        )
        so_far = [
            _("Best so far: {cell}.", cell=of_levels(source.factors, levels))
            for levels in found.cells[[*source.factors]].head(1).to_numpy(object)
        ]
        findings = examine(source, accept)
        return Analysis(source, (), None, join([said, *so_far]), findings, searched=found)
    rows = source.table[source.table[SEARCH_STAGE].eq("confirm")]
    seen = replace(source, table=rows, others=None)
    how = {**source.how, "scale": WORDS, "places": None}  # cells are compared as words are
    try:
        result = examined(seen, accept, seen.fitted, **how)
    except PhaseError as error:
        return Analysis(source, (), None, str(error), examine(seen, accept), searched=found)
    # which knob does nothing is told by all trials, and no reason for doubt
    sound = tuple(one for one in result.findings if one.key != "knob_not_used")
    result = replace(result, findings=sound)
    advice = result.recommend(**options)
    if advice.state == "stopped":
        return Analysis(
            source, (), None, advice.reason, result.findings, True, answer=result, searched=found
        )
    if advice.setting is not None and advice.setting == found.setting:
        advice = replace(advice, reason=join([advice.reason, found.told]))
    return Analysis(source, (), advice, "", result.findings, False, (), result, found)


def all_there_is(source: Source) -> float | None:
    """The cores of the machine, where the knob is a CPU limit there: a larger one limits
    nothing."""
    if source.knob != "cpu_limit" or source.provenance.get("target") != "local":
        return None
    cores = source.provenance.get("cores_usable")
    return float(cores) if cores else None
