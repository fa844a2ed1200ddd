"""What a fit found of a surface over two knobs, as data."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.explaining.records import records
from deadzone.explaining.surfaces.grid import Grid

PAYS = ("a", "b", "either", "both", "harm", "none")
"""What pays at a cell: the first knob alone, the second alone, either of them, only both together; more is harm, or nothing pays."""


@dataclass(frozen=True, eq=False)
class SurfaceResult:
    """Which of two knobs pays where, how sure that is, and what it rests on.

    knobs: the first one, a, and the second, b: names of columns. grid: the cells that it was fitted to. Elasticities
    are those of the step to the next level that is a fifth more, positive where the response gets better. `_low` and `_high` bound the
    central interval of the usual certainty.

    families: posterior probability of each family of surfaces.
    cells: one row a measured cell: a, b (levels), n (trials), fitted, fitted_low, fitted_high (the response's unit),
        a_elasticity, b_elasticity with _low and _high (nan where nothing was measured further), pays (one of PAYS, empty where that is
        not shown), probability (of what pays most probably), region (number, 0 where nothing is shown).
    regions: one row a region of neighbouring cells where the same pays, the largest first: region, pays, cells, a_start,
        a_stop, b_start, b_stop, a_elasticity, b_elasticity, probability (means over its cells).
    ridge: one row a level of the first knob at which several of the second were measured: a, b (the least level of the
        second beyond which it brings nothing there), b_low, b_high, to_the_end (b is the last one measured there).
    """

    knobs: tuple[str, str]
    response: str
    goal: str
    grid: Grid
    families: dict[str, float]
    cells: pd.DataFrame
    regions: pd.DataFrame
    ridge: pd.DataFrame

    @property
    def family(self) -> str:
        """The most probable family of surfaces."""
        return max(self.families, key=lambda name: self.families[name])

    def to_dict(self) -> dict[str, Any]:
        """The record that `deadzone fit --json` prints: plain numbers, strings, lists."""
        tables = {name: records(getattr(self, name), whole=True) for name in ("regions", "ridge", "cells")}
        named = {"a": self.knobs[0], "b": self.knobs[1], "families": self.families}
        return {**named, **tables, "warnings": list(self.grid.warnings)}
