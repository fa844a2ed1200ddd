"""What a study measured, as its claims are judged by it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.capacity.cells import column_values
from deadzone.explaining.claims.cells import Cells, cells_of, rows_at
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import plain_name
from deadzone.language.catalogue import say
from deadzone.study.claims import ClaimSpec, factor_of
from deadzone.study.levels import Level

LEAST_NOISE_DF = 4.0
"""Degrees of freedom of a noise that was read off the curve, where no treatment was repeated: it is known poorly."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a study measured, as its claims are judged by it.

    trials: the sound ones, every factor a column. response, goal: of the study. knob: the factor that plain numbers speak
    of. factors: levels of each. model_of: the phase model of the curve at some levels of the other factors, None where
    none can be fitted. mechanisms: what explains the change between two levels of the knob, by name, as trials at the
    given levels tell (`mechanisms_between`); None where nobody asks.
    """

    trials: pd.DataFrame
    response: str
    goal: str
    knob: str
    factors: Mapping[str, Sequence[Level]]
    model_of: Callable[[Mapping[str, Level]], PhaseModel | None]
    mechanisms: Callable[[pd.DataFrame, tuple[float, float]], pd.DataFrame] | None = None

    def cells(self, column: str, values: np.ndarray | None = None, *, linear: bool = False) -> Cells | None:
        """The cells of a column, or of values made from columns; None where it was not measured. linear: take no logarithms."""
        if values is None:
            try:
                values = column_values(self.trials, column)
            except PhaseError:
                return None
        known = np.isfinite(values)
        if not known.any():
            return None
        return cells_of(self.trials[known], values[known], list(self.factors), self._noise(), linear=linear)

    def _noise(self) -> tuple[float, float] | None:
        """Scatter read off the curve, where no treatment was repeated."""
        repeated = self.trials.groupby(list(self.factors), observed=True).size().max() > 1
        model = None if repeated else self.model_of({})
        if model is None:
            return None
        return math.hypot(model.noise.replicate, model.noise.misfit), LEAST_NOISE_DF

    def trials_of(self, claim: ClaimSpec) -> tuple[int, ...]:
        """The numbers of the trials that a verdict on a claim rests on; none where the table has no numbers.

        They are those of the settings it names; of a claim about a curve, or about all rivals, those of all its settings.
        """
        if "trial" not in self.trials:
            return ()
        chosen = rows_at(self.trials, claim.given)
        if claim.form in ("better", "same", "scaling", "holds", "not_worse", "why"):
            chosen &= np.any([rows_at(self.trials, one) for one in self._settings_of(claim)], axis=0)
        return tuple(sorted(int(n) for n in self.trials["trial"][chosen]))

    def _settings_of(self, claim: ClaimSpec) -> list[Mapping[str, Level]]:
        if claim.not_worse:
            return [{str(factor_of(claim, self.factors)): end} for end in claim.compared]
        if claim.better or claim.same:
            return list(claim.compared)
        return [claim.at or {}] if claim.holds else [self.at(level) for level in claim.knob_levels()]

    def at(self, level: Level) -> dict[str, Level]:
        """A level of the knob by its factor."""
        return {self.knob: level}

    def sign(self, goal: str | None = None) -> int:
        """What a difference of ln(response) is multiplied by, so that positive is better."""
        return -1 if (goal or self.goal) == "min" else 1


class NotMeasured(Exception):
    """What a claim speaks of was not measured; its one argument says what, in words."""


def missing(column: str, cells: Cells | None) -> NotMeasured:
    """What to say where a column, or its scatter, was not measured."""
    name = plain_name(column)
    return NotMeasured(name if cells is None or cells.means else say("claim.once", column=name))
