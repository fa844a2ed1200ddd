"""Templates: {name} is replaced, doubled braces are the program's own, anything else is a slip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StudyError
from deadzone.study.levels import fill, placeholders


def test_a_placeholder_is_replaced_by_the_level():
    assert fill("-T{threads}", {"threads": 4}) == "-T4"
    assert fill("{size}:{size}", {"size": 1_099_511_627_776}) == "1099511627776:1099511627776"


def test_doubled_braces_reach_the_program():
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
