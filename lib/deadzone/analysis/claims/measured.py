"""What a study measured, as its claims are judged by it: the trials, and each of their columns,
treatment by treatment.

Means are of ln(response) where every value is positive, so that a difference is a ratio, and of the
values themselves elsewhere (shares of errors, which may be none).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import column_values
from deadzone.analysis.objectives.estimates import LEAST_SCATTER, Estimate, cell_means
from deadzone.analysis.phases.fit import curve_of
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import plain_name
from deadzone.errors import PhaseError
from deadzone.language.messages import _
from deadzone.store.table import is_at, rows_at
from deadzone.study.claims import ClaimSpec, Ratio, ratio_of, same_level
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
        return self._mean_of(is_at(self.trials, levels))

    def _mean_of(self, there: np.ndarray) -> Estimate | None:
        means = self.means or []
        return _mean([means[i] for i in np.unique(self.treatment[there])] if means else [])

    def change(
        self, start: Mapping[str, Level], stop: Mapping[str, Level], in_blocks: bool = False
    ) -> Estimate | None:
        """The change of the mean from one setting to another, over the levels of the other factors
        that were measured with both.

        in_blocks: within blocks, so that what drifts over them is left out, where the two settings
        are all there is and FEWEST_BLOCKS have both; else as the means differ, whose scatter other
        treatments tell too. None where nothing was measured with both, or nothing tells how trials
        scatter.
        """
        before, after = (is_at(self.trials, setting) for setting in (start, stop))
        others = [name for name in self.factors if name not in {*start, *stop}]
        places = _groups(self.trials, others)
        if in_blocks and "block" in self.trials and (before | after).all():
            names = [name for name in ("run_id", "block") if name in self.trials]
            means = pd.Series(self.values).groupby([places, _groups(self.trials, names), after])
            pairs = means.mean().unstack().reindex(columns=[False, True]).dropna()
            if len(pairs) >= FEWEST_BLOCKS:
                changes = (pairs[True] - pairs[False]).groupby(level=0)
                return _mean(cell_means([change.to_numpy() for _, change in changes]) or [])
        both = np.isin(places, np.intersect1d(places[before], places[after]))
        ends = self._mean_of(before & both), self._mean_of(after & both)
        return None if ends[0] is None or ends[1] is None else ends[1] - ends[0]


def _groups(trials: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Which trials agree in some columns: the number of each one's group, shape (trials,)."""
    columns = [trials[name].astype(str) for name in names]
    return trials.groupby([*columns, np.zeros(len(trials))], sort=False).ngroup().to_numpy()


def _mean(estimates: Sequence[Estimate]) -> Estimate | None:
    """The mean of independent estimates; None of none."""
    if not estimates:
        return None
    total = estimates[0]
    for other in estimates[1:]:
        total = total - other * -1
    return total * (1 / len(estimates))


LEAST_NOISE_DF = 4.0
"""Degrees of freedom of a noise that was read off the curve, where no treatment was repeated: it is
known poorly."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a study measured, as its claims are judged by it.

    trials: the sound ones, every factor a column. response, goal: of the study. knob: the factor
    that plain numbers speak of. factors: levels of each. known: curves that are fitted already, by
    the levels of the other factors that they are at.
    """

    trials: pd.DataFrame
    response: str
    goal: str
    knob: str
    factors: Mapping[str, Sequence[Level]]
    known: Sequence[tuple[Mapping[str, Level], PhaseModel]] = ()

    def model_of(self, given: Mapping[str, Level]) -> PhaseModel | None:
        """The phases at some levels of the other factors; None where no curve can be fitted."""
        for where, model in self.known:
            if all(name in given and same_level(at, given[name]) for name, at in where.items()):
                return model
        return curve_of(rows_at(self.trials, given), self.knob, self.response, self.goal)

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
        trials, values = self.trials[known], values[known]
        is_log = not linear and bool((values > 0).all())
        scaled = np.log(values) if is_log else values
        treatment = _groups(trials, list(self.factors))
        groups = [scaled[treatment == i] for i in range(treatment.max() + 1)]
        is_own = column in ("", self.response)  # the curve tells of no other column's scatter
        noise = self._noise() if is_log and is_own else None
        if len(values) > len(groups) and not values.any():  # no event at all
            noise = LEAST_SCATTER, float(len(values) - len(groups))
        means = cell_means(groups, noise)
        return ColumnCells(trials, scaled, is_log, treatment, means, list(self.factors))

    def _noise(self) -> tuple[float, float] | None:
        """Scatter read off the curve, where no treatment was repeated."""
        repeated = self.trials.groupby(list(self.factors), observed=True).size().max() > 1
        model = None if repeated else self.model_of({})
        if model is None:
            return None
        return math.hypot(model.noise.replicate, model.noise.misfit), LEAST_NOISE_DF

    def ratio_of(self, claim: ClaimSpec) -> Ratio | None:
        """The ratio that a claim bounds; None where it bounds none."""
        return ratio_of(claim, self.factors, self.knob, self.response)


class NotMeasured(Exception):
    """What a claim speaks of was not measured; its one argument says what, in words."""


def missing(column: str, cells: ColumnCells | None) -> NotMeasured:
    """What to say where a column, or its scatter, was not measured."""
    name = plain_name(column)
    if cells is None or cells.means:
        return NotMeasured(name)
    return NotMeasured(
        _(
            "{column}, measured too seldom to show how much trials differ",
            column=name,
        )
    )
