"""The ratio of two medians with a bootstrap interval.

Percentile intervals (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13), on
the scale of ln(ratio). Not BCa: its acceleration comes from the jackknife, which is inconsistent
for a median (ibid., section 10.6). How often such intervals hold the true ratio, by noise and
trials, is measured in docs/benchmarks/comparisons.md: as often as they say from five trials a side
on; with two to four they are too short, and a result says so.

Where trials were made in blocks, whole blocks are drawn, so that what a block's treatments have in
common stays together; paired samples are drawn in pairs.

From numbers to one of four verdicts.

- better, worse: a change is shown (p-value after Holm's correction, and an interval that leaves out
  no change), and its estimate is at least the threshold that matters.
- no change that matters: a change of that threshold or more is ruled out in both directions by two
  one-sided tests (TOST; Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15,
  657-680) and lies outside the interval that belongs to them, of twice the level. Lack of
  significance is never taken for sameness.
- undecided: neither.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deadzone.analysis.hypothesis_tests.ranks import log_ratios
from deadzone.errors import CompareError

DRAWS = 2_000
"""Resamples of each kind; twice as many enter an interval, whose ends then wander by about a
fiftieth of its width."""

SEED = 1993
"""Fixed, so that the same trials always give the same interval."""

FEWEST_TREATMENTS = 5
"""With fewer than 5 values a percentile interval of their mean is too short to be shown."""


def resample(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], *, together: tuple[bool, bool], paired: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Bootstrap the change of the median of every treatment.

    Returns the changes, shape (treatments,), ln(median of B / median of A), and draws, shape
    (treatments, 2 * DRAWS), the same of resamples; a treatment with a single trial on a side has
    none (nan).

    pairs: for each treatment the values of A and of B, shapes (n,) and (m,), >= 0; n == m where
    paired. together: for A and for B whether row i of every treatment is the same block. paired:
    whether row i of A and row i of B belong together.

    The two random streams are used both ways round, so that exchanging A and B exactly inverts the
    result.
    """
    one, other = np.random.SeedSequence(SEED).spawn(2)
    streams = ((one, one), (other, other)) if paired else ((one, other), (other, one))

    def medians(side: int, stream: np.random.SeedSequence) -> np.ndarray:
        rng, at_once = np.random.default_rng(stream), together[side] or paired
        return _medians([pair[side] for pair in pairs], rng, at_once)

    parts = [log_ratios(medians(0, of_a), medians(1, of_b)) for of_a, of_b in streams]
    draws = np.concatenate(parts, axis=1)
    draws[[min(len(a), len(b)) < 2 for a, b in pairs]] = np.nan
    observed = np.array([[np.median(a), np.median(b)] for a, b in pairs])
    return log_ratios(observed[:, 0], observed[:, 1]), draws


def interval(draws: np.ndarray, confidence: float) -> tuple[float, float]:
    """Percentile interval of draws, shape (k,); (nan, nan) where there are none."""
    if not len(draws) or np.isnan(draws).any():
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="nearest")
    return float(low), float(high)


def overall_draws(change: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Draws of the mean change over treatments, shape (k,). change, draws: of `resample`.

    Where some treatment has a single trial on a side, treatments are drawn instead of trials: their
    changes are then the sample. Fewer than FEWEST_TREATMENTS of them show no spread, and there are
    no draws.
    """
    if not np.isnan(draws).any():
        return np.asarray(draws.mean(axis=0))
    count = len(change)
    if count < FEWEST_TREATMENTS or not np.isfinite(change).all():
        return np.empty(0)
    chosen = np.random.default_rng(SEED).integers(0, count, (2 * DRAWS, count))
    return np.asarray(change[chosen].mean(axis=1))


def _medians(samples: Sequence[np.ndarray], rng: np.random.Generator, together: bool) -> np.ndarray:
    """Medians of resamples, shape (treatments, DRAWS); together, samples of one size are drawn by
    the same rows."""
    if not together:
        return np.array([_resampled_medians(np.sort(sample), rng) for sample in samples])
    rows = {n: rng.integers(0, n, (DRAWS, n)) for n in sorted(set(map(len, samples)))}
    return np.array([np.median(sample[rows[len(sample)]], axis=1) for sample in samples])


def _resampled_medians(ordered: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Medians of resamples of a sorted sample, shape (DRAWS,), whatever its size.

    The middle of n uniform numbers has a Beta distribution; where it falls among n equal steps is
    the rank of the trial that is the resample's median. For an even n the upper middle is drawn
    given the lower one.
    """
    n = len(ordered)
    lower = rng.beta((n + 1) // 2, n - (n + 1) // 2 + 1, DRAWS)
    at = np.minimum((lower * n).astype(int), n - 1)
    if n % 2:
        return np.asarray(ordered[at])
    upper = lower + (1 - lower) * rng.beta(1, n // 2, DRAWS)
    return np.asarray((ordered[at] + ordered[np.minimum((upper * n).astype(int), n - 1)]) / 2)


BETTER, WORSE, NO_CHANGE, UNDECIDED = "better", "worse", "no change that matters", "undecided"

THRESHOLD = 0.03
"""A change under 3 % is seldom worth a decision, and on most machines two runs of the same program
differ by as much."""


def check_confidence(confidence: float) -> None:
    """Raise CompareError unless a confidence is a probability that decides anything."""
    if not (isinstance(confidence, int | float) and 0.5 <= confidence < 1):
        raise CompareError(
            f"The confidence is {confidence!r}; give a probability of 0.5 or more and below 1."
        )


def verdict(row: Mapping[Any, Any], threshold: float, confidence: float) -> str:
    """Better, worse, no change that matters, or undecided.

    row: of a comparison: ratio, 0 to infinity, or nan where it has no meaning; ratio_low and
    ratio_high, nan where unknown; p_adjusted and p_equivalence_adjusted, after correction;
    is_within, whether the interval of the two one-sided tests lies within the threshold; goal, min
    or max. threshold: a ratio of 1 + threshold or its inverse matters.
    """
    ratio, level = row["ratio"], 1 - confidence
    if math.isnan(ratio):
        return UNDECIDED
    matters = ratio == 0 or abs(math.log(ratio)) >= math.log1p(threshold) * (1 - 1e-12)
    if matters and row["p_adjusted"] <= level and (row["ratio_low"] > 1 or row["ratio_high"] < 1):
        return WORSE if (ratio > 1) == (row["goal"] == "min") else BETTER
    if not matters and row["is_within"] and row["p_equivalence_adjusted"] <= level:
        return NO_CHANGE
    return UNDECIDED
