"""Sweeps through the setting of a search: along each live knob, the other knobs as set.

They begin once the setting is confirmed, have a budget of their own, and show where each live knob
pays, where it stops, and how much less of it does as well. Their trials, and those of the
confirmation that lie on the same line, are the only ones used: in the search a cell is tried again
because it was lucky.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.analysis.adaptive.proposing import propose
from deadzone.analysis.settings.answering import answer
from deadzone.errors import PhaseError
from deadzone.language.messages import join
from deadzone.plugins import Message, _
from deadzone.report.sweep.tables import phases_text
from deadzone_search.space import Space, names_of

if TYPE_CHECKING:
    import deadzone as dz

STAGES = ("confirm", "along")
"""Stages whose trials lie on the curves."""


def lines_of(space: Space, effects: pd.DataFrame, chosen: int) -> dict[str, pd.DataFrame]:
    """The cells along each live knob through a chosen cell, in the order of the levels."""
    live = effects.loc[effects["verdict"].eq("live"), "knob"]
    return {knob: space.line(knob, chosen) for knob in map(str, live)}


def next_along(
    told: pd.DataFrame, lines: Mapping[str, pd.DataFrame], response: str, goal: str, left: int,
    seed: int,
) -> pd.DataFrame:  # fmt: skip
    """The cells of the next trials, those that tell most; none where no trial is worth its time.

    told: every trial. left: trials of the budget.
    """
    best = pd.DataFrame()
    most = (-1.0, 0.0)
    if left < 1:
        return best
    for knob, line in lines.items():
        levels = line[knob].tolist()
        try:
            asked = propose(_on(told, knob, line), knob, response, levels, goal, seed=seed)
        except PhaseError:
            continue  # words, or too few levels to choose among
        # an opening comes first: nothing can be said of a knob without it
        worth = (float(sum(asked.gain) == 0), float(sum(asked.gain)))
        if asked.levels and worth > most:
            places = [levels.index(level) for level in asked.levels]
            best, most = line.iloc[places[:left]], worth
    return best


def _on(told: pd.DataFrame, knob: str, line: pd.DataFrame) -> pd.DataFrame:
    """The trials on a line that were not measured to search."""
    of_stage = told[told["stage"].isin(STAGES)]
    others = [name for name in line if name != knob]
    here = set(names_of(line[others]))
    return of_stage[[cell in here for cell in names_of(of_stage[others])]]


def curves_along(
    rows: pd.DataFrame, lines: Mapping[str, pd.DataFrame], response: str, goal: str
) -> dict[str, dz.PhaseModel]:
    """The phases along each knob that was swept, where they could be fitted. rows: the trials that
    count."""
    curves = {}
    for knob, line in lines.items():
        there = _on(rows, knob, line)
        if not there["stage"].eq("along").any():
            continue
        try:
            models = answer(there, knob, response, goal).models
        except PhaseError:
            continue  # too few trials ended well
        if models:
            curves[knob] = models[()]
    return curves


def told_along(curves: Mapping[str, dz.PhaseModel], setting: Mapping[str, Any]) -> Message:
    """The phases along each knob, and which smaller levels do as well as the setting."""
    said: list[Message] = []
    for knob, curve in curves.items():
        phases = phases_text(curve)
        said.append(_("Along {knob}, the others as set: {phases}.", knob=knob, phases=phases))
        said += curve.recommend().less_than(setting[knob])
    return join(said)
