"""Tables that cannot be analysed get a sentence that says so; doubtful ones a warning."""

import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.analysis.phases.prepare import knob_scale
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.errors import PhaseError


def sweep(levels=8, replicates=3, **columns):
    """A clean sweep that pays to the middle level and is flat after it."""
    rng = np.random.default_rng(7)
    x = np.tile(np.arange(1.0, levels + 1), replicates)
    y = 60 / np.minimum(x, levels / 2) * np.exp(0.01 * rng.standard_normal(len(x)))
    return pd.DataFrame({"threads": x, "wall_s": y}).assign(**columns)


def fit(frame, **options):
    return fit_phases(frame, "threads", "wall_s", **options)


def changed(row, column, value, kind=float):
    frame = sweep().astype({column: kind})
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (sweep(1), "has 1 level"),
        (sweep(2), "has 2 level"),
        (sweep(wall_s=3.0), "never changes"),
        (pd.concat([sweep(), sweep()[["wall_s"]]], axis=1), "2 columns named 'wall_s'"),
        (sweep(unit=["s"] * 23 + ["ms"]), "different units"),
        (sweep(threads=np.tile(["small", "medium", "large", "huge"], 6)), "'small'"),
        (sweep(status="failed"), "No trial is left"),
        (sweep().rename(columns={"wall_s": "wal_s"}), "Did you mean `wal_s`"),
        (changed(2, "wall_s", np.inf, object), "infinite in data row 3;"),
        (changed(2, "wall_s", 0.0, object), "must be positive"),
        (changed(2, "wall_s", "fast", object), "'fast' in data row 3\\."),
        ([1, 2, 3], "DataFrame"),
    ],
)
def test_what_cannot_be_analysed_is_refused_with_the_reason(frame, said):
    with pytest.raises(PhaseError, match=said):
        fit(frame)


@pytest.mark.parametrize(
    ("frame", "trials", "said"),
    [
        (changed(2, "wall_s", np.nan), 23, "without a value of"),
        (changed(3, "wall_s", 1e8), 24, "unit"),
        (sweep(replicates=1), 8, "one trial"),
    ],
)
def test_what_is_doubtful_is_fitted_and_said(frame, trials, said):
    model = fit(frame)
    assert model.n_trials == trials
    assert any(said in warning for warning in model.warnings)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: fit(sweep(), goal="minimum"), "'min' or 'max'"),
        (lambda: Thresholds(linear=3.0), "order"),
        (lambda: knob_scale(sweep()["threads"] - 5, "ratio"), "no negative levels such as -4"),
    ],
    ids=["goal", "thresholds out of order", "negative levels on a ratio scale"],
)
def test_what_cannot_be_asked_for_is_refused(asked, said):
    with pytest.raises(PhaseError, match=said):
        asked()


def test_a_time_below_zero_is_a_failed_measurement_and_most_of_them_are_refused():
    frame = changed(2, "wall_s", -1.0)
    model = fit(frame)
    assert model.n_trials == 23 and any("below zero" in warning for warning in model.warnings)
    frame.loc[:15, "wall_s"] = -1.0
    with pytest.raises(PhaseError, match="must be positive"):
        fit(frame)


def test_a_level_of_zero_stands_apart_from_the_positive_ones():
    frame = sweep()
    frame["threads"] -= 1
    model = fit(frame)
    assert model.levels["level"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert any("0 of threads is estimated by itself" in warning for warning in model.warnings)


def test_negative_levels_make_an_interval_scale():
    frame = sweep()
    as_ratio = fit(frame)
    model = fit(frame.assign(threads=frame["threads"] - 5))
    assert model.axis.is_interval and model.levels["level"].min() == -4
    assert model.step_labels[-1] == as_ratio.step_labels[-1] == "plateau"


@pytest.mark.parametrize("spelling", ["none", "None"])
def test_no_limit_is_placed_beyond_the_largest_level_and_said(spelling):
    frame = sweep().astype({"threads": object})
    frame.loc[frame["threads"] == 8.0, "threads"] = spelling
    model = fit(frame)
    assert model.none_level > 7
    assert model.levels["label"].iloc[-1] == "none"
    assert any("none" in warning for warning in model.warnings)


@pytest.mark.parametrize(
    ("column", "bad", "good"),
    [("status", "failed", "ok"), ("warmup", True, False), ("trusted", False, True)],
)
def test_trials_marked_as_unusable_are_left_out_and_counted(column, bad, good):
    frame = sweep().assign(**{column: good}).astype({column: object})
    frame.loc[:2, column] = bad
    frame.loc[:2, "wall_s"] *= 100
    model = fit(frame)
    assert model.n_trials == len(frame) - 3
    assert any("3 of 24 trials" in warning for warning in model.warnings)


def test_untrusted_trials_are_kept_when_asked_for():
    frame = sweep().assign(trusted=[False] * 3 + [True] * 21)
    assert fit(frame, keep_untrusted=True).n_trials == 24


def test_a_measurement_with_as_many_levels_as_trials_is_refused_and_its_classes_are_fitted():
    frame = pd.DataFrame({"x": np.arange(3000) + 1.0, "y": np.exp(np.arange(3000) % 7 / 50)})
    with pytest.raises(PhaseError, match=r"3,000 levels, and a fit takes 2,000 at most.*qcut"):
        fit_phases(frame, "x", "y")
    frame["x"] = pd.qcut(frame["x"], 20).map(lambda part: part.mid)
    assert fit_phases(frame, "x", "y").n_levels == 20
