import math

import pytest

from deadzone.analysis.compare.ratio import BETTER, NO_CHANGE, UNDECIDED, WORSE, verdict

LIMITS = {"threshold": 0.03, "confidence": 0.95}


def _row(*numbers):
    names = ("ratio", "ratio_low", "ratio_high", "p_adjusted", "p_equivalence_adjusted")
    return {**dict(zip(names, numbers, strict=True)), "is_within": True}


@pytest.mark.parametrize(
    ("ratio", "low", "high", "p_change", "p_same", "word"),
    [
        (1.10, 1.05, 1.15, 0.001, 0.9, WORSE),
        (0.90, 0.85, 0.95, 0.001, 0.9, BETTER),
        (1.03, 1.01, 1.05, 0.001, 0.9, WORSE),  # the threshold itself matters
        (1.10, 0.99, 1.20, 0.001, 0.9, UNDECIDED),  # the interval holds no change
        (1.10, 1.05, 1.15, 0.060, 0.9, UNDECIDED),  # the test shows none
        (1.01, 1.005, 1.015, 0.001, 0.01, NO_CHANGE),  # shown, and too small to matter
        (1.02, 1.01, 1.04, 0.001, 0.20, UNDECIDED),
        (1.00, 0.90, 1.10, 0.900, 0.50, UNDECIDED),  # not significant is not the same
        (1.10, math.nan, math.nan, 0.001, 0.9, UNDECIDED),
        (math.nan, math.nan, math.nan, 1.0, 0.001, UNDECIDED),
    ],
)
def test_each_verdict_needs_its_evidence(ratio, low, high, p_change, p_same, word):
    row = _row(ratio, low, high, p_change, p_same)
    assert verdict({**row, "goal": "min"}, **LIMITS) == word
    opposite = {BETTER: WORSE, WORSE: BETTER}.get(word, word)
    assert verdict({**row, "goal": "max"}, **LIMITS) == opposite


def test_an_interval_beyond_the_margin_is_not_the_same():
    row = _row(1.02, 0.99, 1.05, 0.2, 0.01)
    assert verdict({**row, "is_within": False, "goal": "min"}, **LIMITS) == UNDECIDED
