"""The set of settings that noise cannot tell apart from the best.

Multiple comparisons with the best (Hsu 1984, Annals of Statistics 12, 1136-1144; Hsu 1996, Multiple
Comparisons, chapter 4). A setting is left out only when some other setting is better by more than
noise explains, each comparison made with a critical value for all the comparisons of that setting
together (Dunnett 1955, for estimates of unequal precision and any correlation). The true best is
then in the set with at least the confidence stated, whichever setting it is: the family-wise level.

The comparison may also ask for more than a difference: a setting counts as no worse than the best
until it is shown to be worse by more than a tolerance that matters in practice.

How many replicates would tell two settings apart.

The usual power calculation of a one-sided t test (Cohen 1988, Statistical Power Analysis, chapter
2), on the scale of ln(response), with the level of the test divided by the number of comparisons
(Bonferroni), so that it matches the family-wise level of the set of best settings.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.errors import PhaseError
from deadzone.study.levels import is_number

DRAWS = 4000
"""Simulated estimates for a critical value: its own error is then about 1 %, below that of any
noise estimate from fewer than a thousand trials."""

MOST_SIMULATED = 60
"""Settings whose critical value is simulated. Where there are more, those between two simulated
ones get the larger of their values, which differ by little along a curve; 500 settings then take
under a second."""

SEED = 1984
"""Fixed, so that the same trials always give the same set."""


@dataclass(frozen=True, eq=False)
class BestSet:
    """How much worse than the best each setting is, and which settings may be the best.

    member: shape (n,), True where the setting cannot be told from the best. loss: shape (n,),
    estimated ln(response of the setting / best response), >= 0. low, high: shape (n,), simultaneous
    bounds of the loss at the confidence of the set; of a member nothing is shown, its low is 0
    (Hsu's constrained bounds). confidence: family-wise. tolerance: a fraction. drawn: shape (DRAWS,
    n), errors of the estimates as they may be.
    """

    member: np.ndarray
    loss: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    tolerance: float
    drawn: np.ndarray


def best_set(
    estimate: np.ndarray,
    covariance: np.ndarray,
    degrees_of_freedom: float | np.ndarray,
    confidence: float = CONFIDENCE,
    tolerance: float = 0.0,
) -> BestSet:
    """Settings that cannot be told apart from the one with the smallest estimate.

    estimate: shape (n,), of ln(response), smaller is better. covariance: shape (n, n), of its
    errors. degrees_of_freedom: of the noise behind the covariance, > 0; of each setting, shape
    (n,), where their noises are told apart. confidence: in (0, 1). tolerance: >= 0, a fraction of
    the response that does not matter in practice.

    Raises PhaseError for a confidence that is no probability.
    """
    if not (is_number(confidence) and 0 < confidence < 1):
        raise PhaseError(
            f"confidence is {confidence!r}; give a probability between 0 and 1, for example 0.95."
        )
    differ = estimate[:, None] - estimate[None, :]
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))
    # Errors of estimates as they may be: of multivariate Student's t, or where each setting's noise
    # is known by itself, of one Student's t a setting (the fiducial distribution of Behrens and
    # Fisher, whose tests keep their level or err towards no difference: Robinson 1976, Annals of
    # Statistics 4, 963-971). A covariance may be singular: levels of a straight line are dependent.
    rng, df = np.random.default_rng(SEED), np.atleast_1d(degrees_of_freedom)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = rng.standard_normal((DRAWS, len(covariance))) @ root.T
    drawn /= np.sqrt(rng.chisquare(df, (DRAWS, len(df))) / df)
    critical = critical_values(drawn, error, confidence)
    shown = (differ - critical[:, None] * error).max(axis=1)
    possible = np.nonzero(shown <= 1e-12)[0]
    highest = (differ + critical[None, :] * error)[:, possible].max(axis=1)
    member = shown <= np.log1p(tolerance) + 1e-12
    return BestSet(
        member=member,
        loss=estimate - estimate.min(),
        low=np.where(member, 0.0, np.maximum(shown, 0.0)),
        high=np.maximum(highest, 0.0),
        confidence=confidence,
        tolerance=tolerance,
        drawn=drawn,
    )


def critical_values(drawn: np.ndarray, error: np.ndarray, confidence: float) -> np.ndarray:
    """For each setting the factor by which its standard errors are multiplied, shape (n,). drawn:
    as of `BestSet`.

    It is the quantile, at the confidence, of the largest of the setting's studentised differences
    from all others, when there is no true difference: Dunnett's multivariate t, here by simulation,
    because estimates that share a curve are correlated in a way that no table covers.
    """
    n = len(error)
    simulated = np.unique(np.linspace(0, n - 1, min(n, MOST_SIMULATED)).round().astype(int))
    values = np.zeros(n)
    for i in simulated:
        apart = error[i] > 1e-12 * max(error.max(), 1e-300)
        if apart.any():
            largest = ((drawn[:, [i]] - drawn[:, apart]) / error[i][apart]).max(axis=1)
            values[i] = max(np.quantile(largest, confidence), 0.0)
    after = np.searchsorted(simulated, np.arange(n))
    return np.maximum(
        values[simulated[after]], values[simulated[np.maximum(after - 1, 0)]] * (n > MOST_SIMULATED)
    )


POWER = 0.80
"""The habit of experimental design: one real difference in five may be missed."""

MOST_WORTH = 50
"""More trials of a setting than this settle nothing that matters: the difference is a small part of
the noise."""

MOST_REPLICATES = 100_000
"""More is not practical; the answer is then that no sensible number of replicates would
do."""


def replicates_to_tell(
    difference: float, noise: float, settings: int = 2, confidence: float = CONFIDENCE
) -> int | None:
    """Trials of each setting that show a difference with the power wanted.

    difference: of two settings in ln(response), > 0. noise: standard deviation of ln(response) of
    one trial, > 0. settings: number of settings compared with the best one, itself included, >= 2.
    Returns at least 2, or None where MOST_REPLICATES do not suffice.
    """
    from scipy.special import nctdtr, stdtrit

    def power(n: int) -> float:
        df = settings * (n - 1)
        critical = -stdtrit(df, (1 - confidence) / (settings - 1))
        return float(1 - nctdtr(df, difference / (noise * (2 / n) ** 0.5), critical))

    enough = bisect_left(range(MOST_REPLICATES + 1), POWER, lo=2, key=power)
    return enough if enough <= MOST_REPLICATES else None
