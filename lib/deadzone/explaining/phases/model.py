"""The phase model as its users hold it: the result of a fit, with the ways to ask it, print it and draw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.candidates import candidates_of_grid
from deadzone.explaining.phases.heeding import Found
from deadzone.explaining.phases.plot import plot, plot_slices
from deadzone.explaining.phases.recommend import Recommendation, recommend, recommend_from
from deadzone.explaining.phases.result import PhaseResult
from deadzone.explaining.phases.summary import Summary, summarise
from deadzone.explaining.records import records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class PhaseModel(PhaseResult):
    """The phases of one response curve; its fields are those of `PhaseResult`."""

    def recommend(self, **wishes: Any) -> Recommendation:
        """The setting to choose, and the settings noise cannot tell from it.

        See `deadzone.explaining.phases.recommend.recommend_from` for the wishes: within, slo, cost. None while a finding
        about the experiment stops it, unless asked for `anyway`.
        """
        return recommend(self, **wishes)

    def summary(self, advice: Recommendation | None = None) -> Summary:
        """The fit as a statistician expects it: prints as text, shows as HTML, `.tables` has the numbers.

        advice: the recommendation that it ends with, by default that of the model.
        """
        return summarise(self, advice)

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw trials, fit, interval and phases; returns the matplotlib axes."""
        return plot(self, ax=ax, **style)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        parts = [
            f"{row.start:g}-{row.stop:g} {row.label} ({row.probability:.0%})"
            for row in self.phases.itertuples()
        ]
        return f"PhaseModel({self.response} over {self.knob}: {', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """The record that `deadzone fit --json` prints: plain numbers, strings, lists."""
        wanted = ["start", "stop", "label", "elasticity", "elasticity_low", "elasticity_high", "probability"]
        return {
            "knob": self.knob,
            "response": self.response,
            "goal": self.goal,
            "n_levels": self.n_levels,
            "n_trials": self.n_trials,
            "phases": records(self.phases[wanted], whole=True),
            "outliers": records(self.outliers[["trial", "knob", "response", "reason"]], whole=True),
            "warnings": list(self.warnings),
            "recommendation": self.recommend().to_dict(),
        }


@dataclass(frozen=True, eq=False)
class PhaseModels(Mapping[Any, PhaseModel]):
    """One phase model for each value of a second factor: `models[4.0].phases`.

    by: name of the second factor. models: from its values, in increasing order, to their models.
    table: one row a level of every slice: the columns of `PhaseResult.levels` with `by` before them.
    phases: one row a phase of every slice: the columns of `PhaseResult.phases` with `by` before them.
    warnings: of all slices, each with the slice it belongs to.
    """

    by: str
    models: Mapping[Any, PhaseModel]
    table: pd.DataFrame
    phases: pd.DataFrame
    warnings: tuple[str, ...]
    findings: tuple[Found, ...] = ()

    def __getitem__(self, value: Any) -> PhaseModel:
        try:
            return self.models[value]
        except KeyError:
            known = ", ".join(str(key) for key in self.models)
            raise PhaseError(f"No slice with {self.by} = {value!r}; there are {known}.") from None

    def __contains__(self, value: object) -> bool:
        return value in self.models

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def recommend(self, **wishes: Any) -> Recommendation:
        """The best cell of the grid: the cheapest has the least of the second factor, and of those of the knob."""
        wishes = {"findings": self.findings, **wishes}
        return recommend_from(candidates_of_grid(self.by, self.models), **wishes)

    def plot(self, *, columns: int | None = None) -> Figure:
        """Draw every slice into a panel of its own; returns the matplotlib figure."""
        return plot_slices(self.by, self.models, columns=columns)

    def __repr__(self) -> str:
        lines = [f"  {self.by} = {value}: {model!r}" for value, model in self.models.items()]
        return "\n".join([f"PhaseModels by {self.by}:", *lines])
