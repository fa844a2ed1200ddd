"""What a fit found of a surface over two knobs, as data."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.analysis.records import records
from deadzone.analysis.surfaces.grid import Grid

PAYS = ("a", "b", "either", "both", "harm", "none")
"""What pays at a cell: the first knob alone (a), the second alone (b), either of them, only both
together; more is harm, or nothing pays. In tables the knobs stand by their names."""

OTHER_COLUMNS = ("n_trials", "fitted", "pays", "probability", "region", "cells", "to_the_end")
"""Columns of the tables that no knob may be called."""


@dataclass(frozen=True, eq=False)
class SurfaceResult:
    """Which of two knobs pays where, how sure that is, and what it rests on.

    knobs: names of their columns, such as cpu and threads, which the columns below stand for. grid:
    the cells that it was fitted to. Elasticities are those of the step to the next level that is a
    fifth more, positive where the response gets better. `_low` and `_high` bound the central
    interval of the usual certainty.

    families: posterior probability of each family of surfaces. cells: one row a measured cell: cpu,
    threads (levels), n_trials, fitted, fitted_low, fitted_high (the response's unit),
    cpu_elasticity, threads_elasticity with _low and _high (nan where nothing was measured further),
    pays (the name of a knob, either, both, harm or none, empty where that is not shown),
    probability (of what pays most probably), region (number, 0 where nothing is shown).
    regions: one row a region of neighbouring cells where the same pays, the largest first: region,
        pays, cells, cpu_start, cpu_stop, threads_start, threads_stop, cpu_elasticity,
        threads_elasticity, probability (means over its cells).
    ridge: one row a level of the first knob at which several of the second were measured: cpu,
        threads (the least level of the second beyond which it brings nothing there), threads_low,
        threads_high, to_the_end (it is the last one measured there).
    """

    knobs: tuple[str, str]
    response: str
    goal: str
    grid: Grid
    families: dict[str, float]
    cells: pd.DataFrame
    regions: pd.DataFrame
    ridge: pd.DataFrame

    def part(self, pays: str) -> str:
        """One of PAYS, or empty: what pays, by the place of a knob and not its name."""
        return dict(zip(self.knobs, PAYS, strict=False)).get(pays, pays)

    @property
    def family(self) -> str:
        """The most probable family of surfaces."""
        return max(self.families, key=lambda name: self.families[name])

    def to_dict(self) -> dict[str, Any]:
        """The record that `deadzone fit --json` prints: plain numbers, strings, lists."""
        tables = {
            name: records(getattr(self, name), whole=True) for name in ("regions", "ridge", "cells")
        }
        named = {"knobs": list(self.knobs), "families": self.families}
        return {**named, **tables, "warnings": list(self.grid.warnings)}


def of_knobs(table: pd.DataFrame, knobs: tuple[str, str]) -> pd.DataFrame:
    """A table whose columns a, b, a_... and b_... carry the names of the knobs, and so does what
    pays."""
    names = dict(zip("ab", knobs, strict=True))
    renamed = {
        column: names[column[0]] + column[1:]
        for column in table.columns
        if column in names or column[:2] in ("a_", "b_")
    }
    shown = table.rename(columns=renamed)
    return shown.assign(pays=shown["pays"].replace(names)) if "pays" in shown else shown
