import json

import pytest

from deadzone.language.messages import join, speaking
from deadzone.study.reasons import REASONS, reason, reason_of, recorded

NEXT = reason("next", n=3, cost_s=12.0)
SPENT = reason("budget_spent", budget_s=60.0, n=40)


def again(message):
    """A message as it is after a run was written and read."""
    return reason_of(json.loads(json.dumps(recorded(message))))


@pytest.mark.parametrize(
    "message", [NEXT, join([SPENT, NEXT]), reason("in_slice", slice="tool=zstd", said=SPENT)],
)  # fmt: skip
def test_a_reason_is_kept_as_names_and_figures_and_said_again_in_any_language(message):
    assert again(message) == message
    assert str(message) not in json.dumps(recorded(message))
    with speaking("ko"):
        assert again(message) == message.translated("ko") != message


def test_numbers_of_numpy_are_kept_as_numbers():
    import numpy as np

    assert json.loads(json.dumps(recorded(reason("opening", n=np.int64(3), knob="n")))) == {
        "reason": "opening", "n": 3, "knob": "n",
    }  # fmt: skip


def test_sentences_of_older_runs_are_read_as_they_were_written():
    kept = {"en": "To begin with.", "ko": "시작."}
    assert reason_of(kept) == "To begin with."
    with speaking("ko"):
        assert reason_of(kept) == "시작."
        assert reason_of({"en": "To begin with."}) == "To begin with."


def test_a_reason_that_only_a_later_version_knows_is_named():
    assert reason_of({"reason": "of_the_future", "n": 3}) == "of_the_future"
    assert "of_the_future" not in REASONS
