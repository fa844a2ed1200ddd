"""The phase model as its users hold it: the result of a fit, with the ways to ask it, print it and
draw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding
from deadzone.analysis.phases.recommend import Recommendation, recommend, recommend_from
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.roles import of_levels
from deadzone.analysis.phases.summary import Summary, summarise
from deadzone.analysis.records import records
from deadzone.errors import PhaseError
from deadzone.signatures import with_options_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deadzone.analysis.phases.candidates import Candidates


class PhaseModel(PhaseResult):
    """The phases of one response curve; its fields are those of `PhaseResult`."""

    @with_options_of(recommend_from, "findings")
    def recommend(self, **options: Any) -> Recommendation:
        """The setting to choose, and the settings noise cannot tell from it."""
        return recommend(self, **options)

    def summary(self, advice: Recommendation | None = None) -> Summary:
        """The fit as a statistician expects it: prints as text, shows as HTML, `.tables` has the
        numbers.

        advice: the recommendation that it ends with, by default that of the model.
        """
        return summarise(self, advice)

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw trials, fit, interval and phases; returns the matplotlib axes.

        style: advice, the recommendation to mark; title, by default the verdict, "" for none;
        legend, whether the marks are explained; figsize, of a new figure [in]; color, to draw the
        curve alone in it, over another; label, its name in the legend.
        """
        from deadzone.analysis.phases.plot import plot

        return plot(self, ax, **style)

    def predict(self, levels: Any) -> np.ndarray:
        """The fitted response at levels of the knob, in its unit; nan beyond those that were
        measured, and for what is no number. levels: of any shape."""
        given = np.atleast_1d(levels)
        numbers = pd.to_numeric(pd.Series(given.ravel()), errors="coerce").to_numpy(float)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 lies beyond on a ratio scale
            at = self.axis.forward(numbers.reshape(given.shape))
        known = self.axis.forward(self.levels["level"].to_numpy(float))
        fitted = np.log(self.levels["fitted"].to_numpy(float))
        return np.asarray(np.exp(np.interp(at, known, fitted, left=np.nan, right=np.nan)))

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        parts = [
            f"{row.start:g}-{row.stop:g} {row.label} ({row.probability:.0%})"
            for row in self.phases.itertuples()
        ]
        return f"PhaseModel({self.response} over {self.knob}: {', '.join(parts)})"

    def to_dict(self, advice: Recommendation | None = None) -> dict[str, Any]:
        """The record that `deadzone fit --json` prints: plain numbers, strings, lists. advice: by
        default that of the model."""
        phases = self.phases.drop(columns=["std_error", "start_low", "start_high"])
        plain = ("knob", "response", "goal", "goal_from", "n_levels", "n_trials")
        return {name: getattr(self, name) for name in plain} | {
            "phases": records(phases, whole=True),
            "outliers": records(self.outliers[["trial", "knob", "response", "reason"]], whole=True),
            "warnings": list(self.warnings),
            "recommendation": (advice or self.recommend()).to_dict(),
        }


@dataclass(eq=False, repr=False)
class PhaseModels(dict[Any, PhaseModel]):
    """One phase model for each value of another factor, or tuple of values of several:
    `models[4.0].phases`.

    by: names of the factors. models: from their values, in increasing order, to the models.
    warnings: of all slices, each with the slice it belongs to. settings: of all slices, with or
    without a curve.
    """

    by: tuple[str, ...]
    models: Mapping[Any, PhaseModel]
    warnings: tuple[str, ...]
    findings: tuple[Finding, ...]
    settings: Candidates

    def __post_init__(self) -> None:
        self.update(self.models)

    def __missing__(self, value: Any) -> PhaseModel:
        known = ", ".join(map(str, self))
        raise PhaseError(
            f"There is no curve of {', '.join(self.by)} = {value!r}. Its values are {known}."
        )

    def _name(self, value: Any) -> str:
        return of_levels(self.by, value if len(self.by) > 1 else [value])

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a level of every slice: the columns of `PhaseResult.levels` with `by` before
        them."""
        return self._stacked("levels")

    @cached_property
    def phases(self) -> pd.DataFrame:
        """One row a phase of every slice: the columns of `PhaseResult.phases` with `by` before
        them."""
        return self._stacked("phases")

    def _stacked(self, table: str) -> pd.DataFrame:
        parts = {value: getattr(model, table) for value, model in self.models.items()}
        stacked = pd.concat(parts, names=[*self.by])
        return stacked.reset_index([*self.by], allow_duplicates=True).reset_index(drop=True)

    @with_options_of(recommend_from, "findings")
    def recommend(self, **options: Any) -> Recommendation:
        """The best cell of the grid; options as of `PhaseModel.recommend`. The cheapest has the
        least of the other factors, and of those of the knob."""
        return recommend_from(self.settings, **{"findings": self.findings, **options})

    def predict(self, levels: Any) -> pd.DataFrame:
        """The fitted response of every slice, one column each, one row a level; nan beyond what was
        measured."""
        fitted = {value: model.predict(levels) for value, model in self.models.items()}
        return pd.DataFrame(fitted, index=np.atleast_1d(levels)).rename_axis(columns=[*self.by])

    def summary(self) -> str:
        """The fit of every slice as a statistician expects it, one after the other."""
        return "\n\n".join(
            f"{self._name(value)}\n{model.summary()}" for value, model in self.models.items()
        )

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw every slice, a colour each; returns the axes. style: of the curves, see
        `PhaseModel.plot`."""
        from deadzone.analysis.phases.plot import plot

        for number, (value, model) in enumerate(self.models.items()):
            ax = plot(model, ax, **{"color": f"C{number}", "label": self._name(value), **style})
        assert ax is not None
        return ax

    def _repr_html_(self) -> str:
        return str(self.phases.to_html(index=False))

    def __repr__(self) -> str:
        lines = [f"  {self._name(value)}: {model!r}" for value, model in self.models.items()]
        return "\n".join([f"PhaseModels by {', '.join(self.by)}:", *lines])
