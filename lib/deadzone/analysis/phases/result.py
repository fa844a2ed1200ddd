"""What a fit found of one response curve, as data: what recommends from it, words it or draws it
stands above.

The axis over which pieces are straight: the logarithm of a knob on a ratio scale, the level
itself on an interval one.

The thresholds between phases are elasticities, which an interval scale has not: a temperature
cannot be doubled. There the whole range measured counts as RANGE_DOUBLINGS doublings, so that the
same thresholds say how much a share of the range must gain, and a phase is stated by the
improvement a unit.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.study.direction import GoalFrom
from deadzone.study.scales import INTERVAL

RANGE_DOUBLINGS = 2
"""Half of an interval knob's range must gain 16 %, as a doubling of a ratio knob must, to be called
paying."""


@dataclass(frozen=True)
class KnobAxis:
    """kind: of the knob's scale. start, length: of the range measured, in the knob's unit. unit: of
    the levels where they were written with one."""

    kind: Literal["ratio", "interval"] = "ratio"
    start: float = 1.0
    length: float = 1.0
    unit: str = ""

    @property
    def is_interval(self) -> bool:
        """Whether pieces are straight over the level itself."""
        return self.kind == INTERVAL

    @property
    def _stretch(self) -> float:
        return RANGE_DOUBLINGS * float(np.log(2)) / self.length

    def forward(self, level: np.ndarray) -> np.ndarray:
        """From levels to the axis; shape as given."""
        return (level - self.start) * self._stretch if self.is_interval else np.log(level)

    def backward(self, x: np.ndarray) -> np.ndarray:
        """From the axis to levels; shape as given."""
        return x / self._stretch + self.start if self.is_interval else np.exp(x)

    def gain_a_unit(self, elasticity: float, goal: str = "min") -> float:
        """Improvement of the response for one unit of an interval knob, a share: 0.01 is 1 % better
        a unit."""
        change = float(elasticity) * self._stretch
        return float(-np.expm1(-change) if goal == "min" else np.expm1(change))


@dataclass(frozen=True)
class CurveTrials:
    """The trials of one curve, ready to be fitted.

    levels: shape (n,), positions on the knob's axis, increasing. axis: over which they are spaced.
    names: how each level is written. level: shape (trials,), position of each trial's level.
    response: shape (trials,), as measured. value: shape (trials,), ln(response), sign flipped for a
    response to maximise: smaller is better; where the trials ran on several nodes of a cluster,
    without what these differ by. row: shape (trials,), position in the frame. trial: shape
    (trials,), where the frame has no such column the row of data, counted from 1. block, order:
    shape (trials,) or None; order is the rank in the run, 0 ... 1, or where by_round that of the
    round, by a column that counts rounds.
    """

    levels: np.ndarray
    names: tuple[str, ...]
    level: np.ndarray
    response: np.ndarray
    value: np.ndarray
    row: np.ndarray
    trial: np.ndarray
    block: np.ndarray | None
    order: np.ndarray | None
    higher_is_worse: bool
    none_level: float | None
    warnings: tuple[str, ...]
    axis: KnobAxis
    by_round: bool = False


@dataclass(frozen=True)
class Noise:
    """How much the response scatters, as standard deviations of ln(response), dimensionless.

    replicate: scatter of the trials of one level around its value; with one trial a level it cannot
        be told from `misfit`, and is what the curve itself suggests.
    misfit: what a level deviates from the straight pieces and replicates do not average away.
    estimable: True where at least one level has two trials, so that `replicate` rests on
    replicates. degrees_of_freedom: of `replicate`; trials minus levels, at least 0.
    """

    replicate: float
    misfit: float
    estimable: bool
    degrees_of_freedom: int


@dataclass(frozen=True)
class Drift:
    """Change of the response over the order of the run, common to all levels.

    kind: "block" (an effect of each block) or "order" (a straight line over the run order).
    effects: index block (or 0 = first, 1 = last trial); columns effect, low, high: ln(response)
        relative to the mean of the run, dimensionless.
    change: exp(largest - smallest effect) - 1, a fraction.
    p_value: of the hypothesis that there is no drift.
    removed: True where it was significant and the trials were corrected for it.
    """

    kind: str
    effects: pd.DataFrame
    change: float
    p_value: float
    removed: bool


@dataclass(frozen=True, eq=False)
class PhaseResult:
    """The phases of one response curve, how sure they are, and what they rest on.

    knob, response: column names. goal: "min" or "max". Elasticities are dimensionless and positive
    where the response gets better. `low` and `high` bound the central interval of `certainty`.

    phases: one row a phase: start, stop (levels), label, elasticity, elasticity_low,
        elasticity_high, std_error, probability (of the label over the phase's steps), start_low,
        start_high (interval of the joint at its start; the first level for the first phase).
    step_labels: n_levels - 1 labels, one for each step between neighbouring levels.
    steps: one row a step: start, stop, label, probability, elasticity, elasticity_low,
        elasticity_high, p_linear, p_dead_zone, p_breakthrough, p_plateau, p_reversal.
    joints: one row an inner boundary: level, low, high (levels), probability (that a joint lies
        within one level of it).
    outliers: one row a flagged trial: trial, knob, response, fitted, factor (response / fitted),
        probability, reason. They stay in the fit with the weight `1 - probability`.
    levels: one row a level: level, label ("none" for no limit), n, n_used, mean, median, low, high
        (interval of the mean of the unspoiled trials), spread (robust standard deviation of
        ln(response)), off (ln of how many times worse a level that is off as a whole is than the
        line between its neighbours, or the curve where its trials agree and that passes them by,
        below 0 for a better one, 0 for others),
        fitted, fitted_low, fitted_high; in units of the response where not said otherwise.
    trials: one row an analysed trial, in the frame's order: row (position in the frame), trial,
        block (None without one), level, response, weight (0 ... 1), corrected (response without
        drift), fitted, residual (ln(corrected / fitted)), outlier (bool).
    noise, drift: see the classes; drift is None where the run does not let it be estimated.
    laws: one row a smooth law weighed beside the chains of pieces: law, log_probability (natural
        logarithm of its posterior probability), share, share_low, share_high (of the work that more
        of the knob does not divide: the serial share of Amdahl's law, the contention of the
        Universal Scalability Law), coherency, coherency_low, coherency_high (the latter's alone);
        nan where the law is too improbable under every noise. No rows on an interval scale, where a
        knob of twice the capacity is not twice the number.
    warnings: sentences a reader needs. goal_from: how the goal is known: asked, name, unit, cells
        (of the response) or assumed. findings: what is wrong with the experiment behind the
        table, where it was examined; a recommendation heeds them. settings: the `Candidates` that
        are compared, where some stand apart from the curve (words, 0, a lone -1); None where all
        lie on it.
    none_level: the position on the knob's axis given to `none`, or None. thresholds, certainty: the
    settings of the call. axis: over which the pieces are straight; on an interval scale an
    elasticity is the slope over it, and `axis.gain_a_unit` says what that is a unit of the knob.
    """

    knob: str
    response: str
    goal: str
    phases: pd.DataFrame
    step_labels: tuple[str, ...]
    steps: pd.DataFrame
    joints: pd.DataFrame
    outliers: pd.DataFrame
    levels: pd.DataFrame
    trials: pd.DataFrame
    noise: Noise
    drift: Drift | None
    laws: pd.DataFrame
    warnings: tuple[str, ...]
    none_level: float | None
    thresholds: Thresholds
    certainty: float
    axis: KnobAxis = field(default_factory=KnobAxis)
    findings: tuple[Finding, ...] = ()
    settings: Any = None
    goal_from: GoalFrom = "asked"

    @property
    def smooth_probability(self) -> float:
        """Posterior probability of the smooth laws together."""
        return float(np.exp(self.laws["log_probability"].to_numpy(float)).sum())

    @property
    def n_levels(self) -> int:
        """Number of distinct levels analysed."""
        return len(self.levels)

    @property
    def n_trials(self) -> int:
        """Number of trials analysed, flagged ones included."""
        return len(self.trials)
