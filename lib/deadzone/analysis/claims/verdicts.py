"""The verdicts on claims: every claim has a test in each direction, that it holds (the null: it
does not), and that it does not (the null: it does), and all claims of a study are judged together
(`hypothesis_tests.holm`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, judged
from deadzone.analysis.phases.power import further_trials

Verdict = Literal["supported", "partly", "undecided", "contradicted", "not_measured"]
"""supported: the data show it. partly: a part of it, or with a reservation. undecided: the data can
neither show nor refute it. contradicted: the data show otherwise. not_measured: nothing that was
measured speaks of it."""

ASKED: tuple[Verdict, ...] = ("supported", "contradicted", "partly")
"""The verdicts that a test can give, the first that is sure counts."""

MOST_TRIALS = 1_000
"""Beyond so many further trials of a setting, what is left to tell apart does not matter."""


@dataclass(frozen=True)
class ClaimTest:
    """What a form's test found.

    p_for: of the null that the claim does not hold; p_against: of the null that it does. p_partly:
    of the null that not even its weaker form holds, None where it has none. found: what the data
    say. distance: of the estimate from the edge of the claim in standard errors, and n: trials of a
    setting behind it; both None where more trials are no matter of arithmetic. reason: why nothing
    was tested, empty where it was.
    """

    p_for: float = 1.0
    p_against: float = 1.0
    p_partly: float | None = None
    found: str = ""
    distance: float | None = None
    n: int | None = None
    reason: str = ""


def verdicts(
    tested: Sequence[ClaimTest], confidence: float = CONFIDENCE
) -> list[tuple[Verdict, float | None]]:
    """The verdict on each of the claims of a study, and the confidence in it; None where nothing
    was tested or decided."""
    raw = [
        [
            np.nan if test.reason or p is None else p
            for p in (test.p_for, test.p_against, test.p_partly)
        ]
        for test in tested
    ]
    results: list[tuple[Verdict, float | None]] = []
    corrected = judged(np.array(raw, dtype=float).reshape(-1, len(ASKED)))
    for test, chances in zip(tested, corrected.tolist(), strict=True):
        sure = [(way, 1 - p) for way, p in zip(ASKED, chances, strict=True) if p <= 1 - confidence]
        results.append(sure[0] if sure else ("not_measured" if test.reason else "undecided", None))
    return results


def more_trials(test: ClaimTest, claims: int, confidence: float = CONFIDENCE) -> int | None:
    """Further trials of each setting that would decide, if the truth is what was estimated.

    claims: how many are judged together; each is given its share of the error, as the strictest
    step of Holm does. None where no number does, or more than MOST_TRIALS.
    """
    from scipy.special import ndtri

    if not test.distance or test.n is None:
        return None
    ways = 2 if test.p_partly is None else 3
    wanted = float(ndtri(1 - (1 - confidence) / claims / ways))
    needed = further_trials(test.n, wanted / abs(test.distance))
    return needed if needed <= MOST_TRIALS else None
