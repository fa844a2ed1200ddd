import pandas as pd
import pytest

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.picture import picture, width_of
from deadzone.analysis.settings.answering import answer
from deadzone.language.messages import speaking


def repeated(times, knob):
    """Three trials a level, one per cent apart."""
    rows = [(n, t * (1 + 0.01 * i)) for n, t in times.items() for i in range(3)]
    return pd.DataFrame(rows, columns=[knob, "wall_s"])


@pytest.fixture(scope="module")
def model():
    times = {n: 8 / min(n, 4) for n in (1, 2, 3, 4, 6, 8)}
    return fit_phases(repeated(times, "threads"), "threads", "wall_s")


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


def test_without_colour_there_is_no_escape(model):
    advice = model.recommend()
    assert "\x1b" not in picture(model, advice, 80)
    assert "\x1b[38;5;" in picture(model, advice, 80, coloured=True)


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_levels_that_stand_apart_have_their_place_beside_the_curve(width, language):
    """Zero before it, words behind it, each with its estimate; the setting to choose is marked."""
    times = {"0": 3.0, "1": 4.0, "2": 2.0, "4": 1.0, "auto": 0.5}
    found = answer(repeated(times, "threads"), "threads", "wall_s")
    with speaking(language):
        lines = picture(found.models[()], found.recommend(), width).splitlines()
    *curve, levels, marks, legend = lines
    assert max(map(width_of, lines)) <= width and width_of(legend) <= 80 and "◆" in legend
    assert levels.split() == list(times)
    assert marks.index("▲") == pytest.approx(levels.index("auto") + 2, abs=1)
    assert sum(line.count("◆") for line in curve) == 2


def test_the_largest_level_is_written_whole_however_long_it_is():
    times = {512: 8.0, 8192: 2.0, 131072: 1.0, 134217728: 1.0}
    found = answer(repeated(times, "count"), "count", "wall_s")
    for width in (60, 80, 200):
        lines = picture(found.models[()], found.recommend(), width).splitlines()
        assert "134217728" in lines[-3].replace(",", "") and max(map(width_of, lines)) <= width


def test_an_interval_scale_is_drawn_from_its_negative_levels_on():
    times = {-10: 1.0, 0: 1.01, 10: 1.5, 19: 2.2}
    found = answer(repeated(times, "nice"), "nice", "wall_s")
    lines = picture(found.models[()], found.recommend(), 80).splitlines()
    assert lines[-3].split() == ["-10", "0", "10", "19"]
    first, last = (next(i for i, at in enumerate(lines) if mark in at) for mark in ("2.2", "-10"))
    for line in lines[first : last - 2]:
        assert any(0x2800 < ord(letter) < 0x2900 for letter in line)


def test_the_values_beside_the_axis_are_told_apart_however_near_they_are():
    rows = [(n, 53.43 + 0.001 * i) for n in (1, 2, 4) for i in range(n, n + 3)]
    model = fit_phases(pd.DataFrame(rows, columns=["n", "wall_s"]), "n", "wall_s")
    lines = picture(model, model.recommend(), 80).splitlines()
    beside = [line.split("│")[0].strip() for line in lines if "│" in line]
    values = [text for text in beside if text]
    assert len(values) == 4 == len({*values}) and values[0].startswith("53.43")
