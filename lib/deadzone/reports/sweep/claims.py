"""The claims of a run, judged by its trials, and the section of its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deadzone.errors import PhaseError
from deadzone.explaining.claims.cells import rows_at
from deadzone.explaining.claims.forms import Measured
from deadzone.explaining.claims.judging import Judged, judge
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block
from deadzone.reports.published.claims import claims_table
from deadzone.reports.published.published import section
from deadzone.store.run import Run
from deadzone.study.claims import same_level
from deadzone.study.design import levels_of
from deadzone.study.levels import Level

if TYPE_CHECKING:
    from deadzone.reports.sweep.analysis import Analysis
    from deadzone.reports.sweep.source import Source


def judge_run(source: Source, analysis: Analysis | None = None) -> tuple[Judged, ...]:
    """The verdict on every claim of a run, those that were added later included.

    analysis: of the source, so that no curve is fitted a second time. A table that is no run has no claims.
    """
    if source.study is None or source.folder is None:
        return ()
    made = Run(source.folder).claims()
    if not made:
        return ()
    known = {s.source.trials[source.by].iloc[0] if source.by else None: s.model for s in analysis or ()}

    def model_of(given: Mapping[str, Level]) -> PhaseModel | None:
        wanted = given.get(source.by or "")
        for level, model in known.items():
            if level is None or (wanted is not None and same_level(level, wanted)):
                return model
        trials = source.analysed[rows_at(source.analysed, given)]
        try:
            found = fit_phases(trials, source.knob, source.response, goal=source.goal)
            assert isinstance(found, PhaseModel)
            return found
        except PhaseError:
            return None

    measured = Measured(
        source.analysed, source.response, source.goal, source.knob, levels_of(source.study), model_of
    )
    return judge([claim for claim, _ in made], measured, added=[added for _, added in made])


def claims_section(source: Source, analysis: Analysis | None = None) -> list[Block]:
    """The claims of a run with their verdicts; nothing where it has none."""
    judged = judge_run(source, analysis)
    return [section("claims.heading"), claims_table(judged, "claims.own_caption", "claims.own_claim")] if judged else []


def line(one: Judged) -> str:
    """A claim, its verdict and its figures in a line of a terminal."""
    return say("claims.line", verdict=say(f"claims.{one.verdict}"), claim=one.claim, found=one.found)
