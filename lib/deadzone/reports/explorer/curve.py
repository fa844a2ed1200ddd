"""A curve that is fitted once and then looked at under other thresholds and tolerances, in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.relabel import relabel
from deadzone.explaining.phases.thresholds import Thresholds


@dataclass(frozen=True, eq=False)
class View:
    """A curve as it is shown. model: with its phases. setting: the cheapest within the tolerance. tied: all within it."""

    name: str
    model: PhaseModel
    setting: Any
    tied: tuple[Any, ...]
    tolerance: float


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted curve. name: of its run and slice. rows: what was fitted, with the columns knob and response."""

    name: str
    rows: pd.DataFrame
    model: PhaseModel

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """The settings, the cheapest first, with the loss of each against the best estimate (a fraction)."""
        return self.model.recommend().table

    def under(self, thresholds: Thresholds, tolerance: float) -> View:
        """The curve under thresholds, with the settings whose estimate is within a tolerance of the best.

        tolerance: a fraction, 0.03 for 3 %. Nothing is fitted again; see `deadzone.explaining.phases.relabel`.
        """
        within = self.candidates[self.candidates["loss"] <= tolerance + 1e-12]
        tied = tuple(within["setting"])
        return View(self.name, relabel(self.model, thresholds), tied[0], tied, tolerance)

    def refitted(self, thresholds: Thresholds) -> Curve:
        """The curve fitted anew under thresholds: the last word on where its phases are."""
        model = fit_phases(
            self.rows, self.model.knob, self.model.response, goal=self.model.goal, thresholds=thresholds
        )
        return Curve(self.name, self.rows, model)


def open_curve(name: str, rows: pd.DataFrame, knob: str, response: str, goal: str) -> Curve:
    """Fit a curve. Raises PhaseError if none can be fitted."""
    return Curve(name, rows, fit_phases(rows, knob, response, goal=goal))
