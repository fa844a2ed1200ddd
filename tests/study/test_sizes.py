"""Sizes and rates as people write them."""

from __future__ import annotations

import pytest

from deadzone.study.sizes import parse_rate, parse_size, size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512", 512),
        ("64KiB", 65536),
        ("20 MB", 20_000_000),
        ("4 GiB", 2**32),
        ("1.5 MiB", 1572864),
        ("1kB", 1000),
    ],
)
def test_a_size_in_words_is_a_number_of_bytes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["64k", "", "many", "-1", "1.0001 KiB", "1e6", "4 GiB/s"])
def test_what_is_no_size_is_refused_with_the_remedy(text):
    with pytest.raises(ValueError, match=r"64KiB|no whole number"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (4096, "4 KiB"),
        (20_000_000, "20 MB"),
        (20_480_000, "19.5 MiB"),
        (2**31, "2 GiB"),
        (2**31 - 1, "2.00 GiB"),
        (0.5, "0.5 B"),
    ],
)
def test_a_size_is_said_in_the_unit_that_makes_it_shortest(size, text):
    assert size_text(size) == text


def test_a_required_rate_has_a_size_and_a_time():
    rate = parse_rate("20 MB in 1 s")
    assert (rate.size, rate.within_s, rate.bytes_s) == (20_000_000, 1.0, 20e6)
    assert parse_rate("1 GiB per 2 min").bytes_s == pytest.approx(2**30 / 120)
    assert parse_rate("64KiB in 5 ms").bytes_s == pytest.approx(65536 / 0.005)


@pytest.mark.parametrize(
    "text", ["20 MB", "20 MB in 1", "20 in s", "20 XB in 1 s", "0 MB in 1 s", "20 MB in 0 s"]
)
def test_what_is_no_rate_is_refused_with_the_remedy(text):
    with pytest.raises(ValueError, match=r"20 MB in 1 s|above 0"):
        parse_rate(text)
