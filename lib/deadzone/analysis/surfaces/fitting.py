"""`fit_surface`: which of two knobs pays where.

Families of surfaces are weighed by their evidence and averaged, under every assumption on the noise
that the trials leave open; what is said of a cell is what surfaces drawn from all of them say. The
draws are the same each time, so that a table has one surface.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.prepare import knob_scale
from deadzone.analysis.phases.roles import with_index
from deadzone.analysis.settings.cell_estimates import FEWEST_TO_JUDGE, SPOILED_SPREAD
from deadzone.analysis.surfaces import reading
from deadzone.analysis.surfaces.families import (
    ADDITIVE,
    FAMILIES,
    INTERACTIONS,
    MINIMUM,
    REACHES,
    Fitted,
    Prior,
    fit,
)
from deadzone.analysis.surfaces.grid import Grid, grid_of
from deadzone.analysis.surfaces.result import OTHER_COLUMNS, of_knobs
from deadzone.analysis.surfaces.staircases import log_number, staircases
from deadzone.analysis.surfaces.surface import Surface
from deadzone.errors import PhaseError
from deadzone.study.scales import KnobScale

DRAWS = 400
"""Surfaces drawn: a probability of 0.9 is then known to 0.015."""

SEED = 0
"""Of the draws."""

SURPRISE = 4.0
"""A cell of one or two trials that lies so many standard deviations from what all others say of it
is spoiled: of a thousand sound ones 0.06 would be."""

ROUNDED = 2
"""So many staircases, the likeliest, are weighed with an interaction too, which takes its time."""

PASSES = 4
"""So often the noise is estimated anew without the cells that are spoiled; a single one hides
others."""


def fit_surface(
    frame: pd.DataFrame,
    knobs: tuple[str, str],
    response: str,
    goal: str = "min",
    scales: Sequence[KnobScale | None] = (None, None),
) -> Surface:
    """Find which of two knobs pays at each cell of a grid, and the ridge along which to raise them
    together.

    frame: one row a trial, as for `fit_phases`. knobs: columns of the first and of the second knob,
    levels with an order; the grid need not be full. response: column of a positive quantity in one
    unit. goal: "min" (a time) or "max" (a throughput). scales: of the knobs, by default what their
    levels suggest. What pays, and what is harm, is what it is for a phase.

    Raises PhaseError, with what to do about it, where the table has no surface.
    """
    if taken := [name for name in knobs if name in OTHER_COLUMNS]:
        raise PhaseError(f"A knob is called {taken[0]!r}, as a column of the result is; rename it.")
    grid = grid_of(with_index(frame, knobs), knobs, response, goal, scales)
    fits = _weighed(grid)
    evidence = np.array([fit.log_evidence for fit in fits])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    families = {
        name: float(weight[[surface_fit.surface.family == name for surface_fit in fits]].sum())
        for name in FAMILIES
    }
    drawn = _drawn(fits, weight)
    cells = reading.cell_table(drawn, grid, goal)
    regions, ridge = reading.region_table(cells), reading.ridge_table(drawn, grid)
    tables = (of_knobs(table, knobs) for table in (cells, regions, ridge))
    return Surface(knobs, response, goal, grid, families, *tables)


def surface_of(
    frame: pd.DataFrame,
    factors: Sequence[str],
    response: str,
    goal: str,
    written: Mapping[str, tuple[Any, ...]] | None = None,
) -> Surface | None:
    """The surface of a table whose factors are two knobs; None for other factors, and where none
    can be told.

    written: the scale of a factor, where single levels of it lie, and what a K stands for.
    """
    if len(factors) != 2:
        return None
    try:
        scales = [knob_scale(frame[name], *(written or {}).get(name, ())) for name in factors]
        return fit_surface(frame, (factors[0], factors[1]), response, goal, scales)
    except PhaseError:
        return None


def _weighed(grid: Grid) -> list[Fitted]:
    """Every surface under every assumption on the noise."""
    inflated = np.ones(len(grid.value))
    for _ in range(PASSES):
        variances = [(variance * inflated, log_prior) for variance, log_prior in grid.variances()]
        fits = list(_fits(grid, variances))
        best = max(fits, key=lambda surface_fit: surface_fit.log_evidence)
        spoiled = (
            (grid.count < FEWEST_TO_JUDGE)
            & (np.abs(best.posterior()[2]) > SURPRISE)
            & (inflated == 1)
        )
        if not spoiled.any():
            break
        inflated[spoiled] = SPOILED_SPREAD**2
    return fits


def _fits(grid: Grid, variances: list[tuple[np.ndarray, float]]) -> Iterator[Fitted]:
    """All sharp surfaces, and with an interaction those that may have one."""
    stairs = staircases(grid, [variance for variance, _ in variances], np.random.default_rng(SEED))
    each = {name: -float(np.log(len(shares))) for name, shares in INTERACTIONS.items()}
    path = each[MINIMUM] - log_number(grid.shape)
    for prior in (Prior(grid, reach) for reach in REACHES):
        plain = prior.sharp(log_prior=each[ADDITIVE])
        best = {}  # by evidence, since staircases that part the cells alike are one
        for surface in (plain, *(prior.sharp(stair, path) for stair in stairs)):
            fits = [fit(surface, grid.value, *pair) for pair in variances]
            best[round(max(surface_fit.log_evidence for surface_fit in fits), 6)] = surface
            yield from fits
        likely = [best[evidence] for evidence in sorted(best) if best[evidence].family == MINIMUM][
            -ROUNDED:
        ]
        for surface in (soft for form in (plain, *likely) for soft in prior.with_interaction(form)):
            yield from (fit(surface, grid.value, *pair) for pair in variances)


def _drawn(fits: list[Fitted], weight: np.ndarray) -> np.ndarray:
    """Surfaces from the posterior of all fits together, shape (DRAWS, cells)."""
    rng = np.random.default_rng(SEED)
    counts = np.diff(np.round(np.cumsum(weight) * DRAWS).astype(int), prepend=0)
    drawn = []
    for mean, root, n in (
        (*surface_fit.posterior()[:2], n) for surface_fit, n in zip(fits, counts, strict=True) if n
    ):
        drawn.append(mean + rng.standard_normal((n, root.shape[1])) @ root.T)
    return np.concatenate(drawn)
