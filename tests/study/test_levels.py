import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StudyError
from deadzone.study.levels import MOST_LEVELS, fill, format_level, placeholders, range_levels


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


def test_a_placeholder_is_replaced_by_the_level_and_doubled_braces_reach_the_program():
    assert fill("-T{threads}", {"threads": 4}) == "-T4"
    assert fill("{size}:{size}", {"size": 1_099_511_627_776}) == "1099511627776:1099511627776"
    assert fill("{{print $1}} {threads}", {"threads": 2}) == "{print $1} 2"


@pytest.mark.parametrize(
    "template", ["{", "}", "awk {print $1}", "{}", "{0}", "{a.b}", "{a[0]}", "{a!r}", "{a:>3}"]
)
def test_braces_that_mean_nothing_are_refused_with_the_remedy(template):
    with pytest.raises(ValueError, match="braces for the program are doubled"):
        placeholders(template)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(
        StudyError, match=r"\{thread\}.*Did you mean `threads`\?.*Known: `threads`, `scratch"
    ):
        fill("-T{thread}", {"threads": 1, "scratch": "/tmp"})


@given(st.text())
def test_any_text_doubled_is_left_as_it_is(text):
    template = text.replace("{", "{{").replace("}", "}}")
    assert placeholders(template) == ()
    assert fill(template, {}) == text


@given(st.text())
def test_any_text_is_a_template_or_refused(text):
    try:
        names = placeholders(text)
    except ValueError:
        return
    assert fill(text, dict.fromkeys(names, 1)).count("{") <= text.count("{")
