"""Sweeps through the setting of a search: along each live knob, the other knobs as set.

They begin once the setting is confirmed, have a budget of their own, and show where each live knob
pays, where it stops, and how much less of it does as well. Their trials, and those of the
confirmation that lie on the same line, are the only ones used: in the search a cell is tried again
because it was lucky.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.adaptive.proposing import propose
from deadzone.analysis.settings.answering import answer
from deadzone.errors import PhaseError
from deadzone.language.messages import join
from deadzone.plugins import Message, _
from deadzone.report.sweep.tables import phases_text
from deadzone_search.space import Space

if TYPE_CHECKING:
    import deadzone as dz

STAGES = ("confirm", "along")
"""Stages whose trials lie on the curves."""


def lines_of(space: Space, effects: pd.DataFrame, chosen: int) -> dict[str, np.ndarray]:
    """The cells along each live knob through a chosen cell, in the order of the levels."""
    lines = {}
    for knob in effects.loc[effects["verdict"].eq("live"), "knob"]:
        others = space.cells.drop(columns=knob)
        lines[str(knob)] = np.flatnonzero(others.eq(others.iloc[chosen]).all(axis=1))
    return lines


def next_along(
    told: pd.DataFrame, tried: np.ndarray, space: Space, lines: Mapping[str, np.ndarray],
    response: str, goal: str, left: int, seed: int,
) -> list[int]:  # fmt: skip
    """The cells of the next trials, those that tell most; none where no trial is worth its time.

    told, tried: every trial and its cell. left: trials of the budget.
    """
    best: list[int] = []
    most = (-1.0, 0.0)
    if left < 1:
        return best
    of_stage = told["stage"].isin(STAGES).to_numpy()
    for knob, line in lines.items():
        rows = told[of_stage & np.isin(tried, line)]
        levels = space.cells[knob].iloc[line]
        try:
            asked = propose(rows, knob, response, levels.tolist(), goal, seed=seed)
        except PhaseError:
            continue  # words, or too few levels to choose among
        # an opening comes first: nothing can be said of a knob without it
        worth = (float(sum(asked.gain) == 0), float(sum(asked.gain)))
        if asked.levels and worth > most:
            places = dict(zip(levels, line, strict=True))
            best, most = [int(places[level]) for level in asked.levels], worth
    return best[:left]


def curves_along(
    rows: pd.DataFrame, cell: np.ndarray, lines: Mapping[str, np.ndarray], response: str, goal: str
) -> dict[str, dz.PhaseModel]:
    """The phases along each knob that was swept, where they could be fitted. rows, cell: the trials
    that count."""
    of_stage, curves = rows["stage"].isin(STAGES).to_numpy(), {}
    for knob, line in lines.items():
        there = rows[of_stage & np.isin(cell, line)]
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
