"""What surfaces drawn from a posterior say: elasticities, what pays at each cell, the regions, and the ridge."""

from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.phases.thresholds import Thresholds
from deadzone.explaining.surfaces.grid import Grid
from deadzone.explaining.surfaces.result import BOTH, EITHER, HARM, NONE_PAYS, PAYS, A, B

LEAST_STEP = float(np.log(1.2))
"""What pays is asked of the next level that is a fifth more: over less, what just pays moves the response by less than 5 %, which noise
does too. Over a knob of a small range it is asked of a quarter of that."""


def next_cells(grid: Grid, least: float = 0.0) -> np.ndarray:
    """The next measured cell along the first knob and along the second, and the cell where both are, by their positions, -1 where none
    was measured; shape (3, cells).

    least: how much further it is at least, on the knob's axis, or a quarter of its range.
    """
    found = []
    for x, at, line in ((grid.x[0], grid.first, grid.second), (grid.x[1], grid.second, grid.first)):
        ahead = np.subtract.outer(x[at], x[at]).T
        ahead = np.where((ahead > _reach(x, least)) & (line == line[:, None]), ahead, np.inf)
        found.append(np.where(np.isfinite(ahead.min(axis=1)), ahead.argmin(axis=1), -1))
    first, second = found
    corner = grid.spread(np.arange(len(grid.value)), -1).astype(int)[grid.first[first], grid.second[second]]
    return np.array([first, second, np.where((first >= 0) & (second >= 0), corner, -1)])


def _reach(x: np.ndarray, least: float) -> float:
    return max(min(least, float(np.ptp(x)) / 4) - 1e-9, 0.0)


def elasticities(drawn: np.ndarray, grid: Grid) -> np.ndarray:
    """Elasticities of the step to the next cell along the first knob, along the second, and of both steps together.

    drawn: shape (draws, cells), ln(response), smaller is better. Of both together it is that by the shorter of the two steps, which
    limits what both can bring. Returns shape (3, draws, cells), nan where no cell was measured there.
    """
    first, second, corner = next_cells(grid, LEAST_STEP)
    along = grid.x[0][grid.first[first]] - grid.x[0][grid.first]
    across = grid.x[1][grid.second[second]] - grid.x[1][grid.second]
    steps = ((first, along), (second, across), (corner, np.minimum(along, across)))
    gains = [(drawn - drawn[:, to]) / np.where(to >= 0, length, np.nan) for to, length in steps]
    return np.stack(gains)


def paying(found: np.ndarray, thresholds: Thresholds) -> np.ndarray:
    """What pays at every cell of every surface, by its position in PAYS, shape (draws, cells); len(PAYS) where that nothing does
    cannot be said: nothing was measured further along either knob, or not along both together.

    found: as of `elasticities`. The thresholds are those of a phase: paying from `linear` on, harm from `reversal` down.
    """
    first, second, both = found >= thresholds.linear
    harm = (found[:2] <= thresholds.reversal).any(axis=0)
    unknown = np.isnan(found[2]) & (np.isnan(found[0]) == np.isnan(found[1]))
    conditions = {EITHER: first & second, A: first, B: second, BOTH: both, HARM: harm}
    otherwise = np.where(unknown, len(PAYS), PAYS.index(NONE_PAYS))
    return np.select([*conditions.values()], [PAYS.index(one) for one in conditions], otherwise)


def shown(pays: np.ndarray, certainty: float) -> tuple[np.ndarray, np.ndarray]:
    """What is shown to pay at each cell, empty where nothing is, and how probable that is; each of shape (cells,).

    Where nothing pays, and it is open whether more is harm, nothing pays.
    """
    share = np.stack([(pays == k).mean(axis=0) for k in range(len(PAYS))])
    idle = share[[PAYS.index(NONE_PAYS), PAYS.index(HARM)]].sum(axis=0)
    is_idle = (share.max(axis=0) < certainty) & (idle >= certainty)
    probability = np.where(is_idle, idle, share.max(axis=0))
    label = np.where(is_idle, NONE_PAYS, np.array(PAYS)[share.argmax(axis=0)])
    return np.where(probability >= certainty, label, ""), probability


def cell_table(
    drawn: np.ndarray, grid: Grid, goal: str, thresholds: Thresholds, certainty: float
) -> pd.DataFrame:
    """The cells of a result, one row each; see `SurfaceResult`."""
    found = elasticities(drawn, grid)
    pays, probability = shown(paying(found, thresholds), certainty)
    levels = [grid.levels[0][grid.first], grid.levels[1][grid.second]]
    table: dict[str, Any] = dict(zip("ab", levels, strict=True)) | {"n": grid.count.astype(int)}
    response = np.exp(drawn * (1 if goal == "min" else -1))
    for name, values in {"fitted": response, "a_elasticity": found[0], "b_elasticity": found[1]}.items():
        ends = (0.5, (1 - certainty) / 2, (1 + certainty) / 2)
        columns = (name, f"{name}_low", f"{name}_high")
        table |= dict(zip(columns, np.quantile(values, ends, axis=0), strict=True))
    number = _regions(pays, next_cells(grid))  # neighbours, however near
    return pd.DataFrame({**table, "pays": pays, "probability": probability, "region": number})


def _regions(pays: np.ndarray, following: np.ndarray) -> np.ndarray:
    """The number of the region that each cell belongs to, from 1 for the largest; 0 where nothing is shown, shape (cells,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    cells = np.tile(np.arange(len(pays)), len(following))
    joined = (following.ravel() >= 0) & (pays[cells] == pays[following.ravel()])
    pairs = (cells[joined], following.ravel()[joined])
    links = coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(pays), len(pays)))
    number = connected_components(links, directed=False)[1]
    counts = np.bincount(number, weights=pays != "")
    rank = np.argsort(np.argsort(-counts, kind="stable"))
    return np.where(pays != "", rank[number] + 1, 0)


def region_table(cells: pd.DataFrame) -> pd.DataFrame:
    """One row a region; see `SurfaceResult`."""
    by = cells[cells["region"] > 0].groupby("region")
    return by.agg(
        pays=("pays", "first"), cells=("pays", "size"), a_start=("a", "min"), a_stop=("a", "max"), b_start=("b", "min"),
        b_stop=("b", "max"), a_elasticity=("a_elasticity", "mean"), b_elasticity=("b_elasticity", "mean"),
        probability=("probability", "mean"),
    ).reset_index()  # fmt: skip


def ridge_table(drawn: np.ndarray, grid: Grid, thresholds: Thresholds, certainty: float) -> pd.DataFrame:
    """For each level of the first knob the least level of the second beyond which it brings nothing; see `SurfaceResult`.

    It brings nothing where no level that is a fifth more is better by an elasticity that pays.
    """
    rows = []
    for i, level in enumerate(grid.levels[0]):
        there = np.flatnonzero(grid.first == i)
        there = there[np.argsort(grid.second[there])]
        if len(there) < 2:
            continue
        stops = np.sort(_stop(drawn[:, there], grid.x[1][grid.second[there]], thresholds.linear))
        at = [stops[int(q * (len(stops) - 1))] for q in (0.5, (1 - certainty) / 2, (1 + certainty) / 2)]
        b, b_low, b_high = grid.levels[1][grid.second[there[at]]]
        rows.append(
            {"a": level, "b": b, "b_low": b_low, "b_high": b_high, "to_the_end": at[0] == len(there) - 1}
        )
    return pd.DataFrame(rows)


def _stop(rows: np.ndarray, x: np.ndarray, least: float) -> np.ndarray:
    """The first position of each row from which on no later one is better by `least` a unit of x; shape (draws,)."""
    ahead = np.subtract.outer(x, x).T
    gain = (rows[:, :, None] - rows[:, None, :]) / np.where(ahead > _reach(x, LEAST_STEP), ahead, np.nan)
    pays = (gain >= least).any(axis=2)
    return np.where(pays.any(axis=1), pays.shape[1] - np.argmax(pays[:, ::-1], axis=1), 0)
