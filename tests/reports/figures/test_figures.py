"""Curves and outlines of reports."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from deadzone import fit_phases
from deadzone.reports.figures.curves import curve_figure, phases_table, phases_text, tied_text
from deadzone.reports.figures.heat_map import outline
from deadzone.store.reference import load_reference


@pytest.fixture(scope="module")
def model():
    return fit_phases(load_reference("ffmpeg-threads", "limit-equals-threads"), "cpu_limit", "wall_s")


def test_a_region_is_outlined_only_where_it_ends():
    _, ax = plt.subplots()
    outline(ax, np.array([[True, True], [False, True]]))
    assert len(ax.lines) == 8
    plt.close()


def test_a_curve_is_captioned_by_its_finding_and_described_by_its_phases(model):
    figure = curve_figure(model, model.recommend(), "response", is_face=True)
    assert "12" in figure.caption and figure.caption.endswith(".") and figure.is_face
    assert "dead zone 4-6" in figure.description
    assert phases_text(model).startswith("linear 1-4, dead zone 4-6")
    assert tied_text(model, model.recommend()) == "5 of 16"


def test_phases_can_be_pointed_to(model):
    table = phases_table(model, "phases")
    assert table.row_ids == ["1", "2", "3", "4", "5"] and table.rows[1][:2] == ["4-6", "dead zone"]
