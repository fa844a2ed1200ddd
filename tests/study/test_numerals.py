"""Numbers as they are printed."""

from __future__ import annotations

import pytest

from deadzone.study.numerals import plain


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("28,893.18", "28893.18"),
        ("1,234", "1234"),
        ("0,405", "0.405"),
        ("0,31", "0.31"),
        ("12,5", "12.5"),
        ("1,234,567", "1234567"),
        ("306\u202f721", "306721"),
        ("1234,567", "1234.567"),
        ("+1,234", "+1234"),
        ("0,123,456", "0123456"),
    ],
)
def test_commas_between_thousands_and_before_decimals(printed, number):
    assert plain(printed) == number
