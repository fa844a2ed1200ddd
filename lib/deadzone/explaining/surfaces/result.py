"""What a fit found of a surface over two knobs, as data."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.explaining.records import records

A, B, BOTH, EITHER, NONE_PAYS, HARM = PAYS = ("a", "b", "both", "either", "none", "harm")
"""What pays at a cell, to the next level: the first knob, the second, only both together, either, nothing, or more is worse."""


@dataclass(frozen=True, eq=False)
class SurfaceResult:
    """Which of two knobs pays where, how sure that is, and what it rests on.

    knobs: the first one, a, and the second, b: names of columns. levels: of each, in order, on its axis. names: how each
    level is written. Elasticities are those of the step to the next level, positive where the response gets better. `_low` and
    `_high` bound the central interval of `certainty`.

    families: one row a family of surfaces: family, probability (posterior).
    cells: one row a measured cell: a, b (levels), n (trials), fitted, fitted_low, fitted_high (the response's unit),
        a_elasticity, b_elasticity with _low and _high (nan where no next
        level was measured), pays (one of PAYS, empty where it
        is not shown), probability (of the likeliest), region (number, 0 where nothing is shown).
    regions: one row a region of neighbouring cells where the same pays, the largest first: region, pays, cells, a_start,
        a_stop, b_start, b_stop, a_elasticity, b_elasticity, probability (means over its cells).
    ridge: one row a level of the first knob at which several of the second were measured: a, b (the least level of the
        second beyond which it brings nothing there), b_low, b_high, to_the_end (b is the last one measured there).
    noise: standard deviation of ln(response) between trials of a cell. misfit: of the cells around the surface. warnings:
        sentences a reader needs.
    """

    knobs: tuple[str, str]
    response: str
    goal: str
    names: tuple[tuple[str, ...], tuple[str, ...]]
    levels: tuple[tuple[float, ...], tuple[float, ...]]
    families: pd.DataFrame
    cells: pd.DataFrame
    regions: pd.DataFrame
    ridge: pd.DataFrame
    noise: float
    misfit: float
    warnings: tuple[str, ...]
    certainty: float

    @property
    def family(self) -> str:
        """The most probable family of surfaces."""
        return str(self.families["family"].iloc[int(self.families["probability"].argmax())])

    def to_dict(self) -> dict[str, Any]:
        """The record that `deadzone fit --json` prints: plain numbers, strings, lists."""
        tables = {
            name: records(getattr(self, name), whole=True)
            for name in ("families", "regions", "ridge", "cells")
        }
        return {"a": self.knobs[0], "b": self.knobs[1], **tables, "warnings": list(self.warnings)}
