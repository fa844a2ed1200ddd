"""One column of the trials, treatment by treatment, as claims are judged by it.

Means are of ln(response) where every value is positive, so that a difference is a ratio, and of the values themselves
elsewhere (shares of errors, which may be none).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.explaining.capacity.estimates import Estimate, cell_means
from deadzone.study.claims import same_level
from deadzone.study.levels import Level


def rows_at(trials: pd.DataFrame, levels: Mapping[str, Level]) -> np.ndarray:
    """Which trials were made at all of these levels, shape (trials,)."""
    chosen = np.ones(len(trials), dtype=bool)
    for factor, level in levels.items():
        chosen &= np.array([same_level(value, level) for value in trials[factor]], dtype=bool)
    return chosen


@dataclass(frozen=True, eq=False)
class Cells:
    """One column of the trials. trials: the sound ones that have it. values: of the column, shape (trials,), logarithms
    where is_log. treatment: of each trial, its position in means, shape (trials,). means: of every treatment; None where
    nothing tells how trials scatter.
    """

    trials: pd.DataFrame
    values: np.ndarray
    is_log: bool
    treatment: np.ndarray
    means: Sequence[Estimate] | None

    def at(self, levels: Mapping[str, Level]) -> Estimate | None:
        """The mean at a setting; None without a trial there, or where nothing tells how trials scatter.

        A setting that leaves a factor open is the mean over its treatments.
        """
        there = np.unique(self.treatment[rows_at(self.trials, levels)])
        if self.means is None or not len(there):
            return None
        mean = self.means[there[0]]
        for other in there[1:]:
            mean = mean - self.means[other] * -1
        return mean * (1 / len(there))


def cells_of(
    trials: pd.DataFrame,
    values: np.ndarray,
    factors: Sequence[str],
    noise: tuple[float, float] | None = None,
    *,
    linear: bool = False,
) -> Cells:
    """The cells of a column. values: shape (trials,), finite.

    noise: scatter of a trial on the scale of logarithms and its degrees of freedom, used where no treatment was repeated.
    linear: take no logarithms, whatever the values.
    """
    is_log = not linear and bool((values > 0).all())
    scaled = np.log(values) if is_log else values
    treatment = trials.groupby([trials[name].astype(str) for name in factors], sort=False).ngroup().to_numpy()
    groups = [scaled[treatment == i] for i in range(treatment.max() + 1)]
    return Cells(trials, scaled, is_log, treatment, cell_means(groups, noise if is_log else None))
