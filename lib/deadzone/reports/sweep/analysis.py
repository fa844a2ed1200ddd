"""The analysis of a source: its phase models and the recommendation; `report` shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deadzone.errors import PhaseError
from deadzone.language.catalogue import say
from deadzone.explaining.phases.verdict import verdict as curve_verdict
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.settings.answering import Answer, answer
from deadzone.explaining.settings.wording import verdict
from deadzone.reports.sweep.source import Source
from deadzone.study.scales import level_name

if TYPE_CHECKING:
    import pandas as pd

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

    answer: every setting, with or without a curve. problem: why there is none; slices are empty and advice None then.
    """

    source: Source
    slices: tuple[Slice, ...]
    advice: Recommendation | None
    problem: str = ""
    answer: Answer | None = None

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    @property
    def verdict(self) -> str:
        """The whole verdict in a line, or why there is none."""
        if self.answer is None or self.advice is None:
            return say("report.no_fit")
        if self.source.by:
            return say("report.grid_verdict", reason=self.advice.reason)
        return curve_verdict(self.slices[0].model, self.advice) if self.slices else verdict(self.answer, self.advice)


def analyse(source: Source, within: float | None = None, cost: str | None = None) -> Analysis:
    """Estimate every setting of the source, fit a curve to each slice that has one, and recommend.

    within, cost: see `deadzone.explaining.phases.recommend.recommend`. A source that no curve can be fitted to gives an
    analysis that says why.

    Raises PhaseError if the wishes contradict each other or cannot be read.
    """
    if source.analysed.empty:
        return Analysis(source, (), None, say("report.no_sound_trial", n=len(source.trials)))
    knob = source.written
    try:
        found = answer(
            source.analysed, source.knob, source.response, source.goal,
            by=source.by, scale=knob.scale, places=knob.at,
            measured_on=source.study.response.scale if source.study else None,
        )  # fmt: skip
    except PhaseError as error:
        return Analysis(source, (), None, str(error))
    advice = found.recommend(within=within, cost=cost)
    slices = tuple(
        Slice(
            ", ".join(f"{name} = {level}" for name, level in zip(source.by, levels, strict=True)),
            replace(source, by=(), trials=_slice(source, levels)),
            model,
            model.recommend(within=within, cost=cost) if source.by else advice,
            position,
        )
        for position, (levels, model) in enumerate(found.models.items())
    )
    return Analysis(source, slices, advice, answer=found)


def _slice(source: Source, levels: tuple[Any, ...]) -> pd.DataFrame:
    """The trials at these levels of the other factors."""
    kept = source.trials
    for name, level in zip(source.by, levels, strict=True):
        kept = kept[kept[name].map(level_name) == level_name(level)]
    return kept
