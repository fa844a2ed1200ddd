"""Levels: ranges counted in decimal, numbers written in full."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.study.levels import MOST_LEVELS, format_level, is_number, range_levels, scale_level


def test_steps_of_a_tenth_give_what_a_person_would_write():
    assert range_levels(0.1, 0.5, 0.1) == (0.1, 0.2, 0.3, 0.4, 0.5)


def test_the_end_is_left_out_where_the_step_misses_it():
    assert range_levels(1, 6, 2) == (1, 3, 5)


@pytest.mark.parametrize(
    ("start", "stop", "step", "words"),
    [(1, 4, 0, "positive"), (1, 4, -1, "positive"), (4, 1, 1, "below from"),
     (0, 1, 1e-9, "levels; at most")],
)  # fmt: skip
def test_a_range_without_levels_or_with_too_many_is_refused(start, stop, step, words):
    with pytest.raises(ValueError, match=words):
        range_levels(start, stop, step)


@given(
    st.decimals(0, 1000, places=3),
    st.decimals("0.001", 100, places=3),
    st.integers(0, MOST_LEVELS - 1),
)
def test_a_range_has_its_ends_and_every_step_between(start, step, count):
    levels = range_levels(float(start), float(start + step * count), float(step))
    assert len(levels) == count + 1
    assert levels[0] == float(start)
    assert levels[-1] == float(start + step * count)


@pytest.mark.parametrize(
    ("level", "text"),
    [(4, "4"), (4.0, "4"), (0.25, "0.25"), (1_099_511_627_776, "1099511627776"),
     (1_234_567.125, "1234567.125"), ("none", "none"), ("4k", "4k")],
)  # fmt: skip
def test_every_digit_of_a_level_reaches_the_program(level, text):
    assert format_level(level) == text


@given(st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_number_written_and_read_is_the_same_number(level):
    assert float(format_level(level)) == float(level)


def test_multiplying_leaves_words_alone_and_rounds_away_the_dirt_of_floats():
    assert scale_level("none", 2) == "none"
    assert scale_level(0.1, 3) == 0.3
    assert scale_level(0.5, 2) == 1
    assert scale_level(1_099_511_627_777, 1.0) == 1_099_511_627_777


@pytest.mark.parametrize("thing", [True, float("nan"), float("inf"), 10**400, "4", None])
def test_what_is_no_number(thing):
    assert not is_number(thing)
