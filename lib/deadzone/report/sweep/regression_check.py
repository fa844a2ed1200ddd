"""What moved since the previous run of a study: the section of its report, and the sentence of the
command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import pandas as pd

from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import ends
from deadzone.analysis.phases.quantities import listing, plain_name
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.trend.movement import movement
from deadzone.errors import DeadzoneError
from deadzone.language.formats import date
from deadzone.language.messages import N_, _, join, ngettext, say, spoken
from deadzone.report.document.display import Block, Prose
from deadzone.report.document.publishing import PHASES, SEARCH
from deadzone.report.sweep.analysis import Analysis, Slice, analyse
from deadzone.report.sweep.source import load_source
from deadzone.store.run import RunFolder, list_runs
from deadzone.style import PHASE_STYLES

MACHINE = ("cpu_model", "cores_usable", "limits_mechanism", "target")
"""Facts that must agree: on another machine other phases are no news."""

Moves = Sequence[tuple[Slice, pd.DataFrame]]
"""Each slice of the run that the previous one has, too, and its steps beside those of that one; see
`movement`."""


@dataclass(frozen=True, eq=False)
class RegressionCheck:
    """A run beside the previous one of its study.

    moved: whether a step of any curve is in another phase now; without curves, whether the best
    setting moved. sentence: the comparison, or why the two are not compared; empty where there is
    no earlier run.
    """

    now: Analysis
    moved: bool = False
    sentence: str = ""

    def blocks(self) -> list[Block]:
        """The section of the report; nothing for a study's first run."""
        style, heading = "warnings" if self.moved else "", _("Since the previous run")
        prose = Prose((self.sentence,), heading=heading, style=style, id="section-since")
        return [prose] if self.sentence else []


LOOKED_BACK = 5
"""So many earlier runs are tried."""


def regression_check(now: Analysis) -> RegressionCheck:
    """Set a run's analysis beside that of the newest run before it that can be compared: one that
    was cut short, or measured on another machine, says nothing."""
    folder, advice, first = now.source.folder, now.advice, ""
    if folder is None or advice is None:
        return RegressionCheck(now)
    for one in reversed(earlier_runs(RunFolder(folder))[-LOOKED_BACK:]):
        moved, sentence = _compared(now, advice, one)
        if moved is not None:
            return RegressionCheck(now, moved, sentence)
        first = first or sentence
    return RegressionCheck(now, sentence=first)


def since_previous(run: RunFolder, parameters: Mapping[str, Any]) -> RegressionCheck | None:
    """What moved since the previous run of the study, asked as the report asks it; None where its
    notebook recommends no setting. parameters: of the notebook."""
    if run.study().analysis_notebook not in (PHASES, SEARCH):
        return None
    asked = ("knob", "response", "goal")
    given: dict[str, Any] = {name: str(parameters[name]) for name in asked if name in parameters}
    given |= {"by": parameters["by"]} if "by" in parameters else {}
    wishes = {name: parameters[name] for name in ("tolerance", "price") if name in parameters}
    wishes |= {name: parameters[name] for name in ("within", "cost") if parameters.get(name)}
    return regression_check(analyse(load_source(str(run.folder), **given), **wishes))


def _compared(now: Analysis, advice: Recommendation, earlier: RunFolder) -> tuple[bool | None, str]:
    """Whether something moved, and the sentence that says so; None where the two cannot be
    compared."""
    source = now.source
    recorded = str(earlier.provenance().get("recorded_at", ""))
    run = {"previous": earlier.run_id, "date": date(recorded, spoken())}
    alike: dict[str, Any] = {"knob": source.knob, "response": source.response, "goal": source.goal}
    try:
        then = analyse(load_source(str(earlier.folder), **alike))
    except DeadzoneError:
        then = None
    if then is None or then.advice is None:
        return None, _(
            "Run {previous} of {date} has no answer of its own, so nothing is compared with it.",
            **run,
        )
    machines = [side.provenance for side in (then.source, source)]
    if different := [name for name in MACHINE if machines[0].get(name) != machines[1].get(name)]:
        before, after = (
            listing([str(facts.get(name)) for name in different]) for facts in machines
        )
        return None, _(
            "Run {previous} of {date} was measured on another machine ({before}, now {after}), so "
            "the phases of the two are not compared.",
            before=before,
            after=after,
            **run,
        )
    old = {s.name: s.model for s in then}
    moves = [(s, movement(old[s.name], s.model)) for s in now if s.name in old]
    if not (now.slices or then.slices):
        if then.advice.goal != advice.goal:  # the earlier run is analysed without the wish
            return False, ""
        return _best_setting(then.advice, advice, run)
    if any(len(steps) for _s, steps in moves):
        return any(steps["moved"].any() for _s, steps in moves), _phases(moves, run)
    return False, _(
        "Run {previous} of {date} measured other levels of {knob} than this one, so the phases of "
        "the two are not compared.",
        knob=plain_name(source.knob),
        **run,
    )


def earlier_runs(run: RunFolder) -> list[RunFolder]:
    """The runs of the same study that were measured before one, the oldest first; a run without
    trials does not count, and a published one stands beside those of other studies."""
    study = run.folder.parent
    if study.name != run.study().study:
        return []
    before = takewhile(lambda one: one.run_id != run.run_id, list_runs(study.parent, study.name))
    return [one for one in before if one.journal_file.exists()]


def _best_setting(
    then: Recommendation, now: Recommendation, run: dict[str, str]
) -> tuple[bool, str]:
    """Whether, without curves, each run has measured the other's setting and shows it to be worse
    than its own best (Hsu's comparisons with the best): where nothing moved, both are so with at
    most a twentieth of a twentieth."""
    moved = all(
        other.setting in [*one.table["setting"]] and other.setting not in one.tied
        for one, other in ((then, now), (now, then))
    )
    before, after = (
        _("none") if advice.setting is None else str(advice.chosen["name"])
        for advice in (then, now)
    )
    return moved, say(
        N_(
            "The best setting moved since run {previous} of {date}: {before} then, {after} now, "
            "and each run shows the other's to be worse."
        )
        if moved
        else N_(
            "Since run {previous} of {date} no move of the best setting is shown: {before} then, "
            "{after} now."
        ),
        before=before,
        after=after,
        **run,
    )


def _phases(moves: Moves, run: dict[str, str]) -> str:
    """Which steps of which slice are in another phase now."""
    sentences = []
    for s, steps in moves:
        moved = steps[steps["moved"]].to_dict("records")
        if not moved:
            continue
        sentence = ngettext(
            "Phases moved since run {previous} of {date}: the step {steps} of {knob} is in another "
            "phase now.",
            "Phases moved since run {previous} of {date}: the steps {steps} of {knob} are in "
            "another phase now.",
            n=len(moved),
            steps=listing([_step(s.model, row) for row in moved]),
            knob=plain_name(s.model.knob),
            **run,
        )
        sentences.append(_("{slice}: {said}", slice=s.name, said=sentence) if s.name else sentence)
    return join(sentences) or _(
        "No phase moved since run {previous} of {date}: of {n:count} steps that both runs "
        "measured, none is in another phase, as far as the trials of both can tell.",
        n=sum(len(steps) for _s, steps in moves),
        **run,
    )


def _step(model: PhaseModel, row: dict[Any, Any]) -> str:
    before, after = (PHASE_STYLES[str(row[f"label_{end}"])].name for end in ("before", "after"))
    return _(
        "{start} to {stop} ({before}, now {after})", before=before, after=after, **ends(model, row)
    )
