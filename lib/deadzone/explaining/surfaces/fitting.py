"""`fit_surface`: which of two knobs pays where.

Families of surfaces are weighed by their evidence and averaged, under every assumption on the noise that the trials leave open;
what is said of a cell is what surfaces drawn from all of them say. The draws are always the same for the same table.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.thresholds import CERTAINTY, Thresholds
from deadzone.explaining.settings.answering import FEWEST_TO_JUDGE, SPOILED_SPREAD
from deadzone.explaining.surfaces import reading
from deadzone.explaining.surfaces.families import (
    FAMILIES,
    FREE,
    INTERACTIONS,
    MINIMUM,
    REACHES,
    Fitted,
    Surface,
    additive,
    fit,
    minimum,
    with_interaction,
)
from deadzone.explaining.surfaces.grid import Grid, grid_of
from deadzone.explaining.surfaces.result import SurfaceResult
from deadzone.explaining.surfaces.staircases import log_number, staircases
from deadzone.study.scales import KnobScale

DRAWS = 400
"""Surfaces drawn: a probability of 0.9 is then known to 0.015."""

SEED = 0
"""Of the draws, so that the same table gives the same surface."""

SURPRISE = 4.0
"""A cell of one or two trials that lies so many standard deviations from what all others say of it is spoiled: of a thousand sound ones
0.06 would be."""

ROUNDED = 2
"""So many staircases, the likeliest, are weighed with an interaction too, which takes its time."""

PASSES = 4
"""So often the noise is estimated anew without the cells that are spoiled; a single one hides others."""


def fit_surface(
    frame: pd.DataFrame,
    knobs: tuple[str, str],
    response: str,
    goal: str = "min",
    *,
    scales: Sequence[KnobScale | None] = (None, None),
    thresholds: Thresholds | None = None,
    certainty: float = CERTAINTY,
) -> SurfaceResult:
    """Find which of two knobs pays at each cell of a grid, and the ridge along which to raise them together.

    frame: one row a trial, as for `fit_phases`. knobs: columns of the first and of the second knob, levels with an order; the
    grid need not be full. response: column of a positive quantity in one unit. goal: "min" (a time) or "max" (a throughput).
    scales: of the knobs, by default what their levels suggest. thresholds: from which elasticity on a knob pays, and harms.
    certainty: what is said of a cell is at least so probable, and of all intervals.

    Raises PhaseError, with what to do about it, where the table has no surface: see `deadzone.explaining.surfaces.grid`.
    """
    if not 0.5 <= certainty < 1:
        raise PhaseError(f"certainty is {certainty!r}; it is a coverage such as 0.90, from 0.5 to below 1.")
    grid = grid_of(frame, knobs, response, goal, scales)
    asked = thresholds or Thresholds()
    fits, noises = _weighed(grid)
    evidence = np.array([one.log_evidence for one in fits])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    drawn = _drawn(fits, weight)
    cells = reading.cell_table(drawn, grid, goal, asked, certainty)
    families = [float(weight[[one.surface.family == name for one in fits]].sum()) for name in FAMILIES]
    trial_noise, misfit = weight @ noises
    return SurfaceResult(
        knobs=knobs,
        response=response,
        goal=goal,
        names=grid.names,
        levels=(tuple(map(float, grid.levels[0])), tuple(map(float, grid.levels[1]))),
        families=pd.DataFrame({"family": FAMILIES, "probability": families}),
        cells=cells,
        regions=reading.region_table(cells),
        ridge=reading.ridge_table(drawn, grid, asked, certainty),
        noise=float(trial_noise),
        misfit=float(misfit),
        warnings=grid.warnings,
        certainty=certainty,
    )


def _weighed(grid: Grid) -> tuple[list[Fitted], np.ndarray]:
    """Every surface under every assumption on the noise; and these, shape (fits, 2): noise of a trial, misfit of a cell."""
    few = grid.count < FEWEST_TO_JUDGE
    inflated = np.ones(len(grid.value))
    for _ in range(PASSES):
        fits, noises = _fits(grid, inflated)
        best = max(fits, key=lambda one: one.log_evidence)
        spoiled = few & (np.abs(best.surprise(grid)) > SURPRISE) & (inflated == 1)
        if not spoiled.any():
            break
        inflated[spoiled] = SPOILED_SPREAD**2
    return fits, noises


def _fits(grid: Grid, inflated: np.ndarray) -> tuple[list[Fitted], np.ndarray]:
    assumed = [
        (grid.variance(size, misfit) * inflated, log_prior) for size, misfit, log_prior in grid.assumptions()
    ]
    stairs = staircases(grid, [variance for variance, _ in assumed], np.random.default_rng(SEED))
    fits = [one for reach in REACHES for one in _fits_within(grid, reach, stairs, assumed)]
    noises = [one[:2] for one in grid.assumptions()] * (len(fits) // len(assumed))
    return fits, np.array(noises)


def _fits_within(
    grid: Grid, reach: float, stairs: np.ndarray, assumed: list[tuple[np.ndarray, float]]
) -> Iterator[Fitted]:
    """All surfaces of a reach: the sharp ones first, then with an interaction what it can be added to."""
    each = -log_number(grid.shape) - np.log(1 + len(INTERACTIONS[MINIMUM]))
    plain = additive(grid, reach)
    best: dict[float, Surface] = {}
    for surface in (plain, *(minimum(grid, reach, one, each) for one in stairs)):
        fits = [fit(surface, grid, *assumption) for assumption in assumed]
        yield from fits
        if surface is not plain:  # staircases that part the cells alike are one
            best[round(max(one.log_evidence for one in fits), 6)] = surface
    soft = [(best[score], MINIMUM) for score in sorted(best)[-ROUNDED:]]
    for base, family in ((plain, FREE), *soft):
        for surface in with_interaction(base, grid, reach, family):
            yield from (fit(surface, grid, *assumption) for assumption in assumed)


def _drawn(fits: list[Fitted], weight: np.ndarray) -> np.ndarray:
    """Surfaces from the posterior of all fits together, shape (DRAWS, cells)."""
    rng = np.random.default_rng(SEED)
    ends = np.round(np.cumsum(weight) * DRAWS).astype(int)
    counts = np.diff(ends, prepend=0)
    return np.concatenate([one.draws(rng, int(n)) for one, n in zip(fits, counts, strict=True) if n])
