"""How numbers, dates and Korean particles are written."""

from __future__ import annotations

import pytest

from deadzone.language.formats import date, date_and_time, particle, percent


@pytest.mark.parametrize(
    ("word", "pair", "expected"),
    [
        ("곡선", "은/는", "은"),
        ("코어", "은/는", "는"),
        ("12코어", "을/를", "를"),
        ("구간(4~6)", "이/가", "이"),
        ("64 KiB", "을/를", "를"),
        ("10", "을/를", "을"),
        ("2", "이/가", "가"),
        ("서울", "으로/로", "로"),
        ("99 %", "으로/로", "로"),
        ("3.48 s", "으로/로", "로"),
    ],
)
def test_korean_particles_fit_the_sound_before_them(word, pair, expected):
    assert particle(word, pair) == expected


def test_numbers_and_dates_are_written_as_the_reader_expects():
    moment = "2026-11-21T08:21:55+00:00"
    assert date(moment, "en") == "21 November 2026"
    assert date(moment, "ko") == "2026년 11월 21일"
    assert date_and_time(moment, "en") == "21 November 2026, 08:21 UTC"
    assert date("unknown", "en") == "unknown"
    assert percent(0.021, "en") == "2.1 %"
    assert percent(0.14, "ko") == "14%"
    assert percent(2.99, "en") == "299 %"
    assert percent(12.34, "en") == "13 times"
    assert percent(6.04, "ko") == "7.0배"
