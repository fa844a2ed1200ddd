"""Parameters on the command line: the file first, then -p, then -r and -w."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.cli.parameters import overrides_of
from deadzone.errors import StudyError


def test_later_ones_win(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("replicates: 1\nwarmup: 1\nseed: 9\n")
    given = overrides_of((("replicates", "2"), ("warmup", "2")), file, None, 3)
    assert given == {"replicates": 2, "warmup": 3, "seed": 9}


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("1e6", 1_000_000), ("[1, none]", [1, "none"]),
     ("{from: 1, to: 2, step: 1}", {"from": 1, "to": 2, "step": 1}), ("", ""),
     ("two words", "two words"), ("null", None)],
)  # fmt: skip
def test_values_are_read_as_in_a_study(text, value):
    assert overrides_of((("name", text),), None, None, None) == {"name": value}


@given(st.text())
def test_any_text_is_a_value_or_refused_by_name(text):
    try:
        overrides_of((("title", text),), None, None, None)
    except StudyError as refused:
        assert str(refused).startswith("-p title: ")
