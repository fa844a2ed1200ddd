"""What surfaces drawn from a posterior say: elasticities, what pays at each cell, the regions, and
the ridge."""

import numpy as np
import pandas as pd

from deadzone.analysis.phases.thresholds import CERTAINTY, LINEAR_ELASTICITY, REVERSAL_ELASTICITY
from deadzone.analysis.surfaces.grid import Grid
from deadzone.analysis.surfaces.result import PAYS

LEAST_STEP = float(np.log(1.2))
"""What pays is asked of the next level that is a fifth more: over less, what just pays moves the
response by less than 5 %, which noise does too. Over a knob of a small range it is asked of a
quarter of that."""

QUANTILES = (0.5, (1 - CERTAINTY) / 2, (1 + CERTAINTY) / 2)
"""Middle and ends of an interval."""


NEIGHBOURS = ((1, 1, 0), (1, 1, 1), (0, 1, 1))
"""Cells are neighbours along either knob, and along both together."""


def ahead(x: np.ndarray) -> np.ndarray:
    """How far each level lies ahead of each other one on the axis, inf where it is no step further;
    shape (n, n)."""
    far = np.subtract.outer(x, x).T
    return np.where(far > min(LEAST_STEP, np.ptp(x) / 4) - 1e-9, far, np.inf)


def next_cells(grid: Grid) -> np.ndarray:
    """The cell a step further along the first knob, along the second, and along both, by their
    positions, -1 where none was measured; shape (3, cells)."""
    cells, nearest = grid.spread(np.arange(len(grid.value)), -1).astype(int), []
    for x, at, line in zip(grid.x, grid.at, grid.at[::-1], strict=True):
        far = np.where(line == line[:, None], ahead(x)[np.ix_(at, at)], np.inf)
        nearest.append(np.where(np.isfinite(far.min(axis=1)), far.argmin(axis=1), -1))
    both = cells[grid.at[0][nearest[0]], grid.at[1][nearest[1]]]
    return np.array([*nearest, np.where(np.minimum(*nearest) >= 0, both, -1)])


def elasticities(drawn: np.ndarray, grid: Grid) -> np.ndarray:
    """Elasticities of the step along the first knob, along the second, and along both, of what it
    brings beyond the better one of these, by the shorter step, which limits what both can bring.

    drawn: shape (draws, cells), ln(response), smaller is better. Returns shape (3, draws, cells),
    nan where no cell was measured.
    """
    following = next_cells(grid)
    gain = np.where(following[:, None] >= 0, drawn - drawn[:, following].swapaxes(0, 1), np.nan)
    gain[2] -= np.maximum(gain[:2].max(axis=0), 0.0)
    steps = [grid.x[k][grid.at[k][following[k]]] - grid.x[k][grid.at[k]] for k in (0, 1)]
    return gain / np.array([*steps, np.minimum(*steps)])[:, None]


def paying(elasticity: np.ndarray) -> np.ndarray:
    """What pays at every cell of every surface, by its position in PAYS, as it does in a phase;
    len(PAYS) where that nothing does cannot be said: nothing was measured further along either
    knob, or not along both together.

    found: as of `elasticities`. Returns shape (draws, cells).
    """
    first, second, both = elasticity >= LINEAR_ELASTICITY
    harm = (elasticity[:2] <= REVERSAL_ELASTICITY).any(axis=0)
    known = np.isfinite(elasticity[2]) | (np.isnan(elasticity[0]) != np.isnan(elasticity[1]))
    return np.select(
        [first & ~second, second & ~first, first & second, both, harm, known],
        range(len(PAYS)),
        len(PAYS),
    )


def shown(pays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is shown to pay at each cell, empty where nothing is, and how probable that is; each of
    shape (cells,).

    Where nothing pays, and it is open whether more is harm, nothing pays.
    """
    share = np.stack([(pays == k).mean(axis=0) for k in range(len(PAYS))])
    idle, most = share[PAYS.index("harm") :].sum(axis=0), share.max(axis=0)
    label = np.where(
        most >= CERTAINTY,
        np.array(PAYS)[share.argmax(axis=0)],
        np.where(idle >= CERTAINTY, "none", ""),
    )
    return label, np.where((label == "none") & (most < CERTAINTY), idle, most)


def cell_table(drawn: np.ndarray, grid: Grid, goal: str) -> pd.DataFrame:
    """The cells of a result, one row each; see `SurfaceResult`."""
    elasticity = elasticities(drawn, grid)
    pays, probability = shown(paying(elasticity))
    table = pd.DataFrame(
        {"a": grid.levels[0][grid.at[0]], "b": grid.levels[1][grid.at[1]], "n_trials": grid.count}
    )
    response = np.exp(drawn * (1 if goal == "min" else -1))
    for name, values in {
        "fitted": response,
        "a_elasticity": elasticity[0],
        "b_elasticity": elasticity[1],
    }.items():
        table[[name, f"{name}_low", f"{name}_high"]] = np.quantile(values, QUANTILES, axis=0).T
    return table.assign(pays=pays, probability=probability, region=_regions(pays, grid))


def _regions(pays: np.ndarray, grid: Grid) -> np.ndarray:
    """The number of the region that each cell belongs to, from 1 for the largest; 0 where nothing
    is shown, shape (cells,)."""
    from scipy.ndimage import label

    number = np.zeros(len(pays), dtype=int)
    for kind in PAYS:
        parts = label(grid.spread(pays == kind), NEIGHBOURS)[0][*grid.at]
        number += np.where(parts > 0, parts + number.max(), 0)
    counts = np.bincount(number)
    counts[0] = len(pays) + 1
    return np.argsort(np.argsort(-counts, kind="stable"))[number]


def region_table(cells: pd.DataFrame) -> pd.DataFrame:
    """One row a region; see `SurfaceResult`."""
    by = cells[cells["pays"] != ""].groupby("region")
    ends = {
        f"{knob}_{end}": (knob, how)
        for knob in "ab"
        for end, how in (("start", "min"), ("stop", "max"))
    }
    means = {name: (name, "mean") for name in ("a_elasticity", "b_elasticity", "probability")}
    return by.agg(pays=("pays", "first"), cells=("pays", "size"), **ends, **means).reset_index()


def ridge_table(drawn: np.ndarray, grid: Grid) -> pd.DataFrame:
    """For each level of the first knob the least level of the second beyond which it brings
    nothing; see `SurfaceResult`."""
    table = pd.DataFrame(columns=["a", "b", "b_low", "b_high", "to_the_end"])
    for i, level in enumerate(grid.levels[0]):
        there = np.flatnonzero(grid.at[0] == i)  # in the order of the second knob
        if len(there) > 1:
            stops = _stop(drawn[:, there], grid.x[1][grid.at[1][there]])
            middle, low, high = np.quantile(stops, QUANTILES, method="nearest").astype(int)
            b, b_low, b_high = grid.levels[1][grid.at[1][there[[middle, low, high]]]]
            table.loc[len(table)] = [level, b, b_low, b_high, middle == len(there) - 1]
    return table


def _stop(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The first position of each row from which on no later one is better by an elasticity that
    pays; shape (draws,)."""
    gain = (rows[:, :, None] - rows[:, None, :]) / ahead(x)
    pays = (gain >= LINEAR_ELASTICITY).any(axis=2)
    return np.where(pays.any(axis=1), pays.shape[1] - np.argmax(pays[:, ::-1], axis=1), 0)
