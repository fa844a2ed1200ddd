"""Several tests together: the one rule on error rates of claims, objectives, hypotheses and
mechanisms.

| what is said | rule |
| --- | --- |
| one verdict that needs all of several tests: every bound that `holds` and every objective of a load test, every rival of the `best` | the largest p-value counts, without correction: an intersection-union test (Berger 1982, Technometrics 24, 295-300) |
| the opposite verdict, that at least one of them fails | the smallest p-value times their number (Bonferroni) |
| several verdicts beside each other: the claims of a study with its objectives, the hypotheses of an attribution, the mechanisms of all phases | Holm's correction over all (1979, Scandinavian Journal of Statistics 6, 65-70). Each asks up to three one-sided questions; the p-value that enters is the smallest times their number, so that the direction of a verdict is covered too (Shaffer 1980, Annals of Statistics 8, 1342-1347): with the confidence stated not one of them is wrong (`judged`) |
"""  # noqa: E501

from collections.abc import Sequence

import numpy as np

CONFIDENCE = 0.95
"""Of all that is said together, wherever nothing else is asked: tests are made at the level that it
leaves."""


def all_of(p: Sequence[float]) -> float:
    """p-value of the null that not all of several alternatives hold, from those of each; at least
    one."""
    return max(p)


def any_of(p: Sequence[float]) -> float:
    """p-value of the null that none of several alternatives holds, from those of each; at least
    one."""
    return min(1.0, len(p) * min(p))


def judged(p: np.ndarray) -> np.ndarray:
    """p-values of every verdict that several claims can get, corrected for all of them.

    p: shape (claims, verdicts), of the null that a verdict is wrong; nan where it is not asked.
    Returns the same shape, <= 1.
    """
    asked = np.isfinite(p)
    times = asked.sum(axis=1)
    smallest = np.minimum(np.where(asked, p, 1.0).min(axis=1) * times, 1.0)
    smallest[times == 0] = np.nan
    factor = np.divide(holm(smallest), smallest, out=np.ones(len(p)), where=smallest > 0)
    return np.minimum(p * (times * factor)[:, None], 1.0)


def holm(p: np.ndarray) -> np.ndarray:
    """p-values adjusted so that comparing each with the level errs anywhere with at most that
    probability.

    p: shape (n,), nan where no test was made; those stay nan and count for nothing. Returns shape
    (n,), <= 1.
    """
    order, tests = np.argsort(p, kind="stable"), np.count_nonzero(~np.isnan(p))
    steps = p[order] * np.arange(tests, tests - len(p), -1)  # those that are nan come last
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
