"""What a fit returns: the phase model of one response curve, and a collection of slices.

The classes here hold results and know how to turn them into records; nothing is computed. The
recommendation, the summary and the figure live in modules of their own and are loaded when asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from deadzone.explaining.phases.recommend import Recommendation
    from deadzone.explaining.phases.summary import Summary


@dataclass(frozen=True)
class Noise:
    """How much the response scatters, as standard deviations of ln(response), dimensionless.

    replicate: scatter of the trials of one level around its value; with one trial a level it cannot
        be told from `misfit`, and is what the curve itself suggests.
    misfit: what a level deviates from the straight pieces and replicates do not average away.
    estimable: True where at least one level has two trials, so that `replicate` rests on replicates.
    outlier_rate: the expected share of spoiled trials.
    degrees_of_freedom: of `replicate`; trials minus levels, at least 0.
    """

    replicate: float
    misfit: float
    estimable: bool
    outlier_rate: float
    degrees_of_freedom: int


@dataclass(frozen=True)
class Drift:
    """Change of the response over the order of the run, common to all levels.

    kind: "block" (an effect of each block) or "order" (a straight line over the run order).
    effects: index block (or 0 = first, 1 = last trial); columns effect, low, high: ln(response)
        relative to the mean of the run, dimensionless.
    change: exp(largest - smallest effect) - 1, a fraction.
    p_value: of the hypothesis that there is no drift.
    removed: True where it was significant and the trials were corrected for it.
    """

    kind: str
    effects: pd.DataFrame
    change: float
    p_value: float
    removed: bool


@dataclass(frozen=True, eq=False)
class PhaseModel:
    """The phases of one response curve, how sure they are, and what they rest on.

    knob, response: column names. goal: "min" or "max". Elasticities are dimensionless and positive
    where the response gets better. `low` and `high` bound the central interval of `certainty`.

    phases: one row a phase: start, stop (levels), label, elasticity, elasticity_low,
        elasticity_high, std_error, probability (of the label over the phase's steps), start_low,
        start_high (interval of the joint at its start; the first level for the first phase).
    step_labels: n_levels - 1 labels, one for each step between neighbouring levels.
    steps: one row a step: start, stop, label, probability, elasticity, elasticity_low,
        elasticity_high, p_linear, p_dead_zone, p_breakthrough, p_plateau, p_reversal.
    joints: one row an inner boundary: level, low, high (levels), probability (that a joint lies
        within one level of it).
    outliers: one row a flagged trial: trial, knob, response, fitted, factor (response / fitted),
        probability, reason. They stay in the fit with the weight `1 - probability`.
    levels: one row a level: level, label ("none" for no limit), n, n_used, mean, median, low, high
        (interval of the mean of the unspoiled trials), spread (robust standard deviation of
        ln(response)), fitted, fitted_low, fitted_high; in units of the response where not said
        otherwise.
    trials: one row an analysed trial, in the frame's order: row (position in the frame), trial, block (None without
        one), level, response, weight (0 ... 1), corrected (response without drift), fitted, residual
        (ln(corrected / fitted)), outlier (bool).
    noise, drift: see the classes; drift is None where the run does not let it be estimated.
    criteria: one row a number of phases: n_phases, log_likelihood, n_parameters, aic, bic,
        probability (posterior).
    warnings: sentences a reader needs.
    none_level: the position on the knob's axis given to `none`, or None.
    thresholds, certainty: the settings of the call.
    """

    knob: str
    response: str
    goal: str
    phases: pd.DataFrame
    step_labels: tuple[str, ...]
    steps: pd.DataFrame
    joints: pd.DataFrame
    outliers: pd.DataFrame
    levels: pd.DataFrame
    trials: pd.DataFrame
    noise: Noise
    drift: Drift | None
    criteria: pd.DataFrame
    warnings: tuple[str, ...]
    none_level: float | None
    thresholds: Thresholds
    certainty: float

    @property
    def n_levels(self) -> int:
        """Number of distinct levels analysed."""
        return len(self.levels)

    @property
    def n_trials(self) -> int:
        """Number of trials analysed, flagged ones included."""
        return len(self.trials)

    def recommend(self, **wishes: Any) -> Recommendation:
        """The setting to choose, and the settings noise cannot tell from it.

        See `deadzone.explaining.phases.recommend.recommend` for the wishes: within, slo, cost.
        """
        from deadzone.explaining.phases.recommend import recommend

        return recommend(self, **wishes)

    def summary(self) -> Summary:
        """The fit as a statistician expects it: prints as text, shows as HTML, `.tables` has the numbers."""
        from deadzone.explaining.phases.summary import summarise

        return summarise(self)

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw trials, fit, interval and phases; returns the matplotlib axes."""
        from deadzone.explaining.phases.plot import plot

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
            "phases": plain_records(self.phases[wanted]),
            "outliers": plain_records(self.outliers[["trial", "knob", "response", "reason"]]),
            "warnings": list(self.warnings),
            "recommendation": self.recommend().to_dict(),
        }


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame as dictionaries of plain Python values; whole floats become ints."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    item = value.item() if hasattr(value, "item") else value
    if isinstance(item, float):
        if item != item:
            return None
        return int(item) if item.is_integer() and abs(item) < 2**53 else item
    return item


@dataclass(frozen=True, eq=False)
class PhaseModels(Mapping[Any, PhaseModel]):
    """One phase model for each value of a second factor: `models[4.0].phases`.

    by: name of the second factor. models: from its values, in increasing order, to their models.
    table: one row a level of every slice: the columns of `PhaseModel.levels` with `by` before them.
    phases: one row a phase of every slice: the columns of `PhaseModel.phases` with `by` before them.
    warnings: of all slices, each with the slice it belongs to.
    """

    by: str
    models: Mapping[Any, PhaseModel]
    table: pd.DataFrame
    phases: pd.DataFrame
    warnings: tuple[str, ...]

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
        """The best setting over the whole grid; see `deadzone.explaining.phases.recommend.recommend_grid`."""
        from deadzone.explaining.phases.recommend import recommend_grid

        return recommend_grid(self, **wishes)

    def plot(self, *, columns: int | None = None) -> Figure:
        """Draw every slice into a panel of its own; returns the matplotlib figure."""
        from deadzone.explaining.phases.plot_slices import plot_slices

        return plot_slices(self, columns=columns)

    def __repr__(self) -> str:
        lines = [f"  {self.by} = {value}: {model!r}" for value, model in self.models.items()]
        return "\n".join([f"PhaseModels by {self.by}:", *lines])
