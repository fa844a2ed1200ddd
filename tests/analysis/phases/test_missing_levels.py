import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.phases.fit import fit_phases as fit_curve
from deadzone.analysis.settings.answering import answer
from deadzone.errors import PhaseError
from deadzone.store.tables import read_table

from .test_fit_bad_input import changed, sweep


def with_knob(cell, kind=object):
    return changed(5, "threads", cell, kind)


@pytest.mark.parametrize(
    "cells", [[np.nan, None, pd.NA], ["", " "]], ids=["nothing in the cells", "blank cells"]
)
def test_rows_without_a_level_are_left_out_and_said(cells):
    frame = sweep().astype({"threads": object})
    without = frame.index[5 : 5 + len(cells)]
    frame.loc[without, "threads"] = cells
    model, found = fit_phases(frame, "threads", "wall_s"), answer(frame, "threads", "wall_s")
    said = f"Left out: {len(cells)} of 24 trials, without a value of 'threads'."
    assert model.n_trials == 24 - len(cells) and model.none_level is None
    assert said in model.warnings and said in found.models[()].warnings
    rest = answer(sweep().drop(index=without), "threads", "wall_s")
    assert found.recommend().setting == rest.recommend().setting
    assert Experiment(frame, "threads", "wall_s").levels == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_row_without_the_level_of_another_factor_is_left_out_and_said():
    frame = pd.concat([sweep(machine="A"), sweep(machine="B")], ignore_index=True)
    frame.loc[[5, 6], "machine"] = None
    found = answer(frame, "threads", "wall_s", by=("machine",))
    assert {setting["machine"] for setting in found.candidates["setting"]} == {"A", "B"}
    said = "Left out: 2 of 48 trials, without a value of 'machine'."
    assert said in found.notes
    assert said in fit_phases(frame, "threads", "wall_s", by="machine").warnings


@pytest.mark.parametrize("word", ["none", "None", "unlimited", "max", "inf", "Infinity"])
def test_a_word_means_no_limit_beyond_the_largest_level_in_a_frame_and_in_a_file(word, tmp_path):
    frame = with_knob(word)
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    for table in (frame, read_table(path)):
        model = fit_curve(table, "threads", "wall_s")
        assert model.none_level == pytest.approx(8 * 7 / 6, rel=0.2)
        written = word.lower()
        assert model.levels["label"].iloc[-1] == written
        drawn = f"The level '{written}' of threads is drawn at"
        assert any(drawn in said for said in model.warnings)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "-inf"])
@pytest.mark.parametrize("column", ["threads", "wall_s"])
def test_a_number_too_large_is_refused_in_a_file_with_its_row(text, column, tmp_path):
    frame = sweep().astype({column: str})
    frame.loc[5, column] = text
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    for more in ({}, {"threads": "none"}):  # among words a column is text
        further = pd.DataFrame([{"threads": 9, "wall_s": 1.0, **more}])
        table = pd.concat([read_table(path), further], ignore_index=True)
        with pytest.raises(PhaseError, match=f"'{column}' is infinite in data row 6;"):
            fit_phases(table, "threads", "wall_s")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_knob_in_a_frame_is_refused_with_its_row(value):
    for kind in (float, object):
        with pytest.raises(PhaseError, match="'threads' is infinite in data row 6;"):
            fit_phases(with_knob(value, kind), "threads", "wall_s")


def test_the_command_says_what_was_left_out(fit_of):
    frame = with_knob(np.nan)
    frame.loc[[7, 8], "wall_s"] = np.nan
    said = fit_of(frame.to_csv(index=False), "threads", "wall_s")
    assert "1 of 22 trials, without a value of 'threads'" in said.out
    assert "2 of 24 trials, without a value of 'wall_s'" in said.out
