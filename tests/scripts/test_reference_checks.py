"""The verdict on a published figure, worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from reference_checks import Check, checks_of, claim_checks, figure

from deadzone.errors import TableError


def check(
    claimed: float, recomputed: float, decimals: int, relation: str = "equals", method: bool = False
) -> Check:
    return Check("study", "table", "cell", "s", "by hand", claimed, recomputed, decimals, relation, method)


@pytest.mark.parametrize(
    ("claimed", "recomputed", "decimals", "relation", "verdict"),
    [
        (3.99, 3.9916, 2, "equals", "agrees"),
        (12.9, 12.85, 1, "equals", "agrees"),
        (4.7, 4.647, 1, "equals", "close"),
        (9.62, 9.6344, 2, "equals", "off"),
        (1.7e6, 1.7045e6, -5, "equals", "agrees"),
        (32, 32.66, 0, "about", "close"),
        (10, 11.5, 0, "about", "off"),
        (10, 11.76, 0, "at_least", "agrees"),
        (10, 7.0, 0, "at_least", "off"),
        (4, 3.3, 0, "at_most", "agrees"),
        (4, 4.4, 0, "at_most", "agrees"),
        (4, 5.67, 0, "at_most", "off"),
    ],
)
def test_a_verdict_goes_by_the_printed_digits(
    claimed: float, recomputed: float, decimals: int, relation: str, verdict: str
):
    assert check(claimed, recomputed, decimals, relation).verdict == verdict


def test_a_question_of_method_outranks_the_arithmetic():
    assert check(1, 1, 0, method=True).verdict == "method"


def test_a_row_keeps_two_digits_more_than_printed():
    row = check(26.04, 49.363333, 2).row()
    assert (row["recomputed"], row["difference"]) == (49.3633, 23.3233)


def test_a_change_is_negative_when_less():
    changes = {c.cell: c.recomputed for c in checks_of("media-server") if c.table == "totals"}
    assert changes["profile=optimised: claimed_heap_change_percent"] == pytest.approx(-87.9, abs=0.05)


def test_a_figure_must_be_unambiguous():
    frame = pd.DataFrame({"threads": [1, 2, 2], "wall_s": [4.0, 3.0, 2.0]})
    assert figure(frame, "wall_s", threads=1) == 4.0
    for threads in (2, 3):
        with pytest.raises(TableError, match="one is needed"):
            figure(frame, "wall_s", threads=threads)


def test_every_claim_needs_a_recomputation():
    with pytest.raises(TableError, match="slowdown-total"):
        claim_checks("pod-cpu-limit", {"slowdown-wall": {"compute": "32.66", "formula": "by hand"}})
