"""The explorer without a browser: what follows from a menu or a slider."""

from __future__ import annotations

import base64
import io
import re
import time
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from deadzone.errors import ReportError
from deadzone.language.messages import speaking
from deadzone.report.explorer.choices import ExplorerTable
from deadzone.report.explorer.curve import open_curve
from deadzone.report.explorer.figure import (
    ACCOUNT_HEIGHT_IN,
    DOTS_AN_INCH,
    HEIGHT_IN,
    draw_curves,
    drawn,
)
from deadzone.report.explorer.widgets import Explorer
from deadzone.style import WIDTH_IN
from deadzone.verbs.exploring import explore

pytest.importorskip("ipywidgets")

MOST_DRAWINGS = 2.5
"""How many bare drawings of as many points an answer to a slider may take: it draws two curves with
their bands, phases and account. How long it takes in seconds, `benchmarks/explorer.py` says."""


def table(levels=8, replicates=3, factor=1.0, seed=0):
    rng = np.random.default_rng(seed)
    threads = np.repeat(np.arange(1, levels + 1), replicates)
    wall = (
        np.where(threads < 5, 40 / threads, 8) * np.exp(rng.normal(0, 0.02, len(threads))) * factor
    )
    frame = pd.DataFrame({"threads": threads, "wall_s": wall, "user_s": wall * 2})
    return ExplorerTable(frame, "threads", "wall_s", ("threads",), {"wall_s": "min"})


@pytest.fixture
def explorer():
    return Explorer(
        {
            "study": {"one": table, "two": lambda: table(factor=1.5, seed=1)},
            "other": {"three": lambda: table(levels=6)},
        }
    )


def shown(explorer):
    """What the figure says to who does not see it."""
    return re.search(r'alt="([^"]+)"', explorer.figure.value)[1]


def size(explorer):
    """Width and height of the picture."""
    data = base64.b64decode(re.search(r"base64,([^\"]+)", explorer.figure.value)[1])
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def test_the_first_run_is_shown_at_once(explorer):
    assert shown(explorer) == "Curve of one. Phases: linear 1-5, plateau 5-8. Second curve: none."
    assert "Set 5" in explorer.words.value and "those of the fit" in explorer.words.value


def test_a_threshold_moves_the_phases(explorer):
    explorer.breakthrough.value = 1.05
    explorer.linear.value = 1.0
    before = shown(explorer)
    explorer.linear.value = 0.25
    assert before != shown(explorer) or "labelled anew" in explorer.words.value


def test_the_tolerance_widens_the_tied_set(explorer):
    explorer.tolerance.value = 1
    few = len(explorer.view.advice.tied)
    explorer.tolerance.value = 45
    assert len(explorer.view.advice.tied) > few
    assert explorer.view.advice.tied[0] == min(explorer.view.advice.tied)


def test_two_runs_share_the_axes(explorer):
    explorer.second.value = "two"
    assert explorer.other.curve.name == "two" and "Second curve: two" in shown(explorer)
    explorer.second.value = ""
    assert "Second curve: none" in shown(explorer)


def test_levels_of_either_run_have_ticks():
    both = Explorer({"s": {"short": lambda: table(levels=6), "long": lambda: table(levels=12)}})
    both.run.value, both.second.value = "short", "long"
    _, ax = plt.subplots()
    draw_curves(ax, both.view, both.other)
    assert {*ax.get_xticks(), *ax.get_xticks(minor=True)} == set(range(1, 13))
    assert [label.get_text() for label in ax.get_xticklabels()][-1] == "12"
    plt.close("all")


def test_a_second_run_without_a_curve_leaves_the_first_one_drawn():
    flat = pd.DataFrame({"threads": [4, 4, 4], "wall_s": [1.0, 1.1, 1.2]})
    both = Explorer(
        {
            "study": {
                "one": table,
                "two": lambda: ExplorerTable(flat, "threads", "wall_s", ("threads",), {}),
            }
        }
    )
    both.second.value = "two"
    assert "Second curve: none" in shown(both) and both.other is None
    assert "two cannot be laid over it" in both.words.value


def test_a_second_run_of_another_knob_is_told_in_a_sentence():
    spikes = pd.DataFrame({"rate": [1, 2, 4] * 2, "wall_s": [1.0, 1.1, 1.2] * 2})
    both = Explorer(
        {
            "study": {
                "one": table,
                "two": lambda: ExplorerTable(spikes, "rate", "wall_s", ("rate",), {}),
            }
        }
    )
    both.second.value = "two"
    assert "Second curve: none" in shown(both)
    assert "Its trials give no curve over threads" in both.words.value


def test_another_response_is_fitted_and_the_menus_follow_the_study(explorer):
    explorer.response.value = "user_s"
    assert explorer.view.model.response == "user_s"
    explorer.study.value = "other"
    assert explorer.run.value == "three" and explorer.view.model.n_levels == 6
    assert explorer.view.model.response == "wall_s"


def test_going_back_fits_nothing_again(explorer):
    first = explorer._curve("one")
    explorer.run.value = "two"
    explorer.run.value = "one"
    assert explorer._curve("one") is first


def test_the_exact_fit_uses_the_sliders(explorer):
    explorer.linear.value = 0.5
    assert "labelled anew" in explorer.words.value
    explorer.exact.click()
    assert "those of the fit" in explorer.words.value
    assert explorer.view.model.thresholds.linear == 0.5


def test_a_curve_that_cannot_be_fitted_is_said_in_words():
    frame = pd.DataFrame(
        {"threads": [1, 2, 3], "wall_s": [1.0, 2.0, 3.0], "user_s": [np.nan, np.nan, 3.0]}
    )
    broken = Explorer(
        {"study": {"one": lambda: ExplorerTable(frame, "threads", "user_s", ("threads",), {})}}
    )
    broken.response.options = [("user", "user_s")]
    assert broken.view is None and broken.figure.value == "" and "level" in broken.words.value
    with pytest.raises(ReportError, match="level"):
        broken.require_view()


def test_a_run_of_two_levels_is_said_to_have_no_curve():
    frame = pd.DataFrame({"threads": [1, 2], "rate": [5, 6], "wall_s": [2.0, 1.0]})
    few = Explorer(
        {"s": {"r": lambda: ExplorerTable(frame, "threads", "wall_s", ("threads", "rate"), {})}}
    )
    assert "No factor of this run has three levels" in few.words.value
    with pytest.raises(ReportError, match="No factor of this run has three levels"):
        few.require_view()


def test_without_anything_to_explore_it_says_how_to_get_something():
    empty = Explorer({})
    assert empty.view is None and "deadzone run" in empty.words.value
    with pytest.raises(ReportError, match="deadzone run"):
        empty.require_view()


def test_ten_thousand_trials_follow_a_slider_in_time():
    big = Explorer({"study": {"one": lambda: table(20, 500), "two": lambda: table(20, 500, 1.2)}})
    big.second.value = "two"
    values = (0.3, 0.35, 0.4, 0.45)
    began = time.process_time()
    for value in values:
        big.linear.value = value
    answers = time.process_time()
    for _ in values:
        draw_barely(big.view.curve.table.trials)
    assert answers - began < MOST_DRAWINGS * (time.process_time() - answers)
    assert len(big.figure.value) < 400_000


def draw_barely(trials):
    """The trials of two runs with a line each, as matplotlib alone draws them."""
    drawing, axes = plt.subplots(2, 1, figsize=(WIDTH_IN, HEIGHT_IN + ACCOUNT_HEIGHT_IN))
    medians = trials.groupby("threads")["wall_s"].median()
    for label in ("one", "two"):
        axes[0].scatter(trials["threads"], trials["wall_s"], label=label)
        axes[0].plot(medians.index, medians, label=f"median of {label}")
    axes[0].set_xticks(medians.index)
    axes[0].legend()
    axes[1].stackplot(medians.index, medians, medians)
    drawing.savefig(io.BytesIO(), format="png", dpi=DOTS_AN_INCH)
    plt.close(drawing)


def test_levels_are_left_out_of_the_fit_and_come_back(explorer):
    whole = explorer.view.model
    explorer.left_out.value = (1, 2)
    assert explorer.view.model.levels["level"].tolist() == [3, 4, 5, 6, 7, 8]
    assert explorer.view.model.n_trials == whole.n_trials - 6
    explorer.left_out.value = ()
    assert explorer.view.model is whole or explorer.view.model.n_levels == 8
    explorer.left_out.value = (1, 2, 3, 4, 5, 6)
    assert explorer.view is None and "level" in explorer.words.value


def test_the_axes_are_logarithmic_where_that_is_chosen(explorer):
    before = explorer.figure.value
    explorer.scale.value = "log"
    assert explorer.figure.value != before and shown(explorer)


def test_a_level_that_stands_apart_is_drawn_and_may_be_the_setting():
    rows = table(4, 3).trials
    rows["threads"] = rows["threads"].astype(object)
    off = rows[rows["threads"] == 1].assign(threads="auto", wall_s=lambda rows: rows["wall_s"] / 50)
    both = replace(table(), trials=pd.concat([rows, off]))
    curve = open_curve("one", both, "threads", "wall_s")
    for view in (
        one.under(curve.model.thresholds, 0.03)
        for one in (curve, curve.refitted(curve.model.thresholds))
    ):
        assert view.advice.setting == "auto" and "<img" in drawn(view)


def test_names_of_runs_cannot_become_markup(explorer):
    curve = open_curve("<b>&", table(), "threads", "wall_s")
    assert "<b>" not in drawn(curve.under(curve.model.thresholds, 0.03))


def test_it_speaks_korean_and_starts_where_it_is_asked_to(home):
    with speaking("ko"):
        started = explore("thread-pools/outbound", lang="ko")
        assert (started.study.value, started.run.value) == ("thread-pools", "outbound")
        assert (
            started.linear.description == "선형 하한"
            and "역전" in started.figure.value + started.words.value
        ) or started.view
    with speaking("en"), pytest.raises(ReportError, match="Languages are"):
        explore(lang="xx")


def test_a_run_with_its_account_of_time_shows_where_it_went_and_what_limits_each_phase():
    frame = table().trials
    waits = dict.fromkeys(
        ("throttled_wait_s", "disk_wait_s", "memory_wait_s", "network_wait_s"), 0.0
    )
    busy, told = frame["user_s"], {**waits, "sys_s": 0.0, "running_s": frame["user_s"]}
    idle = (frame["threads"] * frame["wall_s"] - busy).clip(lower=0.0)
    told |= {
        "ready_s": idle,
        "asleep_s": 0.5 * frame["wall_s"],
        "threads_s": busy + idle + 0.5 * frame["wall_s"],
    }
    with_account = ExplorerTable(
        frame.assign(**told), "threads", "wall_s", ("threads",), {"wall_s": "min"}
    )
    explorer = Explorer({"study": {"one": lambda: with_account, "two": table}})
    assert len(explorer.view.curve.account.columns) == 3
    assert explorer.view.curve.account.columns.name.startswith("thread time per unit of work")
    with_panel = size(explorer)
    assert (
        "what limits" in explorer.words.value
        and "threads are ready and find no core" in explorer.words.value
    )
    once = explorer.view.why
    explorer.tolerance.value = 20
    assert explorer.view.why is once
    explorer.run.value = "two"
    assert size(explorer)[1] < with_panel[1] and "what limits" not in explorer.words.value
