import itertools
import re
from functools import cache

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.settings.answering import answer
from deadzone.store.reference import load_reference
from deadzone.style import PHASE_STYLES


@pytest.fixture(scope="module")
def five_phases():
    curve = load_reference("ffmpeg-threads", "limit-equals-threads")
    return fit_phases(curve, "cpu_limit", "wall_s")


@pytest.fixture(scope="module")
def drawn(five_phases):
    """The figure of them in a size, drawn once: tests only look at it."""

    @cache
    def draw(*size):
        ax = five_phases.plot(figsize=size) if size else five_phases.plot()
        plt.close(ax.figure)  # as after any test, which takes its canvas
        FigureCanvasAgg(ax.figure).draw()
        return ax

    return draw


def sweep(truth, levels, replicates=3, noise=0.01, knob="threads", response="wall_s"):
    rng = np.random.default_rng(2)
    x, y = (np.tile(np.asarray(of, float), replicates) for of in (levels, truth))
    return pd.DataFrame({knob: x, response: y * np.exp(noise * rng.standard_normal(len(x)))})


def phase_names(ax):
    names = {style.name for style in PHASE_STYLES.values()}
    return [text for text in ax.texts if text.get_text() in names]


def boxes(ax, texts):
    renderer = ax.figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in texts]


@pytest.mark.parametrize("size", [(4.0, 3.4), (11.0, 4.5)])
def test_names_of_phases_lie_apart_above_the_data_and_nothing_is_cut_off(five_phases, drawn, size):
    ax = drawn(*size)
    names = phase_names(ax)
    said = [text.get_text() for text in names]
    assert said == ["linear", "dead zone", "linear", "breakthrough", "plateau"]
    shown, frame = boxes(ax, names), ax.get_window_extent()
    assert not any(one.overlaps(other) for one, other in itertools.combinations(shown, 2))
    for box in shown:
        assert frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1
    highest = max(ax.transData.transform((1.0, y))[1] for y in five_phases.levels["fitted_high"])
    assert highest < min(box.y0 for box in shown)
    tight = ax.figure.get_tightbbox(ax.figure.canvas.get_renderer())
    assert tight.x0 >= -0.02 and tight.y0 >= -0.02
    assert tight.x1 <= size[0] + 0.02 and tight.y1 <= size[1] + 0.02


def test_every_trial_is_a_point_and_flagged_ones_are_hollow():
    frame = sweep(60 / np.minimum(np.arange(1, 13), 6), range(1, 13))
    frame.loc[7, "wall_s"] = 45.0
    ax = fit_phases(frame, "threads", "wall_s").plot()
    points = {c.get_label(): c for c in ax.collections}
    flagged = points["trial flagged as outlier"]
    assert len(points["trial"].get_offsets()) + len(flagged.get_offsets()) == 36
    assert flagged.get_offsets().tolist()[0] == pytest.approx([8.0, 45.0])
    assert len(flagged.get_facecolor()) == 0


def test_phases_have_the_colours_and_hatches_of_the_project(five_phases, drawn):
    ax = drawn()
    colours = [to_hex(patch.get_facecolor()) for patch in ax.patches if patch.get_fill()]
    assert colours == [PHASE_STYLES[label].colour.lower() for label in five_phases.phases["label"]]
    hatches = [patch.get_hatch() for patch in ax.patches if patch.get_hatch()]
    assert hatches == [PHASE_STYLES["dead_zone"].hatch, PHASE_STYLES["plateau"].hatch]


def test_axes_have_units_and_levels_and_the_recommended_setting_and_the_tied_are_marked(
    five_phases, drawn
):
    ax, advice = drawn(), five_phases.recommend()
    marks = {c.get_label(): c.get_offsets() for c in ax.collections}
    assert marks[f"recommended: {advice.setting} cores"][0][0] == advice.setting
    assert marks["not told apart from the best"][:, 0].tolist() == list(advice.tied)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("CPU limit (cores)", "wall time (s)")
    ticks = [text.get_text() for text in ax.get_xticklabels()]
    assert ticks == [str(level) for level in range(1, 17)] and ax.get_xscale() == "linear"
    assert not any("10^" in text.get_text() for text in ax.get_yticklabels())


def test_labels_of_ticks_do_not_overlap_with_many_levels():
    levels = np.arange(1, 31) * 0.25
    model = fit_phases(sweep(20 / np.minimum(levels, 4), levels), "threads", "wall_s")
    ax = model.plot(figsize=(4, 3))
    ax.figure.canvas.draw()
    shown = boxes(ax, [text for text in ax.get_xticklabels() if text.get_text()])
    assert len(shown) >= 6
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(shown))


def test_the_title_says_the_finding_and_fits(five_phases, drawn):
    ax = drawn(4.0, 3.4)
    title = ax.title
    words = re.sub(r"\s", " ", title.get_text())
    assert words.startswith("Set 12 cores: ")
    assert re.sub(r"\s", " ", five_phases.recommend().reason).startswith(f"{words}.")
    assert boxes(ax, [title])[0].x1 <= ax.figure.bbox.x1


def test_a_title_of_ones_own_or_none_takes_the_place_of_the_finding_later_too(five_phases):
    assert five_phases.plot(title="Mine").get_title() == "Mine"
    assert five_phases.plot(title="").get_title() == ""
    _, ax = plt.subplots()
    five_phases.plot(ax=ax)
    ax.set_title("Mine")
    ax.figure.canvas.draw()
    said = [slot.get_text() for slot in (ax.title, ax._left_title, ax._right_title)]
    assert said == ["Mine", "", ""]
    (box,) = boxes(ax, [ax.title])
    assert abs(box.x0 + box.x1 - ax.bbox.x0 - ax.bbox.x1) < 4


def test_two_curves_lie_over_each_other_in_colours_of_their_own(five_phases):
    _, ax = plt.subplots()
    for color, label in (("crimson", "before"), ("navy", "after")):
        assert five_phases.plot(ax=ax, color=color, label=label) is ax
    named = [line for line in ax.lines if line.get_label() in ("before", "after")]
    assert [line.get_color() for line in named] == ["crimson", "navy"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before", "after"]
    assert not phase_names(ax) and not ax.get_title()


def test_a_grid_of_seaborn_draws_a_model_in_each_facet():
    import seaborn as sns

    truths = {"a": [10, 5, 5, 5], "b": [8, 4, 2, 2]}  # geometric levels have a log axis
    curves = [sweep(truth, [1, 2, 4, 8]).assign(tool=tool) for tool, truth in truths.items()]

    def draw(data, **look):
        fit_phases(data, "threads", "wall_s").plot(ax=plt.gca(), **look)

    grid = sns.FacetGrid(pd.concat(curves), col="tool", hue="tool")
    grid.map_dataframe(draw)
    assert [ax.get_title() for ax in grid.axes.flat] == ["tool = a", "tool = b"]
    assert all(ax.lines and ax.get_xscale() == "log" for ax in grid.axes.flat)


def test_no_limit_is_a_named_tick():
    frame = sweep([40, 20, 10, 7, 7, 7], [1, 2, 4, 6, 8, 16], knob="cpu_limit")
    frame["cpu_limit"] = frame["cpu_limit"].astype(object).where(frame["cpu_limit"] != 16, "none")
    ax = fit_phases(frame, "cpu_limit", "wall_s").plot()
    assert ax.get_xticklabels()[-1].get_text() == "no limit"


def test_a_backend_that_draws_files_alone_draws_it_too(five_phases, tmp_path):
    before = plt.get_backend()
    plt.switch_backend("svg")
    try:
        ax = five_phases.plot()
        ax.figure.savefig(tmp_path / "figure.svg")
    finally:
        plt.switch_backend(before)
    assert len(phase_names(ax)) == len(five_phases.phases)


def test_axes_of_the_caller_are_used():
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    model = fit_phases(sweep([10, 5, 5], [1, 2, 4]), "threads", "wall_s")
    assert model.plot(ax=left) is left
    assert not right.has_data()
    assert plt.get_fignums() == [figure.number]


def test_levels_that_stand_apart_are_drawn_beside_the_curve_with_their_intervals():
    times = {"0": 3.0, "1": 4.0, "2": 2.0, "4": 1.0, "auto": 0.5}
    rng = np.random.default_rng(1)
    rows = [
        (n, t * np.exp(0.01 * rng.standard_normal())) for n, t in times.items() for _ in range(4)
    ]
    frame = pd.DataFrame(rows, columns=["threads", "wall_s"])
    found = answer(frame, "threads", "wall_s")
    ax = found.models[()].plot(advice=found.recommend())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(times)
    assert (ticks := ax.get_xticks())[0] < 1 and ticks[-1] > 4
    labels = ax.get_legend_handles_labels()[1]
    assert labels.count("apart from the curve, with its interval") == 1
    assert "recommended: threads auto" in labels
    estimates = [float(bar.lines[0].get_ydata()[0]) for bar in ax.containers]
    assert estimates == pytest.approx([3.0, 0.5], rel=0.02)


@cache
def falling(*levels):
    """The fit of a curve that falls in proportion to its levels."""
    return fit_phases(sweep(1 / np.array(levels), levels), "threads", "wall_s")


@pytest.mark.parametrize("first", ["black", None])
def test_curves_over_each_other_keep_the_labels_of_all_their_levels(first):
    _, ax = plt.subplots(figsize=(8, 4))
    falling(3, 5, 7, 9).plot(ax=ax, color="black")
    ax.clear()
    falling(1, 2, 8, 32).plot(ax=ax, color=first)
    falling(1, 4, 8, 16).plot(ax=ax, color="crimson")
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4", "8", "16", "32"]
