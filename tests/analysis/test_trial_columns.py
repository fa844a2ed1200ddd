import pandas as pd
import pytest

from deadzone.analysis.trial_columns import marked


@pytest.mark.parametrize("yes", [True, 1, 1.0, "True", "yes", "1"])
def test_booleans_numbers_and_words_mark_alike(yes):
    assert marked(pd.DataFrame({"warmup": [yes]}), "warmup", missing=False).tolist() == [True]


@pytest.mark.parametrize("missing", [True, False])
def test_what_says_nothing_is_what_the_caller_says(missing):
    frame = pd.DataFrame({"trusted": [None, "perhaps", "no"]})
    assert marked(frame, "trusted", missing).tolist() == [missing, missing, False]
    assert marked(frame, "warmup", missing).tolist() == [missing] * 3
