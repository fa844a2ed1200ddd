"""Several tests together: the one rule on error rates of claims, gates and hypotheses.

| what is said | rule |
| --- | --- |
| one verdict that needs all of several tests: every bound that `holds`, every rival of the `best`, every gate of a change | the largest p-value counts, without correction: an intersection-union test (Berger 1982, Technometrics 24, 295-300) |
| the opposite verdict, that at least one of them fails | the smallest p-value times their number (Bonferroni) |
| several verdicts beside each other: the claims of a study, the hypotheses of an attribution | Holm's correction (`holm`), so that with the confidence stated not one of them is wrong |

The objectives of a load test are one verdict on a setting as well: its confidence is that all are met at once, drawn jointly.
"""

from collections.abc import Sequence


def all_of(p: Sequence[float]) -> float:
    """p-value of the null that not all of several alternatives hold, from those of each; at least one."""
    return max(p)


def any_of(p: Sequence[float]) -> float:
    """p-value of the null that none of several alternatives holds, from those of each; at least one."""
    return min(1.0, len(p) * min(p))
