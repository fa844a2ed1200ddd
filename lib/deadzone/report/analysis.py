"""The analysis of a source: its phase model or models, and the recommendation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadzone.phases.fit import fit_phases
from deadzone.phases.model import PhaseModel, PhaseModels
from deadzone.report import figures, prose, tables
from deadzone.report.display import Figure, Prose, Table
from deadzone.report.source import Source

if TYPE_CHECKING:
    from deadzone.phases.recommend import Recommendation


@dataclass(frozen=True, eq=False)
class Slice:
    """One curve of a source: its rows, model and recommendation; name says which slice, empty if there is one only."""

    name: str
    source: Source
    model: PhaseModel
    advice: Recommendation


@dataclass(frozen=True, eq=False)
class Analysis:
    """The slices of a source and the recommendation over all of them."""

    source: Source
    slices: tuple[Slice, ...]
    advice: Recommendation

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def figures(self) -> list[Figure]:
        """The response figure of each slice."""
        return [figures.response_figure(s.source, s.model, s.advice) for s in self.slices]

    def treatments(self) -> list[Table]:
        """The table of treatments of each slice."""
        return [tables.treatments_table(s.source, s.model) for s in self.slices]

    def phases(self) -> list[Table | Prose]:
        """The phase table and its sentences, slice by slice."""
        return [
            shown
            for s in self.slices
            for shown in (tables.phases_table(s.model), prose.phases_in_words(s.model))
        ]

    def exceptions(self) -> list[Table | Prose]:
        """Outliers, untrusted and failed trials, and warnings; one sentence where there are none."""
        found: list[Table | Prose | None] = []
        for s in self.slices:
            found += [tables.outliers_table(s.model), prose.warnings(s.model)]
        found += [tables.untrusted_table(self.source), tables.failed_table(self.source)]
        shown = [item for item in found if item is not None]
        return shown or [Prose(("No outliers, no untrusted trials, no failures, no warnings.",))]

    def checks(self) -> list[Prose]:
        """What the curve must show if the measurement is right."""
        return [check for s in self.slices if (check := prose.cores_check(s.source, s.model))]

    def summaries(self) -> list[PhaseModel]:
        """The regression-style summary of each slice (a model shows itself as one)."""
        return [s.model for s in self.slices]


def analyse(source: Source, within: float | None = None, cost: str | None = None) -> Analysis:
    """Fit the source, slice by slice where it has a second factor, and recommend.

    within, cost: see `deadzone.phases.recommend.recommend`.

    Raises PhaseError if no curve can be fitted.
    """
    fitted = fit_phases(source.analysed, source.knob, source.response, goal=source.goal, by=source.by)
    advice = fitted.recommend(within=within, cost=cost)
    if not isinstance(fitted, PhaseModels):
        return Analysis(source, (Slice("", source, fitted, advice),), advice)
    slices = tuple(
        Slice(
            f"{source.by} = {value}", _slice(source, value), model, model.recommend(within=within, cost=cost)
        )
        for value, model in fitted.items()
    )
    return Analysis(source, slices, advice)


def _slice(source: Source, value: object) -> Source:
    from dataclasses import replace

    return replace(source, by=None, trials=source.trials[source.trials[source.by] == value])
