import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.analysis.phases.prepare import knob_scale
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
    [(sweep(1), "has 1 level"), (sweep(2), "has 2 level"), (sweep(wall_s=3.0), "never changes"),
     (pd.concat([sweep(), sweep()[["wall_s"]]], axis=1), "2 columns named 'wall_s'"),
     (sweep(unit=["s"] * 23 + ["ms"]), "different units"),
     (sweep(threads=np.tile(["small", "medium", "large", "huge"], 6)), "'small'"),
     (sweep(status="failed"), "No trial is left"),
     (changed(2, "wall_s", 0.0, object), "must be positive"),
     (changed(slice(15), "wall_s", -1.0), "must be positive"),
     (changed(2, "wall_s", "fast", object), "'fast' in data row 3\\.")],
)  # fmt: skip
def test_what_cannot_be_analysed_is_refused_with_the_reason(frame, said):
    with pytest.raises(PhaseError, match=said):
        fit(frame)


@pytest.mark.parametrize(
    ("frame", "said"),
    [(changed(3, "wall_s", 1e8), "unit"), (sweep(replicates=1), "one trial")],
    ids=["a number far from all others", "one trial a level"],
)
def test_what_is_doubtful_is_fitted_and_said(frame, said):
    model = fit(frame)
    assert model.n_trials == len(frame)
    assert any(said in warning for warning in model.warnings)


@pytest.mark.parametrize(
    ("asked", "said"),
    [(lambda: fit(sweep(), goal="minimum"), "'min' or 'max'"),
     (lambda: knob_scale(sweep()["threads"] - 5, "ratio"), "no negative levels such as -4")],
    ids=["goal", "negative levels on a ratio scale"],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_refused(asked, said):
    with pytest.raises(PhaseError, match=said):
        asked()


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
