"""A curve that is fitted once and then looked at under other thresholds and tolerances, in
milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from deadzone.analysis.findings.examining import examine
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.mechanisms.explaining import PhasesExplained, explained
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.relabel import relabel
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.analysis.settings.answering import Answer, answer
from deadzone.errors import PhaseError
from deadzone.language.messages import join
from deadzone.report.explorer.choices import ExplorerTable
from deadzone.report.sweep.account import account_of
from deadzone.study.factors import FactorSpec


@dataclass(frozen=True, eq=False)
class View:
    """A curve as it is shown. curve: as it was fitted. model: with its phases. advice: under the
    tolerance. why: what explains the phases, if it can be told."""

    curve: Curve
    model: PhaseModel
    advice: Recommendation
    why: PhasesExplained | None


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted curve. name: of its run and slice. table: whose trials were fitted. answer: all
    settings of it. account: where the time of threads went at each level, empty where the trials
    carry no account. kept: what explains phases that were shown before, by where they are, and
    settings by tolerance."""

    name: str
    table: ExplorerTable
    model: PhaseModel
    answer: Answer
    account: pd.DataFrame
    kept: dict[Any, Any] = field(default_factory=dict)

    def under(self, thresholds: Thresholds, tolerance: float) -> View:
        """The curve under thresholds, with the setting to choose under a tolerance.

        tolerance: a fraction, 0.03 for 3 %. Nothing is fitted again; see
        `deadzone.analysis.phases.relabel`.
        """
        if tolerance not in self.kept:
            self.kept[tolerance] = self.answer.recommend(tolerance=tolerance)
        model = relabel(self.model, thresholds)
        ends = tuple(model.phases[["start", "stop", "label"]].itertuples(index=False, name=None))
        if ends not in self.kept:
            self.kept[ends] = explained(self.table.trials, model)
        return View(self, model, self.kept[tolerance], self.kept[ends])

    def refitted(self, thresholds: Thresholds) -> Curve:
        """The curve fitted anew under thresholds: the last word on where its phases are."""
        model = self.model
        return open_curve(self.name, self.table, model.knob, model.response, thresholds)


def open_curve(
    name: str, table: ExplorerTable, knob: str, response: str, thresholds: Thresholds | None = None
) -> Curve:
    """Fit a curve, and examine the experiment behind it. Raises PhaseError, which says why, if
    there is none."""
    rows, goal, written = (
        table.trials,
        table.goal(response),
        table.written.get(knob) or FactorSpec(),
    )
    result = answer(
        rows, knob, response, goal, scale=written.scale, places=written.at, thresholds=thresholds
    )
    if not result.models:
        raise PhaseError(join(result.notes))
    model = result.models[()]
    seen = Experiment(table.judged, knob, response, goal, model=model, role=written.role or "")
    result = result.heeding(examine(seen))
    return Curve(name, table, model, result, account_of(rows, model))
