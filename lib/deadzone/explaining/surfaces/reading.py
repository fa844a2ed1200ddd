"""What surfaces drawn from a posterior say: elasticities, what pays at each cell, the regions, and the ridge."""

from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.phases.thresholds import CERTAINTY, LINEAR_ELASTICITY, REVERSAL_ELASTICITY
from deadzone.explaining.surfaces.grid import Grid
from deadzone.explaining.surfaces.result import PAYS

LEAST_STEP = float(np.log(1.2))
"""What pays is asked of the next level that is a fifth more: over less, what just pays moves the response by less than 5 %, which noise
does too. Over a knob of a small range it is asked of a quarter of that."""

QUANTILES = (0.5, (1 - CERTAINTY) / 2, (1 + CERTAINTY) / 2)
"""Middle and ends of an interval."""


def ahead(x: np.ndarray, least: float) -> np.ndarray:
    """How far each place lies ahead of each other one, nan where by less than `least` or a quarter of the range; shape (n, n)."""
    far = np.subtract.outer(x, x).T
    return np.where(far > max(min(least, float(np.ptp(x)) / 4) - 1e-9, 0.0), far, np.nan)


def next_cells(grid: Grid, least: float = 0.0) -> np.ndarray:
    """The next measured cell along the first knob, along the second, and the one where both are, by their positions, -1 where none
    was measured; shape (3, cells). least: how much further on the knob's axis, see `ahead`."""
    places = grid.spread(np.arange(len(grid.value)), -1).astype(int)
    found = np.full((3, len(grid.value)), -1)
    for k, (x, at, line) in enumerate(
        ((grid.x[0], grid.first, grid.second), (grid.x[1], grid.second, grid.first))
    ):
        far = np.where(
            line == line[:, None], np.nan_to_num(ahead(x, least), nan=np.inf)[np.ix_(at, at)], np.inf
        )
        found[k] = np.where(np.isfinite(far.min(axis=1)), far.argmin(axis=1), -1)
    found[2] = np.where((found[:2] >= 0).all(axis=0), places[grid.first[found[0]], grid.second[found[1]]], -1)
    return found


def elasticities(drawn: np.ndarray, grid: Grid) -> np.ndarray:
    """Elasticities of the step to the next cell along the first knob, along the second, and of both together beyond the better one
    of these, by the shorter step, which limits what both can bring.

    drawn: shape (draws, cells), ln(response), smaller is better. Returns shape (3, draws, cells), nan where no cell was measured.
    """
    following = next_cells(grid, LEAST_STEP)
    gain = np.where(following[:, None] >= 0, drawn - drawn[:, following].swapaxes(0, 1), np.nan)
    gain[2] -= np.maximum(gain[:2].max(axis=0), 0.0)
    steps = [
        x[at[to]] - x[at] for x, at, to in zip(grid.x, (grid.first, grid.second), following, strict=False)
    ]
    return gain / np.array([*steps, np.minimum(*steps)])[:, None]


def paying(found: np.ndarray) -> np.ndarray:
    """What pays at every cell of every surface, by its position in PAYS, as it does in a phase; len(PAYS) where that nothing does cannot be
    said: nothing was measured further along either knob, or not along both together.

    found: as of `elasticities`. Returns shape (draws, cells).
    """
    first, second, both = found >= LINEAR_ELASTICITY
    harm = (found[:2] <= REVERSAL_ELASTICITY).any(axis=0)
    known = np.isfinite(found[2]) | (np.isnan(found[0]) != np.isnan(found[1]))
    return np.select(
        [first & ~second, second & ~first, first & second, both, harm, known], range(len(PAYS)), len(PAYS)
    )


def shown(pays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is shown to pay at each cell, empty where nothing is, and how probable that is; each of shape (cells,).

    Where nothing pays, and it is open whether more is harm, nothing pays.
    """
    share = np.stack([(pays == k).mean(axis=0) for k in range(len(PAYS))])
    idle, most = share[PAYS.index("harm") :].sum(axis=0), share.max(axis=0)
    label = np.where(
        most >= CERTAINTY, np.array(PAYS)[share.argmax(axis=0)], np.where(idle >= CERTAINTY, "none", "")
    )
    return label, np.where((label == "none") & (most < CERTAINTY), idle, most)


def cell_table(drawn: np.ndarray, grid: Grid, goal: str) -> pd.DataFrame:
    """The cells of a result, one row each; see `SurfaceResult`."""
    found = elasticities(drawn, grid)
    pays, probability = shown(paying(found))
    table: dict[str, Any] = {
        "a": grid.levels[0][grid.first],
        "b": grid.levels[1][grid.second],
        "n": grid.count,
    }
    response = np.exp(drawn * (1 if goal == "min" else -1))
    for name, values in {"fitted": response, "a_elasticity": found[0], "b_elasticity": found[1]}.items():
        ends = np.quantile(values, QUANTILES, axis=0)
        table |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
    return pd.DataFrame(
        {**table, "pays": pays, "probability": probability, "region": _regions(pays, next_cells(grid))}
    )


def _regions(pays: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """The number of the region that each cell belongs to, from 1 for the largest; 0 where nothing is shown, shape (cells,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    cell = np.tile(np.arange(len(pays)), len(neighbours))
    joined = (neighbours.ravel() >= 0) & (pays[cell] == pays[neighbours.ravel()])
    pairs = (cell[joined], neighbours.ravel()[joined])
    number = connected_components(coo_matrix((np.ones(joined.sum()), pairs), shape=(len(pays),) * 2))[1]
    counts = np.bincount(number, weights=pays != "")
    return np.where(pays != "", np.argsort(np.argsort(-counts, kind="stable"))[number] + 1, 0)


def region_table(cells: pd.DataFrame) -> pd.DataFrame:
    """One row a region; see `SurfaceResult`."""
    by = cells[cells["pays"] != ""].groupby("region")
    ends = {f"{knob}_{end}": (knob, how) for knob in "ab" for end, how in (("start", "min"), ("stop", "max"))}
    means = {name: (name, "mean") for name in ("a_elasticity", "b_elasticity", "probability")}
    return by.agg(pays=("pays", "first"), cells=("pays", "size"), **ends, **means).reset_index()


def ridge_table(drawn: np.ndarray, grid: Grid) -> pd.DataFrame:
    """For each level of the first knob the least level of the second beyond which it brings nothing; see `SurfaceResult`."""
    rows = []
    for i, level in enumerate(grid.levels[0]):
        there = np.flatnonzero(grid.first == i)  # in the order of the second knob
        if len(there) > 1:
            stops = np.quantile(
                _stop(drawn[:, there], grid.x[1][grid.second[there]]), QUANTILES, method="nearest"
            )
            b, b_low, b_high = grid.levels[1][grid.second[there[stops.astype(int)]]]
            rows.append(
                {
                    "a": level,
                    "b": b,
                    "b_low": b_low,
                    "b_high": b_high,
                    "to_the_end": stops[0] == len(there) - 1,
                }
            )
    return pd.DataFrame(rows)


def _stop(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The first position of each row from which on no later one is better by an elasticity that pays; shape (draws,)."""
    gain = (rows[:, :, None] - rows[:, None, :]) / ahead(x, LEAST_STEP)
    pays = (gain >= LINEAR_ELASTICITY).any(axis=2)
    return np.where(pays.any(axis=1), pays.shape[1] - np.argmax(pays[:, ::-1], axis=1), 0)
