"""From a table of trials to the cells of a grid of two knobs, or a sentence that says why there is
no surface.

Trials of a cell are weighed as those of any setting (`deadzone.analysis.settings.answering`):
spoiled ones count for little.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.phases import noise, prepare
from deadzone.analysis.phases.inference import SINGLE_NOISE, misfit_prior
from deadzone.analysis.phases.notes import without_nodes
from deadzone.analysis.response_scale import RATIO_SCALE
from deadzone.analysis.settings.cell_estimates import estimate_cells
from deadzone.errors import PhaseError
from deadzone.language.messages import Message
from deadzone.study.scales import KnobScale, level_name

MOST_CELLS = 400
"""A surface of 30 by 30 takes half a minute, and hardly anybody sweeps more."""

LEAST_DF = 10
"""With fewer degrees of freedom, trials less cells, replicates do not tell the noise to better than
a quarter: it is left open then."""

LEAST_SIZE = 1e-6
"""A surface that never changes is taken to vary by this much, which keeps every division
defined."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The measured cells of a grid of two knobs.

    levels: of either knob, on its scale, increasing. names: how they are written. x: their places
    on the knob's axis. at: the level of either knob by its position, each of shape (cells,). value:
    shape (cells,), ln(response), smaller is better. count: shape (cells,), trials. noise: standard
    deviation between trials of a cell; nan where too few have several. sampling: shape (cells,),
    variance of each value because of it. warnings: what was left out.
    """

    levels: tuple[np.ndarray, ...]
    names: tuple[tuple[str, ...], ...]
    x: tuple[np.ndarray, ...]
    at: tuple[np.ndarray, np.ndarray]
    value: np.ndarray
    count: np.ndarray
    noise: float
    sampling: np.ndarray
    warnings: tuple[Message, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """How many levels either knob has."""
        return len(self.x[0]), len(self.x[1])

    @property
    def size(self) -> float:
        """How much the cells vary, a standard deviation: what is believed of a surface before any
        data is on its scale."""
        return max(float(np.std(self.value)), LEAST_SIZE)

    def spread(self, values: np.ndarray, elsewhere: float = 0.0) -> np.ndarray:
        """Values of the cells as a grid, shape (levels, levels). elsewhere: where nothing was
        measured."""
        grid = np.full(self.shape, elsewhere)
        grid[self.at] = values
        return grid

    def variances(self) -> list[tuple[np.ndarray, float]]:
        """Each variance that the cells may have around the surface, shape (cells,), with ln of how
        likely it is before any data.

        As for a curve (`deadzone.analysis.phases.inference`): without replicates the noise is left
        open, with them what the cells deviate by beyond it, up to the size of the surface.
        """
        if np.isnan(self.noise):
            off = np.log(SINGLE_NOISE / noise.TYPICAL_NOISE) / noise.NOISE_SPREAD
            return [
                (s**2 / self.count, -0.5 * z**2) for s, z in zip(SINGLE_NOISE, off, strict=True)
            ]
        ratios = misfit_prior(self.size / self.noise)
        return [
            (self.sampling + (q * self.noise) ** 2, float(np.log(p))) for q, p in ratios.items()
        ]


def grid_of(
    frame: pd.DataFrame,
    knobs: tuple[str, str],
    response: str,
    goal: str,
    scales: Sequence[KnobScale | None],
) -> Grid:
    """The grid of a table of trials. scales: of the knobs, by default those that their levels
    suggest.

    Raises PhaseError for what is no such table, and where no surface can be told from it.
    """
    table, notes = prepare.measured_trials(frame, knobs, response, goal)
    prepare.refuse_not_positive(table[response])
    chosen = [
        scale or prepare.knob_scale(table[knob]) for knob, scale in zip(knobs, scales, strict=True)
    ]
    for knob, scale in zip(knobs, chosen, strict=True):
        table, _, apart = prepare.on_axis(table, knob, scale)
        notes += apart
    places = [
        table[knob].map(level_name).map(scale.positions)
        for knob, scale in zip(knobs, chosen, strict=True)
    ]
    levels, at = zip(
        *(np.unique(place.to_numpy(float), return_inverse=True) for place in places), strict=True
    )
    place, cell = np.unique(at[0] * len(levels[1]) + at[1], return_inverse=True)
    _refuse_no_grid(knobs, [len(level) for level in levels], len(place))
    value = np.log(table[response].to_numpy(float)) * (1 if goal == "min" else -1)
    value, nodes = without_nodes(table, cell, value)
    order = np.lexsort((value, cell))  # the order of the rows changes no sum
    estimates, _ = estimate_cells(cell[order], value[order], len(place), RATIO_SCALE)
    axes, names, _ = zip(*map(prepare.written_on, chosen, levels), strict=True)
    return Grid(
        levels,
        names,
        tuple(axis.forward(level) for axis, level in zip(axes, levels, strict=True)),
        np.divmod(place, len(levels[1])),
        estimates.log_response,
        np.bincount(cell),
        float(np.sqrt(np.mean(estimates.noise**2)))
        if len(cell) - len(place) >= LEAST_DF
        else np.nan,
        np.diag(estimates.covariance),
        (*notes, *nodes),
    )


def _refuse_no_grid(knobs: tuple[str, str], levels: list[int], cells: int) -> None:
    if not max(4, sum(levels)) <= cells <= MOST_CELLS:
        raise PhaseError(
            f"{cells} cells of {knobs[0]!r} by {knobs[1]!r} were measured, with {levels[0]} and "
            f"{levels[1]} levels. What belongs to which knob can be told where cells are as many "
            f"as the levels of both together, with two of each, and {MOST_CELLS} at most."
        )
