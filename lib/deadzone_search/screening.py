"""The first trials of a search, and what each knob does.

The design is D-optimal over the cells that are allowed, for the main effects and their bends
(Fedorov 1972, Theory of Optimal Experiments): each trial goes where the linear model knows least,
one after the other. pydoe 1.6 builds designs that are as good in a thousand times the time, or
worse ones in a hundred.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from deadzone_search.space import Space
from deadzone_search.surrogate import Surrogate

CELLS = 48
"""Cells over which a main effect is averaged, drawn at random."""

MOST_LEVELS = 6
"""Of a knob with more levels so many are compared, over all of its range."""

ERRORS = 3.0
"""Of an effect, so many standard errors decide whether a knob is live or inert."""


def screening_design(space: Space, n: int, before: Sequence[int], seed: int) -> list[int]:
    """The cells of n trials after those before, each where the linear model knows least."""
    rng = np.random.default_rng(seed)
    main = 2 * space.x - 1
    # numbers with levels between the ends may have their best there
    bent = [i for i, column in enumerate(space.x.T) if len(np.unique(column)) > 2]
    model = np.column_stack([np.ones(len(main)), main, main[:, bent] ** 2])
    # with more effects than trials, and for words, whose columns add up to one, this keeps the
    # inverse
    information = 1e-3 * np.eye(model.shape[1]) + model[[*before]].T @ model[[*before]]
    chosen: list[int] = []
    for _trial in range(n):
        unknown = np.einsum("ij,jk,ik->i", model, np.linalg.inv(information), model)
        unknown[chosen] = -1.0
        cell = int(rng.choice(np.flatnonzero(unknown >= unknown.max() - 1e-9)))
        chosen.append(cell)
        information += np.outer(model[cell], model[cell])
    return chosen


def effects(
    space: Space, surrogate: Surrogate, best: int, tolerance: float, z: float, seed: int
) -> pd.DataFrame:
    """What each knob does, the largest effect first.

    Columns: knob; from, to (its worst and its best level in the mean); effect, low, high (how many
    times better, in the mean of cells); verdict (live, inert, undecided).

    best: a cell at which an effect counts too. tolerance: a share that does not matter. z: standard
    errors of the interval. A knob is live where its effect is at least the tolerance and three
    standard errors; inert where it is below the tolerance by as many, in the mean and at the best
    cell.
    """
    rng = np.random.default_rng(seed)
    about = space.x[rng.choice(len(space.x), min(CELLS, len(space.x)), replace=False)]
    least, rows = np.log1p(tolerance), []
    for knob in space.knobs:
        columns = [i for i, of in enumerate(space.of) if of == knob]
        levels = space.levels(knob)
        firsts = [int(np.argmax(space.cells[knob].eq(level))) for level in levels]
        kept = np.unique(np.linspace(0, len(levels) - 1, min(len(levels), MOST_LEVELS)).astype(int))
        shown = [space.x[firsts[i]][columns] for i in kept]
        mean, mean_error = _apart(surrogate, about, columns, shown)
        here, here_error = _apart(surrogate, space.x[[best]], columns, shown)
        low_at, high_at = np.unravel_index(np.argmax(mean), mean.shape)
        effect, error = mean[low_at, high_at], mean_error[low_at, high_at]
        reach = max(
            float((mean + ERRORS * mean_error).max()), float((here + ERRORS * here_error).max())
        )
        is_live = effect >= max(least, ERRORS * error)
        verdict = "live" if is_live else "inert" if reach < least else "undecided"
        rows.append(
            {
                "knob": knob, "from": levels[kept[low_at]], "to": levels[kept[high_at]],
                "effect": np.exp(effect), "low": np.exp(effect - z * error),
                "high": np.exp(effect + z * error), "verdict": verdict,
            }
        )  # fmt: skip
    return pd.DataFrame(rows).sort_values("effect", ascending=False, ignore_index=True)


def _apart(
    surrogate: Surrogate, about: np.ndarray, columns: list[int], levels: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """How much better each level is than each other in the mean of cells, and its standard error,
    shape (levels, levels) [ln]."""
    x = np.repeat(about[None], len(levels), axis=0)
    for i, level in enumerate(levels):
        x[i][:, columns] = level
    mean, covariance = surrogate.joint(x.reshape(-1, x.shape[-1]))
    n = len(about)
    mean = mean.reshape(-1, n).mean(axis=1)
    covariance = covariance.reshape(len(levels), n, len(levels), n).mean(axis=(1, 3))
    variance = np.diag(covariance)
    apart = variance[:, None] + variance[None] - 2 * covariance
    return mean[:, None] - mean[None], np.sqrt(np.maximum(apart, 0.0))
