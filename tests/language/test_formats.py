import pytest

from deadzone.language.formats import (
    change,
    date,
    exact,
    number,
    p_equals,
    particle,
    percent,
    probability,
    spaced,
)


@pytest.mark.parametrize(
    ("word", "pair", "expected"),
    [("곡선", "은/는", "은"), ("코어", "은/는", "는"), ("12코어", "을/를", "를"),
     ("구간(4~6)", "이/가", "이"), ("64 KiB", "을/를", "를"), ("10", "을/를", "을"),
     ("2", "이/가", "가"), ("서울", "으로/로", "로"),
     ("99 %", "으로/로", "로"), ("3.48 s", "으로/로", "로")],
)  # fmt: skip
def test_korean_particles_fit_the_sound_before_them(word, pair, expected):
    assert particle(word, pair) == expected


@pytest.mark.parametrize(
    ("written", "value", "english", "korean"),
    [(date, "2026-11-21T08:21:55+00:00", "21 November 2026", "2026년 11월 21일"),
     (date, "unknown", "unknown", "unknown"), (percent, 0.14, "14 %", "14%"),
     (percent, 2.99, "299 %", "299%"), (percent, 6.04, "7.04 times", "7.04배")],
)  # fmt: skip
def test_dates_and_shares_are_written_as_the_reader_expects(written, value, english, korean):
    assert (written(value, "en"), written(value, "ko")) == (english, korean)


@pytest.mark.parametrize(
    ("value", "uncertainty", "expected"),
    [(0.9996, None, "1.00"), (15234.0, None, "15,200"), (1e12, None, "1,000,000,000,000"),
     (0.0000123, None, "0.0000123"), (2.5e-12, None, "2.50e-12"), (-0.0124, 0.052, "-0.012"),
     (1234.0, 3000.0, "1,200"), (-0.001, 0.5, "0"), (0.0712, 0.36, "0.07"), (0.0, 1.0, "0"),
     (float("inf"), None, "∞"), (float("nan"), None, "-")],
)  # fmt: skip
def test_an_estimate_has_three_digits_or_those_that_its_uncertainty_leaves(
    value, uncertainty, expected
):
    assert number(value, uncertainty) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(65536.0, "65,536"), (2.125, "2.125"), (-0.0, "0"), (1e15, "1,000,000,000,000,000")],
)
def test_a_setting_keeps_all_of_its_digits(value, expected):
    assert exact(value) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.12, "+12 %"), (0.004, "+0.4 %"), (-0.031, "-3.1 %"), (-0.0004, "0 %"), (0.0004, "0 %"),
     (2.99, "+299 %"), (31.5, "32.5 times"), (-0.96, "0.0400 times")],
)  # fmt: skip
def test_a_change_has_its_sign_and_a_large_one_is_a_multiple(share, expected):
    assert change(share, "en") == expected


@pytest.mark.parametrize(
    ("p", "expected"), [(0.004, "<1 %"), (0.05, "5 %"), (0.97, "97 %"), (0.999, ">99 %")]
)
def test_a_probability_ends_in_bounds(p, expected):
    assert probability(p, "en") == expected


def test_a_p_value_in_a_sentence_is_a_number_or_a_bound():
    assert p_equals(0.0123) == "p = 0.012"
    assert p_equals(1e-9) == "p < 0.001"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,600 requests/s", "1600 requests/s"),
     ("15,632 ms and 20,480,000 bytes.", "15\u202f632 ms and 20\u202f480\u202f000 bytes."),
     ("-12,345.5", "-12\u202f345.5"), ("171, 373, 513", "171, 373, 513"),
     ("1,2,3 and 10,20", "1,2,3 and 10,20"), ("v1,234,5", "v1,234,5")],
)  # fmt: skip
def test_on_a_page_long_numbers_have_thin_spaces(text, expected):
    assert spaced(text) == expected
