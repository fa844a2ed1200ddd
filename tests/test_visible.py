import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StudyError
from deadzone.language.messages import _, join
from deadzone.visible import visible


@given(st.text())
def test_nothing_is_left_that_a_terminal_obeys_and_the_rest_is_as_it_was(text):
    shown = visible(text)
    assert not [c for c in shown if unicodedata.category(c) == "Cc" and c not in "\t\n"]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert visible(shown) == shown
    if text.isprintable():
        assert shown == text


def test_an_error_and_a_sentence_show_it():
    assert str(StudyError("a\x1b[31mb\r")) == r"a\x1b[31mb\r"
    assert _("{text}.", text="a\x07") == r"a\x07."
    assert join(["a\x1b", "b"]) == r"a\x1b b"
