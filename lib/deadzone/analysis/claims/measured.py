"""What a study measured, as its claims are judged by it: the trials, and each of their columns,
treatment by treatment.

Means are of ln(response) where every value is positive, so that a difference is a ratio, and of the
values themselves elsewhere (shares of errors, which may be none).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.cells import column_values
from deadzone.analysis.objectives.estimates import Estimate, cell_means
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import plain_name
from deadzone.errors import PhaseError
from deadzone.language.messages import _
from deadzone.store.table import is_at
from deadzone.study.claims import ClaimSpec, factor_of
from deadzone.study.levels import Level

FEWEST_BLOCKS = 5
"""From so many pairs on their scatter is known well enough to test blocks against one another."""


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """One column of the trials. trials: the sound ones that have it. values: of the column, shape
    (trials,), logarithms where is_log. treatment: of each trial, its position in means, shape
    (trials,). means: of every treatment; None where nothing tells how trials scatter. factors:
    whose levels make a treatment.
    """

    trials: pd.DataFrame
    values: np.ndarray
    is_log: bool
    treatment: np.ndarray
    means: Sequence[Estimate] | None
    factors: Sequence[str]

    def at(self, levels: Mapping[str, Level]) -> Estimate | None:
        """The mean at a setting; None without a trial there, or where nothing tells how trials
        scatter.

        A setting that leaves a factor open is the mean over its treatments.
        """
        there = np.unique(self.treatment[is_at(self.trials, levels)])
        if self.means is None or not len(there):
            return None
        return _mean([self.means[i] for i in there])

    def change(
        self,
        factor: str,
        ends: tuple[Level, Level],
        given: Mapping[str, Level] = MappingProxyType({}),
    ) -> Estimate | None:
        """The change of the mean from one level of a factor to another, over the treatments that
        were made at both.

        Where these levels are all there are, within blocks if FEWEST_BLOCKS have both, so that what
        drifts over the blocks is left out; else as the means differ, whose scatter the other
        treatments tell too. None where no treatment was made at both, or nothing tells how trials
        scatter.
        """
        side = np.full(len(self.trials), -1)
        for i, end in enumerate(ends):
            side[is_at(self.trials, {**given, factor: end})] = i
        others = [self.trials[name].astype(str) for name in self.factors if name != factor]
        place = self.trials.groupby([*others, np.zeros(len(side))], sort=False).ngroup().to_numpy()
        columns = {"value": self.values, "treatment": self.treatment, "place": place, "side": side}
        table = pd.DataFrame(columns)
        if "block" in self.trials and (side >= 0).all():
            names = [name for name in ("run_id", "block") if name in self.trials]
            table["block"] = self.trials.groupby(names).ngroup().to_numpy()
            pairs = (
                table.pivot_table("value", ["place", "block"], "side")
                .reindex(columns=[0, 1])
                .dropna()
            )
            if len(pairs) >= FEWEST_BLOCKS:
                changes = (pairs[1] - pairs[0]).groupby("place")
                return _mean(cell_means([change.to_numpy() for _, change in changes]) or [])
        both = (
            table[side >= 0]
            .pivot_table("treatment", "place", "side")
            .reindex(columns=[0, 1])
            .dropna()
        )
        if self.means is None:
            return None
        return _mean(
            [self.means[int(after)] - self.means[int(before)] for before, after in both.to_numpy()]
        )


def _mean(estimates: Sequence[Estimate]) -> Estimate | None:
    """The mean of independent estimates; None of none."""
    if not estimates:
        return None
    total = estimates[0]
    for other in estimates[1:]:
        total = total - other * -1
    return total * (1 / len(estimates))


def cells_of(
    trials: pd.DataFrame,
    values: np.ndarray,
    factors: Sequence[str],
    noise: tuple[float, float] | None = None,
    *,
    linear: bool = False,
) -> ColumnCells:
    """The cells of a column. values: shape (trials,), finite.

    noise: scatter of a trial on the scale of logarithms and its degrees of freedom, used where no
    treatment was repeated. linear: take no logarithms, whatever the values.
    """
    is_log = not linear and bool((values > 0).all())
    scaled = np.log(values) if is_log else values
    treatment = (
        trials.groupby([trials[name].astype(str) for name in factors], sort=False)
        .ngroup()
        .to_numpy()
    )
    groups = [scaled[treatment == i] for i in range(treatment.max() + 1)]
    means = cell_means(groups, noise if is_log else None)
    return ColumnCells(trials, scaled, is_log, treatment, means, factors)


LEAST_NOISE_DF = 4.0
"""Degrees of freedom of a noise that was read off the curve, where no treatment was repeated: it is
known poorly."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a study measured, as its claims are judged by it.

    trials: the sound ones, every factor a column. response, goal: of the study. knob: the factor
    that plain numbers speak of. factors: levels of each. model_of: the phase model of the curve at
    some levels of the other factors, None where none can be fitted. mechanisms: what explains the
    change between two levels of the knob, by name, as trials at the given levels tell
    (`mechanisms_between`); None where no claim asks.
    """

    trials: pd.DataFrame
    response: str
    goal: str
    knob: str
    factors: Mapping[str, Sequence[Level]]
    model_of: Callable[[Mapping[str, Level]], PhaseModel | None]
    mechanisms: Callable[[pd.DataFrame, tuple[float, float]], pd.DataFrame] | None = None

    def cells(
        self, column: str, values: np.ndarray | None = None, *, linear: bool = False
    ) -> ColumnCells | None:
        """The cells of a column, or of values made from columns; None where it was not measured.
        linear: take no logarithms."""
        if values is None:
            try:
                values = column_values(self.trials, column)
            except PhaseError:
                return None
        known = np.isfinite(values)
        if not known.any():
            return None
        return cells_of(
            self.trials[known], values[known], list(self.factors), self._noise(), linear=linear
        )

    def _noise(self) -> tuple[float, float] | None:
        """Scatter read off the curve, where no treatment was repeated."""
        repeated = self.trials.groupby(list(self.factors), observed=True).size().max() > 1
        model = None if repeated else self.model_of({})
        if model is None:
            return None
        return math.hypot(model.noise.replicate, model.noise.misfit), LEAST_NOISE_DF

    def trials_of(self, claim: ClaimSpec) -> tuple[int, ...]:
        """The numbers of the trials that a verdict on a claim rests on; none where the table has no
        numbers.

        They are those of the settings it names; of a claim about a curve, or about all rivals,
        those of all its settings.
        """
        if "trial" not in self.trials:
            return ()
        chosen = is_at(self.trials, claim.given)
        if claim.form in ("better", "same", "scaling", "holds", "not_worse", "why"):
            chosen &= np.any(
                [is_at(self.trials, setting) for setting in self._settings_of(claim)], axis=0
            )
        return tuple(sorted(int(n) for n in self.trials["trial"][chosen]))

    def _settings_of(self, claim: ClaimSpec) -> list[Mapping[str, Level]]:
        if claim.not_worse:
            return [{str(factor_of(claim, self.factors)): end} for end in claim.compared]
        if claim.better or claim.same:
            return list(claim.compared)
        return (
            [claim.at or {}] if claim.holds else [self.at(level) for level in claim.knob_levels()]
        )

    def at(self, level: Level) -> dict[str, Level]:
        """A level of the knob by its factor."""
        return {self.knob: level}

    def sign(self, goal: str | None = None) -> int:
        """What a difference of ln(response) is multiplied by, so that positive is better."""
        return -1 if (goal or self.goal) == "min" else 1


class NotMeasured(Exception):
    """What a claim speaks of was not measured; its one argument says what, in words."""


def missing(column: str, cells: ColumnCells | None) -> NotMeasured:
    """What to say where a column, or its scatter, was not measured."""
    name = plain_name(column)
    return NotMeasured(
        name
        if cells is None or cells.means
        else _(
            "{column}, of which each setting was measured once, so that nothing tells how much "
            "trials differ",
            column=name,
        )
    )
