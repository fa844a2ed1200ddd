"""The curves of a disk run, one a combination of its other factors, and what each decides: which setting is near the
best, which sustains a required rate, how long a chunk takes, and how sure that is."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.candidates import level_text
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.level_estimates import LevelEstimates, estimate_levels
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import capital, level_number, plain_name
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.service_level import target_confidence
from deadzone.language.catalogue import join, say
from deadzone.reports.sweep.source import Source
from deadzone.store.table import rows_at
from deadzone.study.factors import LevelsFactor
from deadzone.study.sizes import RequiredRate

MEGA = 1e6

THROUGHPUT = "throughput_mb_s"
"""The fitted column: millions of bytes a second, which read easier than bytes."""

SURE = 0.95
"""A setting is recommended that does what was asked with at least this probability."""

LARGEST_T = 1e9


@dataclass(frozen=True, eq=False)
class Decided:
    """A setting that does what was asked. level: the smallest one, or None where none does. confidence: the
    probability that it does; without one, that of the setting that comes nearest. nearest: that setting."""

    level: float | None
    confidence: float
    nearest: float


@dataclass(frozen=True, eq=False)
class Curve:
    """The throughput over the knob, in one combination of the other factors.

    name: of the combination, empty where there is one only. levels: of the other factors. trials: analysed ones.
    problem: why nothing could be fitted, empty where it could.
    """

    name: str
    levels: dict[str, Any]
    trials: pd.DataFrame
    position: int
    problem: str = ""

    @property
    def heading(self) -> str:
        """The name with a capital, for headings and the beginnings of sentences."""
        return capital(self.name)

    def anchor(self, block: str) -> str:
        """The id of a block of this curve."""
        return f"curve-{self.position + 1}-{block}" if self.position else block

    def text(self, level: Any) -> str:
        """A level in words."""
        return str(level)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted(Curve):
    """A curve with its phases and the recommended setting."""

    model: PhaseModel
    advice: Recommendation

    @property
    def knob_levels(self) -> np.ndarray:
        """Levels of the fitted curve, increasing, shape (n,)."""
        return self.model.levels["level"].to_numpy(float)

    @property
    def estimates(self) -> LevelEstimates:
        """Estimates of ln(throughput in MB/s) at each level."""
        return estimate_levels(self.model)

    def rate(self, level: float) -> tuple[float, float, float]:
        """Throughput at a level with its 95 % interval [MB/s]: estimate, low, high."""
        from scipy import stats

        found = self.estimates
        i = int(np.searchsorted(self.knob_levels, level))
        half = float(stats.t.ppf((1 + SURE) / 2, found.degrees_of_freedom)) * found.std_error[i]
        middle = found.log_response[i]
        return float(np.exp(middle)), float(np.exp(middle - half)), float(np.exp(middle + half))

    def near_best(self, within: float) -> Decided:
        """The smallest level whose throughput is no more than a share below that of the best.

        The confidence is a lower bound (Bonferroni's over all levels that could be better), so that picking the best
        of noisy levels makes nothing look surer than it is.
        """
        from scipy import stats

        found = self.estimates
        rates, own = found.log_response, np.diag(found.covariance)
        spread = np.sqrt(np.maximum(own[:, None] + own - 2 * found.covariance, 0.0))
        gap = -np.log1p(-within) - (rates - rates[:, None])
        worse = stats.t.sf(
            np.clip(gap / np.maximum(spread, 1e-12), -LARGEST_T, LARGEST_T), found.degrees_of_freedom
        )
        surely = 1.0 - worse.sum(axis=1, where=~np.eye(len(rates), dtype=bool))
        return _smallest(self.knob_levels, np.clip(surely, 0.0, 1.0), found.log_response)

    def estimated_near_best(self, within: float) -> float:
        """The smallest level estimated to be within a share of the best, however unsure."""
        rates = np.exp(self.estimates.log_response)
        return float(self.knob_levels[int(np.argmax(rates >= (1 - within) * rates.max()))])

    def sustains(self, required: RequiredRate) -> Decided:
        """The smallest level that sustains a rate, and so do all that are larger."""
        measured = self.trials.groupby(pd.to_numeric(self.trials[self.model.knob]))[THROUGHPUT]
        worst = measured.min()[self.knob_levels].to_numpy(float)
        chance = target_confidence({"mean": required.bytes_s / MEGA}, self.estimates, worst, "max")
        return _smallest(self.knob_levels, chance, self.estimates.log_response)

    def chunk_s(self, level: float, chunk: float) -> float:
        """Time that a chunk takes in blocks of a level [s]. chunk: [bytes]."""
        return chunk / MEGA / self.rate(level)[0]

    def text(self, level: Any) -> str:
        """A level in words."""
        return level_text(self.model, float(level))


def _smallest(levels: np.ndarray, chance: np.ndarray, log_rate: np.ndarray) -> Decided:
    sure = np.nonzero(chance >= SURE)[0]
    at = sure[0] if len(sure) else np.lexsort((log_rate, chance))[-1]  # the fastest where none has a chance
    level = float(levels[at])
    return Decided(level if len(sure) else None, float(chance[at]), level)


def curves_of(source: Source) -> list[Curve]:
    """The curves of a run, in the order in which the study writes the levels of its other factors."""
    study = source.study
    assert study is not None
    others = {
        name: factor.levels
        for name, factor in study.factors.items()
        if name != source.knob and isinstance(factor, LevelsFactor) and len(factor.levels) > 1
    }
    trials = source.analysed.assign(**{THROUGHPUT: source.analysed["throughput_bytes_s"] / MEGA})
    trials = trials[trials[THROUGHPUT].notna()]
    curves: list[Curve] = []
    for levels in product(*others.values()):
        rows = rows_at(trials, dict(zip(others, levels, strict=True)))
        if len(rows) or not others:
            curves.append(_curve(source, rows, {name: rows[name].iloc[0] for name in others}, len(curves)))
    return curves


def _curve(source: Source, trials: pd.DataFrame, levels: dict[str, Any], position: int) -> Curve:
    name = join([level_words(factor, level) for factor, level in levels.items()], ", ")
    try:
        model = fit_phases(trials, source.knob, THROUGHPUT, goal="max")
    except PhaseError as error:
        return Curve(name, levels, trials, position, str(error))
    return Fitted(name, levels, trials, position, model=model, advice=model.recommend())


def level_words(factor: str, level: Any) -> str:
    """A level of a factor in words: the operations have names of their own."""
    if factor == "operation":
        return say(f"disk_operation.{level}")
    text = level_number(float(level), factor) if isinstance(level, int | float | np.number) else str(level)
    return say("quantity.named", name=plain_name(factor), value=text)
