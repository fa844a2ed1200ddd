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


def changed(column, row, value, **columns):
    """A sweep with another value in a row, or at all rows up to one of a slice."""
    frame = sweep(**columns).astype({column: object})
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (changed("wall_s", 2, np.inf), "infinite in data row 3;"),
        (changed("wall_s", 2, 0.0), "must be positive"),
        (changed("wall_s", 2, "fast"), "'fast' in data row 3\\."),
        (changed("wall_s", slice(15), -1.0), "must be positive"),  # most are below zero
        (changed("unit", 3, "ms", unit="s"), "different units"),
        (sweep(1), "has 1 level"),
        (sweep(2), "has 2 level"),
        (sweep(wall_s=3.0), "never changes"),
        (pd.concat([sweep(), sweep()[["wall_s"]]], axis=1), "2 columns named 'wall_s'"),
        (sweep(threads=np.tile(["small", "medium", "large", "huge"], 6)), "'small'"),
        (sweep(status="failed"), "No trial is left"),
        ([1, 2, 3], "DataFrame"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_a_table_that_cannot_be_fitted_is_refused_with_what_is_wrong_of_it(table, said):
    with pytest.raises(PhaseError, match=said):
        fit(table)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fit_phases(sweep(), "threads", "wal_s"), "Did you mean 'wall_s'"),
        (lambda: fit(sweep(), goal="minimum"), "'min' or 'max'"),
        (lambda: Thresholds(linear=3.0), "order"),
        (lambda: knob_scale(sweep()["threads"] - 5, "ratio"), "no negative levels such as -4"),
    ],
    ids=["column", "goal", "thresholds", "scale"],
)
def test_what_is_asked_wrongly_is_refused(call, said):
    with pytest.raises(PhaseError, match=said):
        call()


@pytest.mark.parametrize(
    ("table", "n_trials", "said"),
    [
        (changed("wall_s", 2, -1.0), 23, "below zero"),
        (changed("wall_s", 2, np.nan), 23, "no value of"),
        (changed("wall_s", 3, 1e9), 24, "unit"),
        (changed("status", slice(2), "failed", status="ok"), 21, "3 of 24 trials"),
        (changed("warmup", slice(2), True, warmup=False), 21, "3 of 24 trials"),
        (changed("trusted", slice(2), False, trusted=True), 21, "3 of 24 trials"),
        (sweep(replicates=1), 8, "one trial"),
    ],
)
def test_what_is_doubtful_or_left_out_is_said(table, n_trials, said):
    model = fit(table)
    assert model.n_trials == n_trials
    assert any(said in warning for warning in model.warnings)


def test_untrusted_trials_are_kept_when_asked_for():
    frame = sweep().assign(trusted=[False] * 3 + [True] * 21)
    assert fit(frame, keep_untrusted=True).n_trials == 24


def test_a_level_of_zero_stands_apart_from_the_positive_ones():
    frame = sweep()
    frame["threads"] -= 1
    model = fit(frame)
    assert model.levels["level"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert any("0 of threads stands apart" in warning for warning in model.warnings)


def test_negative_levels_make_an_interval_scale():
    model = fit(sweep().assign(threads=lambda t: t["threads"] - 5))
    assert model.axis.is_interval and model.levels["level"].min() == -4
    assert model.step_labels[-1] == fit(sweep()).step_labels[-1] == "plateau"


@pytest.mark.parametrize("spelling", ["none", "None"])
def test_no_limit_is_placed_beyond_the_largest_level_and_said(spelling):
    frame = sweep().astype({"threads": object})
    frame.loc[frame["threads"] == 8.0, "threads"] = spelling
    model = fit(frame)
    assert model.none_level > 7
    assert model.levels["label"].iloc[-1] == "none"
    assert any("none" in warning for warning in model.warnings)


def test_a_measurement_with_as_many_levels_as_trials_is_refused_and_its_classes_are_fitted():
    frame = pd.DataFrame({"x": np.arange(3000) + 1.0, "y": np.exp(np.arange(3000) % 7 / 50)})
    with pytest.raises(PhaseError, match=r"3,000 levels, and a fit takes 2,000 at most.*qcut"):
        fit_phases(frame, "x", "y")
    frame["x"] = pd.qcut(frame["x"], 20).map(lambda part: part.mid)
    assert fit_phases(frame, "x", "y").n_levels == 20
