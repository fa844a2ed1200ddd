"""Words compared with each other: in each combination of the other factors' levels, and over all of them.

The best level of a factor is set against each of the others. A difference in one combination is shown where its
interval, of Student's t with the confidence shared out over all comparisons (Bonferroni), leaves zero out. Whether the
difference depends on the other factors is the interaction: a Wald test that it is the same everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadzone.explaining.phases.candidates import Candidates
from deadzone.explaining.settings.answering import Answer
from deadzone.study.scales import WORDS, scale_of

CONFIDENCE = 0.95
"""Of all the intervals of one factor together, and of the test of its interaction."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The best level of a factor beside another one.

    factor, best, other: names. contexts: the other factors' levels of each combination that has both. gain, low,
    high: shape (contexts,), how much better the best one is there on the response's scale, with simultaneous bounds.
    overall, overall_low, overall_high: the mean over the combinations, with its own interval. p_same: of the
    hypothesis that the difference is the same in all combinations; nan with one.
    """

    factor: str
    best: Any
    other: Any
    contexts: tuple[Mapping[str, Any], ...]
    gain: np.ndarray
    low: np.ndarray
    high: np.ndarray
    overall: float
    overall_low: float
    overall_high: float
    p_same: float

    @property
    def better(self) -> np.ndarray:
        """Where the best level is shown to be better, shape (contexts,)."""
        return self.low > 0

    @property
    def worse(self) -> np.ndarray:
        """Where it is shown to be worse, shape (contexts,)."""
        return self.high < 0


def comparisons(answer: Answer) -> list[Comparison]:
    """Each factor whose levels are words, where another factor varies beside it; none for a single factor."""
    if not answer.others:
        return []
    factors = [*answer.others, *([answer.knob] if answer.knob_scale.kind == WORDS else [])]
    settings = [dict(setting) for setting in answer.candidates.settings]
    worded = [name for name in factors if scale_of(setting[name] for setting in settings).kind == WORDS]
    return [found for name in worded for found in _of_factor(answer.candidates, settings, name)]


def _of_factor(candidates: Candidates, settings: list[dict[str, Any]], factor: str) -> list[Comparison]:
    at: dict[tuple[Any, ...], dict[Any, int]] = {}
    for i, setting in enumerate(settings):
        context = tuple((name, level) for name, level in setting.items() if name != factor)
        at.setdefault(context, {})[setting[factor]] = i
    levels = list(dict.fromkeys(setting[factor] for setting in settings))
    whole = [context for context in at.values() if len(context) == len(levels)]
    if len(levels) < 2 or not whole:
        return []
    value = candidates.sign * candidates.estimates.log_response
    best = min(levels, key=lambda level: float(np.mean([value[context[level]] for context in whole])))
    others = [level for level in levels if level != best]
    shared = {other: [c for c, found in at.items() if best in found and other in found] for other in others}
    n = sum(map(len, shared.values()))
    return [
        _compared(candidates, value, factor, (best, other), {c: at[c] for c in contexts}, n)
        for other, contexts in shared.items()
    ]


def _compared(
    candidates: Candidates,
    value: np.ndarray,
    factor: str,
    pair: tuple[Any, Any],
    contexts: Mapping[tuple[Any, ...], Mapping[Any, int]],
    n_comparisons: int,
) -> Comparison:
    from scipy.special import stdtrit

    best, other = pair
    df = candidates.estimates.degrees_of_freedom
    contrast = np.zeros((len(contexts), len(value)))
    for row, found in enumerate(contexts.values()):
        contrast[row, [found[best], found[other]]] = -1.0, 1.0
    gain = contrast @ value
    covariance = contrast @ candidates.estimates.covariance @ contrast.T
    half = stdtrit(df, 1 - (1 - CONFIDENCE) / 2 / n_comparisons) * np.sqrt(np.diag(covariance))
    own = float(stdtrit(df, 1 - (1 - CONFIDENCE) / 2) * np.sqrt(covariance.mean()))
    mean = float(gain.mean())
    return Comparison(
        factor, best, other, tuple(dict(c) for c in contexts), gain, gain - half, gain + half,
        mean, mean - own, mean + own, _p_same(gain, covariance, df),
    )  # fmt: skip


def _p_same(gain: np.ndarray, covariance: np.ndarray, df: float) -> float:
    """p-value of the hypothesis that all gains are equal."""
    from scipy.special import fdtrc

    n = len(gain)
    if n < 2:
        return float("nan")
    apart = np.eye(n)[1:] - np.eye(n)[:1]
    off = apart @ gain
    square = float(off @ np.linalg.pinv(apart @ covariance @ apart.T) @ off)
    return float(fdtrc(n - 1, df, square / (n - 1)))
