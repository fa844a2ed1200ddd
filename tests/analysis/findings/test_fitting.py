import json

import pandas as pd
import pytest

import deadzone as dz
from deadzone.errors import PhaseError

GOGC = [(-1, 5.1), (50, 9.0), (100, 8.0), (200, 7.0), (400, 6.5)]


def table(levels=GOGC, **more):
    rows = [{"gogc": n, "time_s": s * k, **more} for n, s in levels for k in (1, 1.004)]
    return pd.DataFrame(rows)


def test_a_word_that_is_best_is_recommended_in_python_and_by_the_command(tmp_path, deadzone):
    path = tmp_path / "gogc.csv"
    table().to_csv(path, index=False)
    said = deadzone("fit", path, "--knob", "gogc", "--response", "time_s", "--json")
    assert json.loads(said.out)["recommendation"]["setting"] == -1
    model = dz.fit_phases(dz.read_table(path), "gogc", "time_s")
    assert model.recommend().setting == -1
    assert list(model.levels["level"]) == [50, 100, 200, 400]
    assert "Set gogc -1" in model.plot().get_title()


def test_each_slice_has_its_words(tmp_path):
    frame = pd.concat([table(variant="a"), table([("off", 20.0), *GOGC[1:]], variant="b")])
    advice = dz.fit_phases(frame, "gogc", "time_s", by="variant").recommend()
    assert advice.setting == {"variant": "a", "gogc": -1}
    assert {"variant": "b", "gogc": "off"} in list(advice.table["setting"])


@pytest.mark.parametrize("level", [-1, "-1"])
def test_where_a_level_stands_can_be_said(level):
    assert -1 in list(dz.fit_phases(table(), "gogc", "time_s", at={level: -1}).levels["level"])
    apart = dz.fit_phases(table(), "gogc", "time_s", at={50: "apart"})
    assert 50 not in list(apart.levels["level"])


@pytest.mark.parametrize(
    ("at", "words"),
    [({50: "here"}, "give a number, 'apart'"), ({51: "apart"}, "gogc has no level 51")],
)
def test_a_place_that_cannot_be_is_refused(at, words):
    with pytest.raises(PhaseError, match=words):
        dz.fit_phases(table(), "gogc", "time_s", at=at)


def test_a_level_that_fails_too_often_is_no_part_of_the_curve():
    levels = [(n, 8 / min(n, 8)) for n in (1, 2, 4, 8, 16)]
    frame = pd.concat([table(levels, status="ok")] * 4, ignore_index=True)
    frame.loc[frame.index[frame["gogc"] == 16][:-1], "status"] = "failed"
    model = dz.fit_phases(frame, "gogc", "time_s")
    assert "failures_by_level" in [finding.key for finding in model.findings]
    assert model.levels["level"].tolist() == [1, 2, 4, 8]
