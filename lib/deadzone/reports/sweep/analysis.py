"""The analysis of a source: its phase models and the recommendation; `report` shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deadzone.errors import PhaseError
from deadzone.language.catalogue import say
from deadzone.explaining.phases.verdict import verdict
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel, PhaseModels
from deadzone.reports.sweep.source import Source

if TYPE_CHECKING:
    from deadzone.explaining.phases.recommend import Recommendation


@dataclass(frozen=True, eq=False)
class Slice:
    """One curve of a source: its rows, model and recommendation.

    name: which slice, empty if there is one only. position: 0 for the first; its blocks are named after it.
    """

    name: str
    source: Source
    model: PhaseModel
    advice: Recommendation
    position: int = 0

    def anchor(self, block: str) -> str:
        """The id of a block of this slice: `response`, and `slice-2-response` in the second slice."""
        return f"slice-{self.position + 1}-{block}" if self.position else block


@dataclass(frozen=True, eq=False)
class Analysis:
    """The slices of a source and the recommendation over all of them.

    problem: why no curve could be fitted; slices and advice are empty and None then.
    """

    source: Source
    slices: tuple[Slice, ...]
    advice: Recommendation | None
    problem: str = ""

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    @property
    def verdict(self) -> str:
        """The whole verdict in a line, or why there is none."""
        if not self.slices or self.advice is None:
            return say("report.no_fit")
        if len(self.slices) > 1:
            return say("report.grid_verdict", reason=self.advice.reason)
        return verdict(self.slices[0].model, self.advice)


def analyse(source: Source, within: float | None = None, cost: str | None = None) -> Analysis:
    """Fit the source, slice by slice where it has a second factor, and recommend.

    within, cost: see `deadzone.explaining.phases.recommend.recommend`. A source that no curve can be fitted to gives an
    analysis that says why.

    Raises PhaseError if the wishes contradict each other or cannot be read.
    """
    if source.analysed.empty:
        return Analysis(source, (), None, say("report.no_sound_trial", n=len(source.trials)))
    try:
        fitted = fit_phases(source.analysed, source.knob, source.response, goal=source.goal, by=source.by)
    except PhaseError as error:
        return Analysis(source, (), None, str(error))
    wishes = {"within": within, "cost": cost, "all_there_is": _all_there_is(source)}
    advice = fitted.recommend(**wishes)
    if not isinstance(fitted, PhaseModels):
        return Analysis(source, (Slice("", source, fitted, advice),), advice)
    slices = tuple(
        Slice(
            f"{source.by} = {value}",
            replace(source, by=None, trials=source.trials[source.trials[source.by] == value]),
            model,
            model.recommend(**wishes),
            position,
        )
        for position, (value, model) in enumerate(fitted.items())
    )
    return Analysis(source, slices, advice)


def _all_there_is(source: Source) -> float | None:
    """The cores of the machine, where the knob is a CPU limit there: a larger one limits nothing."""
    if source.knob != "cpu_limit" or source.provenance.get("target") != "local":
        return None
    cores = source.provenance.get("cores_usable")
    return float(cores) if cores else None
