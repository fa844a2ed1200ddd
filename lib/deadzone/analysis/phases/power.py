"""How many replicates would tell two settings apart.

The usual power calculation of a one-sided t test (Cohen 1988, Statistical Power Analysis, chapter
2), on the scale of ln(response), with the level of the test divided by the number of comparisons
(Bonferroni), so that it matches the family-wise level of the set of best settings.
"""

from bisect import bisect_left

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE

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
