"""The verdicts on claims: every claim has a test in each direction, that it holds (the null: it
does not), and that it does not (the null: it does), and all claims of a study are judged together
(`hypothesis_tests.holm`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, judged

Verdict = Literal["supported", "partly", "undecided", "contradicted", "not_measured"]
"""supported: the data show it. partly: a part of it, or with a reservation. undecided: the data can
neither show nor refute it. contradicted: the data show otherwise. not_measured: nothing that was
measured speaks of it."""

ASKED: tuple[Verdict, ...] = ("supported", "contradicted", "partly")
"""The verdicts that a test can give, the first that is sure counts."""


@dataclass(frozen=True)
class ClaimTest:
    """What a form's test found.

    p_for: of the null that the claim does not hold; p_against: of the null that it does. p_partly:
    of the null that not even its weaker form holds, None where it has none. found: what the data
    say. reason: why nothing was tested, empty where it was.
    """

    p_for: float = 1.0
    p_against: float = 1.0
    p_partly: float | None = None
    found: str = ""
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
