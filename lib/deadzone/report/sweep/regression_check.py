"""What moved since the previous run of a study: the section of its report, and the sentence of the
command."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deadzone.analysis.compare.comparing import compare_tables
from deadzone.analysis.compare.page import verdict_text
from deadzone.analysis.compare.result import rows_of
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import listing, number, plain_name
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.trend.movement import Movement, movement
from deadzone.errors import CompareError, DeadzoneError
from deadzone.language.formats import date
from deadzone.language.messages import N_, _, join, ngettext, say, spoken
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Claim, Evidence, Prose, Table
from deadzone.report.figures.curves import ends
from deadzone.report.sweep.analysis import Analysis, Slice, analyse
from deadzone.report.sweep.claims import judge_run, verdict_name
from deadzone.report.sweep.source import Source, load_source
from deadzone.store.run import RunFolder, list_runs
from deadzone.style import PHASE_STYLES

MOVED = {
    "yes": N_("yes"),
    "no": N_("no"),
}


SINCE_TABLE = Layout(
    columns={
        "{knob}": "{step}",
        N_("phase then"): "{before}",
        N_("phase now"): "{after}",
        N_("elasticity then"): "{elasticity_before}",
        N_("elasticity now"): "{elasticity_after}",
        N_("probability of another phase"): "{p_differs:probability}",
        N_("moved"): (MOVED, "{yes}"),
    },
    caption="{told}",
    numeric=(3, 4, 5),
)

MACHINE = ("cpu_model", "cores_usable", "limits_mechanism", "target")
"""Facts that must agree: on another machine other phases are no news."""

ANCHOR = "since-previous"


@dataclass(frozen=True, eq=False)
class RegressionCheck:
    """A run beside the previous one of its study.

    previous: run id and date of the earlier run, both empty where there is none. problem: why the
    two are not compared, empty where they are. movements: by the name of the slice, empty for a run
    with one curve, none without curves. claims: which of them have another verdict now, in a
    sentence, empty where none has.
    """

    now: Analysis
    before: Analysis | None
    previous: str = ""
    measured: str = ""
    problem: str = ""
    movements: tuple[tuple[str, Movement], ...] = ()
    claims: str = ""

    @property
    def moved(self) -> bool:
        """Whether a step of any curve is in another phase now; without curves, whether the best
        setting moved."""
        return self._best_moved or any(slice_movement.moved for _, slice_movement in self.movements)

    @property
    def _best_moved(self) -> bool:
        """Whether, without curves, each run shows the other's setting to be worse than its own best
        (Hsu's comparisons with the best): where nothing moved, both are so with at most a twentieth
        of a twentieth."""
        now, then = self.now.advice, self.before.advice if self.before else None
        if self.movements or self.problem or now is None or then is None:
            return False
        return now.setting not in then.tied and then.setting not in now.tied

    @property
    def sentence(self) -> str:
        """The whole comparison in a sentence or two; empty where there is no earlier run."""
        if not self.previous:
            return ""
        if self.problem:
            return join([self.problem, self.claims])
        if not self.movements and self.before and self.before.advice and self.now.advice:
            sentence = say(
                N_(
                    "The best setting moved since run {previous} of {date}: {before} then, {after} "
                    "now, and each run shows the other's to be worse."
                )
                if self._best_moved
                else N_(
                    "Since run {previous} of {date} no move of the best setting is shown: {before} "
                    "then, {after} now."
                ),
                previous=self.previous,
                date=self.measured,
                before=_best(self.before.advice),
                after=_best(self.now.advice),
            )
            return join([sentence, self.claims])
        moved = [
            (name, slice_movement)
            for name, slice_movement in self.movements
            if slice_movement.moved
        ]
        if not moved:
            steps = sum(len(slice_movement.steps) for _, slice_movement in self.movements)
            sentence = _(
                "No phase moved since run {previous} of {date}: of {n:count} steps that both runs "
                "measured, none is in another phase, as far as the trials of both can tell.",
                previous=self.previous,
                date=self.measured,
                n=steps,
            )
            return join([sentence, self.claims])
        return join(
            [*(self._moved(name, slice_movement) for name, slice_movement in moved), self.claims]
        )

    def _moved(self, name: str, slice_movement: Movement) -> str:
        steps = slice_movement.steps[slice_movement.steps["moved"]]
        named = listing([_step(self._model(name), row) for row in steps.to_dict("records")])
        facts = {
            "previous": self.previous,
            "date": self.measured,
            "knob": plain_name(slice_movement.knob),
        }
        sentence = ngettext(
            "Phases moved since run {previous} of {date}: the step {steps} of {knob} is in another "
            "phase now.",
            "Phases moved since run {previous} of {date}: the steps {steps} of {knob} are in "
            "another phase now.",
            n=len(steps),
            steps=named,
            **facts,
        )
        return _("{slice}: {said}", slice=name, said=sentence) if name else sentence

    def _model(self, name: str) -> PhaseModel:
        return next(s.model for s in self.now if s.name == name)

    def blocks(self) -> list[Block]:
        """The section of the report; nothing for a study's first run."""
        if not self.previous:
            return []
        slices = {s.name: s for s in self.now}
        moves = [(slices[name], slice_movement) for name, slice_movement in self.movements]
        tables = [
            _table(s, slice_movement, self.previous)
            for s, slice_movement in moves
            if slice_movement.comparable
        ]
        evidence = tuple(Evidence(s.anchor(ANCHOR)) for s, _ in moves)
        sentences = [Claim(self.sentence, evidence), *self._settings(), *self._levels()]
        style = "warnings" if self.moved else ""
        return [
            Prose(
                tuple(sentences),
                heading=_("Since the previous run"),
                style=style,
                id="section-since",
            ),
            *tables,
        ]

    def _settings(self) -> Iterator[Claim]:
        for name, slice_movement in self.movements:
            if slice_movement.setting_moved:
                model, both = (
                    self._model(name),
                    (slice_movement.setting_before, slice_movement.setting_after),
                )
                before, after = (_setting(model, value) for value in both)
                yield Claim(
                    _(
                        "The recommended setting moved from {before} to {after}: one of the two "
                        "runs rules out what the other one recommends.",
                        before=before,
                        after=after,
                    )
                )

    def _levels(self) -> Iterator[Claim]:
        """How the response changed over all treatments that both runs hold."""
        if self.before is None or self.problem:
            return
        source, runs = self.now.source, (self.previous, str(self.now.source.run_id))
        then, now = self.before.source.analysed, source.analysed
        factors = list(source.study.factor_names()) if source.study else [source.knob]
        try:
            comparison = compare_tables(
                then, now, source.response, factors=factors, goal=source.goal, names=runs
            )
        except CompareError:
            return
        row = rows_of(comparison.overall)[0]
        change, low, high = (
            _("{change:change}", change=row[name] - 1)
            for name in ("ratio", "ratio_low", "ratio_high")
        )
        facts = {"response": plain_name(source.response), "certainty": comparison.confidence}
        sentence = _(
            "Over all common treatments the {response} changed by {change} ({low} to {high} at "
            "{certainty:percent}): {verdict}.",
            change=change,
            low=low,
            high=high,
            verdict=verdict_text(row),
            **facts,
        )
        yield Claim(sentence)


def regression_check(analysis: Analysis) -> RegressionCheck:
    """Set a run's analysis beside that of the run before it, where there is one that was measured
    alike."""
    source = analysis.source
    earlier = _previous(source)
    if earlier is None or analysis.advice is None:
        return RegressionCheck(analysis, None)
    alike: dict[str, Any] = {"knob": source.knob, "response": source.response, "goal": source.goal}
    try:
        then = analyse(load_source(str(earlier.folder), **alike))
    except DeadzoneError:
        then = None
    recorded = str(earlier.provenance().get("recorded_at", ""))
    common: dict[str, Any] = {"previous": earlier.run_id, "measured": date(recorded, spoken())}
    figures = {
        "previous": common["previous"],
        "date": common["measured"],
        "knob": plain_name(source.knob),
    }
    if then is None or then.advice is None:
        return RegressionCheck(
            analysis,
            None,
            **common,
            problem=_(
                "Run {previous} of {date} has no answer of its own, so nothing is compared with "
                "it.",
                **figures,
            ),
        )
    machines = [side.provenance for side in (then.source, source)]
    if different := [name for name in MACHINE if machines[0].get(name) != machines[1].get(name)]:
        was, now = (listing([str(facts.get(name)) for name in different]) for facts in machines)
        return RegressionCheck(
            analysis,
            then,
            **common,
            problem=_(
                "Run {previous} of {date} was measured on another machine ({before}, now {after}), "
                "so the phases of the two are not compared.",
                **figures,
                before=was,
                after=now,
            ),
        )
    old = {s.name: s.model for s in then}
    movements = tuple((s.name, movement(old[s.name], s.model)) for s in analysis if s.name in old)
    common["claims"] = _claims(analysis, then, common["previous"])
    if not (analysis.slices or then.slices):
        return RegressionCheck(analysis, then, **common)
    if not any(slice_movement.comparable for _, slice_movement in movements):
        return RegressionCheck(
            analysis,
            then,
            **common,
            problem=_(
                "Run {previous} of {date} measured other levels of {knob} than this one, so the "
                "phases of the two are not compared.",
                **figures,
            ),
        )
    return RegressionCheck(analysis, then, **common, movements=movements)


def _claims(now: Analysis, before: Analysis, previous: str) -> str:
    """Which claims that both runs were judged by have another verdict now."""
    earlier = {verdict.claim: verdict.verdict for verdict in judge_run(before.source, before)}
    named = [
        _(
            "{claim} ({before}, now {now})",
            claim=claim_verdict.claim,
            before=verdict_name(was),
            now=verdict_name(claim_verdict.verdict),
        )
        for claim_verdict in judge_run(now.source, now)
        if (was := earlier.get(claim_verdict.claim, claim_verdict.verdict)) != claim_verdict.verdict
    ]
    return (
        _(
            "Since run {previous} the verdict on a claim changed: {changes}.",
            previous=previous,
            changes=listing(named),
        )
        if named
        else ""
    )


def regression_check_of(run: RunFolder, **asked: Any) -> RegressionCheck:
    """Set a run beside the one before it; the first of its study has an analysis, with its
    findings, and nothing beside it.

    asked: knob, response, goal and by, in place of what its study says.
    """
    return regression_check(analyse(load_source(str(run.folder), **asked)))


def _previous(source: Source) -> RunFolder | None:
    """The run of the same study that was measured last before this one."""
    if source.folder is None:
        return None
    siblings = list_runs(source.folder.parent.parent, source.folder.parent.name)
    earlier = [
        run for run in siblings if run.run_id < source.folder.name and run.journal_file.exists()
    ]
    return earlier[-1] if earlier else None


def _table(s: Slice, slice_movement: Movement, previous: str) -> Table:
    rows = [
        {
            **row,
            "step": _step(s.model, row),
            **{end: PHASE_STYLES[str(row[f"label_{end}"])].name for end in ("before", "after")},
            **{
                name: number(float(row[name]), 0.01)
                for name in ("elasticity_before", "elasticity_after")
            },
            "yes": "yes" if row["moved"] else "no",
        }
        for row in slice_movement.steps.to_dict("records")
    ]
    n = int(slice_movement.steps["moved"].sum())
    sentence = s.captioned(
        say(
            N_(
                "{n} step moved into another phase since run {previous}.",
                "{n} steps moved into another phase since run {previous}.",
            )
            if n
            else N_("No step moved into another phase since run {previous}."),
            n=n,
            previous=previous,
        )
    )
    return Table.of(
        SINCE_TABLE, rows, s.anchor(ANCHOR), told=sentence, knob=plain_name(s.model.knob)
    )


def _best(advice: Recommendation) -> str:
    """The setting in words, `none` where none could be named."""
    return _("none") if advice.setting is None else str(advice.chosen["name"])


def _step(model: PhaseModel, row: dict[Any, Any]) -> str:
    return _("{start} to {stop}", **ends(model, row))


def _setting(model: PhaseModel, value: Any) -> str:
    return str(value) if isinstance(value, str | dict) else level_text(model, float(value))
