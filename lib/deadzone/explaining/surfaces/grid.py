"""From a table of trials to the cells of a grid of two knobs, or a sentence that says why there is no surface.

Trials of a cell are weighed as those of any setting (`deadzone.explaining.settings.answering`): spoiled ones count for little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases import noise
from deadzone.explaining.phases.axis import KnobAxis
from deadzone.explaining.phases.inference import SINGLE_NOISE, misfit_prior
from deadzone.explaining.phases.prepare import (
    knob_scale,
    measured_trials,
    on_axis,
    refuse_not_positive,
    without_nodes,
)
from deadzone.explaining.response_scale import RATIO_SCALE
from deadzone.explaining.settings.answering import estimate_cells
from deadzone.explaining.surfaces.families import Cells
from deadzone.language.catalogue import Message
from deadzone.study.levels import NONE
from deadzone.study.scales import INTERVAL, KnobScale, level_name

MOST_PLACES = 900
"""Levels of one knob times those of the other: a surface of 30 by 30 takes some ten seconds, and hardly anybody sweeps more."""

LEAST_DF = 10
"""With fewer degrees of freedom, trials less cells, replicates do not tell the noise to better than a quarter: it is left open then."""

FEWEST_LEVELS = 2
"""Of either knob: one step is enough to say whether it pays there."""


@dataclass(frozen=True, eq=False)
class Grid(Cells):
    """The cells of a table of trials, with their noise.

    levels: of either knob, on its scale. names: how they are written. count: shape (cells,), trials of each. trial_noise:
    standard deviation between trials of a cell; nan where too few have several. sampling: shape (cells,), variance of each cell's value
    because of it. warnings: what was left out.
    """

    levels: tuple[np.ndarray, np.ndarray]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    count: np.ndarray
    trial_noise: float
    sampling: np.ndarray
    warnings: tuple[Message, ...]

    def assumptions(self) -> list[tuple[float, float, float]]:
        """Noise of a trial, misfit of a cell, and ln of how likely both are before the surface is known, as for a curve
        (`deadzone.explaining.phases.inference`)."""
        if np.isnan(self.trial_noise):
            off = np.log(SINGLE_NOISE / noise.TYPICAL_NOISE) / noise.NOISE_SPREAD
            return [
                (float(size), 0.0, -0.5 * float(z) ** 2) for size, z in zip(SINGLE_NOISE, off, strict=True)
            ]
        ratios = misfit_prior(self._roughness() / self.trial_noise)
        return [(self.trial_noise, q * self.trial_noise, float(np.log(p))) for q, p in ratios.items()]

    def variance(self, trial_noise: float, misfit: float) -> np.ndarray:
        """Variance of the cells around the surface under an assumption, shape (cells,)."""
        sampling = trial_noise**2 / self.count if np.isnan(self.trial_noise) else self.sampling
        return sampling + misfit**2

    def _roughness(self) -> float:
        """How far cells lie from the line between their neighbours over either knob; how much they vary where none has two."""
        off = []
        for along, across in ((0, 1), (1, 0)):
            at, other = (self.first, self.second)[along], (self.first, self.second)[across]
            lines = [other == k for k in range(self.shape[across])]
            off += [noise.roughness(self.x[along][at[k]], self.value[k]) for k in lines if k.sum() > 2]
        return float(np.median(off)) if off else self.size


def grid_of(
    frame: pd.DataFrame, knobs: tuple[str, str], response: str, goal: str, scales: Sequence[KnobScale | None]
) -> Grid:
    """The grid of a table of trials. scales: of the knobs, by default those that their levels suggest.

    Raises PhaseError for what is no such table, and where no surface can be told from it.
    """
    if len(set(knobs)) < 2:
        raise PhaseError(f"A surface has two knobs; both are {knobs[0]!r}.")
    table, said = measured_trials(frame, knobs, response, goal)
    refuse_not_positive(table[response])
    chosen = [scale or knob_scale(table[knob]) for knob, scale in zip(knobs, scales, strict=True)]
    for knob, scale in zip(knobs, chosen, strict=True):
        table, _, more = on_axis(table, knob, scale)
        said += more
    places = [table[knob].map(level_name).map(one.positions) for knob, one in zip(knobs, chosen, strict=True)]
    levels, at = zip(*(np.unique(one.to_numpy(float), return_inverse=True) for one in places), strict=True)
    place, cell = np.unique(at[0] * len(levels[1]) + at[1], return_inverse=True)
    _refuse_no_grid(knobs, [len(one) for one in levels], len(place))
    value = np.log(table[response].to_numpy(float)) * (1 if goal == "min" else -1)
    value, more = without_nodes(table, cell, value)
    order = np.lexsort((value, cell))  # the order of the rows changes no sum
    estimates, _ = estimate_cells(cell[order], value[order], len(place), RATIO_SCALE)
    count = np.bincount(cell).astype(float)
    knows = len(cell) - len(place) >= LEAST_DF
    return Grid(
        x=(_on_axis(chosen[0], levels[0]), _on_axis(chosen[1], levels[1])),
        first=place // len(levels[1]),
        second=place % len(levels[1]),
        value=estimates.log_response,
        levels=(levels[0], levels[1]),
        names=(_written(chosen[0], levels[0]), _written(chosen[1], levels[1])),
        count=count,
        trial_noise=float(np.sqrt(np.mean(estimates.noise**2))) if knows else np.nan,
        sampling=np.diag(estimates.covariance),
        warnings=(*said, *more),
    )


def _refuse_no_grid(knobs: tuple[str, str], levels: list[int], cells: int) -> None:
    for knob, n in zip(knobs, levels, strict=True):
        if n < FEWEST_LEVELS:
            raise PhaseError(
                f"{knob!r} has a single level among the trials that can be analysed; a surface needs {FEWEST_LEVELS} of each "
                "knob. Fit the other one as a curve."
            )
    if cells < sum(levels):
        raise PhaseError(
            f"{cells} cells of {knobs[0]!r} by {knobs[1]!r} were measured, with {levels[0]} and {levels[1]} levels; what belongs "
            f"to which knob can be told from {sum(levels)} cells on. Measure more combinations."
        )
    if levels[0] * levels[1] > MOST_PLACES:
        raise PhaseError(
            f"{knobs[0]!r} has {levels[0]} levels and {knobs[1]!r} {levels[1]}: more than the {MOST_PLACES} places "
            "that a surface is fitted to. Leave levels out."
        )


def _on_axis(scale: KnobScale, levels: np.ndarray) -> np.ndarray:
    """The levels on the axis over which curves are straight."""
    kind: Literal["ratio", "interval"] = "interval" if scale.kind == INTERVAL else "ratio"
    return KnobAxis(kind, float(levels[0]), float(np.ptp(levels)), scale.unit).forward(levels)


def _written(scale: KnobScale, levels: np.ndarray) -> tuple[str, ...]:
    written = {
        place: NONE if name == scale.beyond else name
        for name, place in reversed(list(scale.positions.items()))
    }
    return tuple(written[place] for place in levels)
