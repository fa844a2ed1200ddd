"""The curve in a terminal."""

from __future__ import annotations

import pandas as pd
import pytest

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.picture import picture, width_of
from deadzone.language.catalogue import speaking


@pytest.fixture(scope="module")
def model():
    trials = pd.DataFrame(
        {"threads": [n for n in (1, 2, 3, 4, 6, 8) for _ in range(3)],
         "wall_s": [8 / min(n, 4) * (1 + 0.01 * i) for n in (1, 2, 3, 4, 6, 8) for i in range(3)]}
    )  # fmt: skip
    return fit_phases(trials, "threads", "wall_s")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_line_is_wider_than_the_terminal(model, width, language):
    with speaking(language):
        lines = picture(model, model.recommend(), width).splitlines()
    assert max(map(width_of, lines[:-1])) <= width
    assert width_of(lines[-1]) <= 80
    assert len(lines) <= 24


def test_phases_are_named_over_their_levels_and_the_setting_marked_below(model):
    top, *_, levels, marks, _ = picture(model, model.recommend(), 80).splitlines()[1:]
    assert top.index("linear") < levels.index("4") < top.index("plateau")
    assert marks.index("▲") == levels.index("4") and marks.count("■") == 2


def test_without_colour_there_is_no_escape_and_in_ascii_nothing_else(model):
    advice = model.recommend()
    assert "\x1b" not in picture(model, advice, 80)
    assert "\x1b[38;5;" in picture(model, advice, 80, coloured=True)
    assert picture(model, advice, 80, plain=True).isascii()
