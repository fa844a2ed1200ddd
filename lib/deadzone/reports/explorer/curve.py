"""A curve that is fitted once and then looked at under other thresholds and tolerances, in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.findings.examining import examine
from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.mechanisms.explaining import PhasesExplained, explained
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.relabel import relabel
from deadzone.explaining.phases.thresholds import Thresholds
from deadzone.explaining.settings.answering import answer
from deadzone.language.catalogue import join
from deadzone.reports.sweep.figures import account_of


@dataclass(frozen=True, eq=False)
class View:
    """A curve as it is shown. curve: as it was fitted. model: with its phases. tied: the settings within the tolerance, the
    cheapest first. why: what explains the phases, if it can be told."""

    curve: Curve
    model: PhaseModel
    tied: tuple[Any, ...]
    tolerance: float
    why: PhasesExplained | None


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted curve. name: of its run and slice. rows: what was fitted. advice: over all settings of the rows. account: where
    the time of threads went at each level, empty where the trials carry no account. kept: what explains phases that were shown before, by where they are."""

    name: str
    rows: pd.DataFrame
    model: PhaseModel
    advice: Recommendation
    account: pd.DataFrame
    kept: dict[tuple[Any, ...], PhasesExplained | None] = field(default_factory=dict)

    def under(self, thresholds: Thresholds, tolerance: float) -> View:
        """The curve under thresholds, with the settings whose estimate is within a tolerance of the best.

        tolerance: a fraction, 0.03 for 3 %. Nothing is fitted again; see `deadzone.explaining.phases.relabel`.
        """
        settings = self.advice.table
        tied = tuple(settings["setting"][settings["loss"] <= tolerance + 1e-12])
        model = relabel(self.model, thresholds)
        ends = tuple(model.phases[["start", "stop", "label"]].itertuples(index=False, name=None))
        if ends not in self.kept:
            self.kept[ends] = explained(self.rows, model)
        return View(self, model, tied, tolerance, self.kept[ends])

    def refitted(self, thresholds: Thresholds) -> Curve:
        """The curve fitted anew under thresholds: the last word on where its phases are."""
        model = self.model
        return open_curve(self.name, self.rows, model.knob, model.response, model.goal, thresholds)


def open_curve(
    name: str, rows: pd.DataFrame, knob: str, response: str, goal: str, thresholds: Thresholds | None = None
) -> Curve:
    """Fit a curve. Raises PhaseError, which says why, if there is none."""
    found = answer(rows, knob, response, goal, thresholds=thresholds)
    if not found.models:
        raise PhaseError(join(found.notes))
    found = found.heeding(examine(Experiment(rows, knob, response, goal, model=found.models[()])))
    return Curve(name, rows, found.models[()], found.recommend(), account_of(rows, found.models[()]))
