import pytest

from deadzone.study.quantity import (
    level_amount,
    parse_rate,
    parse_size,
    plain,
    read_quantity,
    size_text,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("64KiB", 65536), ("20 MB", 20_000_000), ("4 GiB", 2**32), ("1.5 MiB", 1572864),
     ("1kB", 1000)],
)  # fmt: skip
def test_a_size_in_words_is_a_number_of_bytes(text, size):
    assert parse_size(text) == size


NO_SIZES = ("64k", "", "many", "-1", "1.0001 KiB", "1e6", "4 GiB/s")
NO_RATES = ("20 MB", "20 MB in 1", "20 in s", "20 XB in 1 s", "0 MB in 1 s", "20 MB in 0 s")


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [*((parse_size, text, r"64KiB|no whole number") for text in NO_SIZES),
     *((parse_rate, text, r"20 MB in 1 s|above 0") for text in NO_RATES)],
)  # fmt: skip
def test_what_is_no_size_and_no_rate_is_refused_with_the_remedy(read, text, said):
    with pytest.raises(ValueError, match=said):
        read(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (512, "512 B"), (4096, "4 KiB"), (20_000_000, "20 MB"), (20_480_000, "19.5 MiB"),
     (2**31, "2 GiB"), (2**31 - 1, "2.00 GiB"), (0.5, "0.5 B")],
)  # fmt: skip
def test_a_size_is_said_in_the_unit_that_makes_it_shortest(size, text):
    assert size_text(size) == text


def test_a_required_rate_has_a_size_and_a_time():
    assert parse_rate("20 MB in 1 s") == 20e6
    assert parse_rate("1 GiB per 2 min") == pytest.approx(2**30 / 120)
    assert parse_rate("64KiB in 5 ms") == pytest.approx(65536 / 0.005)


@pytest.mark.parametrize(
    ("printed", "number"),
    [("28,893.18", "28893.18"), ("1,234", "1234"), ("0,405", "0.405"), ("0,31", "0.31"),
     ("12,5", "12.5"), ("1,234,567", "1234567"), ("306\u202f721", "306721"),
     ("1234,567", "1234.567"), ("+1,234", "+1234"), ("0,123,456", "0123456")],
)  # fmt: skip
def test_commas_between_thousands_and_before_decimals(printed, number):
    assert plain(printed) == number


@pytest.mark.parametrize("word", ["No Pool", "inter=4 + intra=4", "a=1,b=2", "auto*", "1,2"])
def test_what_is_no_level_with_a_number_is_a_word(word):
    assert level_amount(word) is None


def test_a_level_may_be_a_product_and_no_spread():
    assert level_amount("128 * 3").value == 384
    assert [level_amount(power).value for power in ("2^16", "10 ** 3")] == [65536, 1000]
    assert (read := level_amount("8 (default)")).value == 8 and read.remark == "default"
    assert level_amount("3 ± 1") is None
    assert read_quantity("3 ± fast") is None
