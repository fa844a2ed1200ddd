"""Which of two knobs pays where: surfaces worked out by hand, what must not change a fit, bad
input, the published table."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deadzone
from deadzone.analysis.surfaces.fitting import fit_surface, surface_of
from deadzone.analysis.surfaces.reading import paying, shown
from deadzone.analysis.surfaces.result import PAYS
from deadzone.errors import PhaseError
from deadzone.store.reference import load_reference

KNOBS = ("limit", "threads")
LIMITS, THREADS = (1, 2, 4, 8), (1, 2, 3, 4, 6, 8)
quick = settings(suppress_health_check=[HealthCheck.too_slow])


def scarcer(limit, threads):
    """Ten seconds of work on as many cores as both allow, six at most."""
    return 10 / min(limit, threads, 6)


def additive(limit, threads):
    """Either pays wherever the other stands; threads up to four."""
    return 10 * limit**-0.8 * min(threads, 4) ** -0.7


def crowded(limit, threads):
    """Only the limit pays, and every further thread costs a third of a doubling."""
    return 10 * threads**0.35 / limit


def table(truth, limits=LIMITS, threads=THREADS, noise=0.02, replicates=3, seed=1):
    rng = np.random.default_rng(seed)
    rows = [(a, b, truth(a, b) * np.exp(noise * rng.standard_normal())) for a, b in product(limits, threads)  # noqa: E501
            for _ in range(replicates)]  # fmt: skip
    return pd.DataFrame(rows, columns=[*KNOBS, "wall_s"])


def fit(frame, goal="min"):
    return fit_surface(frame, KNOBS, "wall_s", goal)


@cache
def fitted(truth):
    return fit(table(truth))


def pays(result):
    cells = result.cells[[*result.knobs, "pays"]].itertuples(index=False, name=None)
    return {(a, b): result.part(what) for a, b, what in cells}


def test_the_scarcer_of_two_limits_pays():
    result = fitted(scarcer)
    assert result.family == "minimum" and result.families["minimum"] > 0.99
    said = pays(result)
    assert {cell for cell, what in said.items() if what == "a"} == {
        (a, b) for a, b in product(LIMITS[:3], THREADS) if a < b
    }
    assert {cell for cell, what in said.items() if what == "b"} == {
        (a, b) for a, b in product(LIMITS, THREADS[:-1]) if b < min(a, 6)
    }
    assert {cell for cell, what in said.items() if what == "both"} == {(1, 1), (2, 2), (4, 4)}
    assert said[8, 6] == "none" and said[8, 8] == ""


def test_the_ridge_says_how_many_threads_each_limit_can_use():
    ridge = fitted(scarcer).ridge
    assert ridge["threads"].tolist() == [1, 2, 4, 6]
    assert (ridge["threads_low"] <= ridge["threads"]).all() and (
        ridge["threads"] <= ridge["threads_high"]
    ).all()
    assert not ridge["to_the_end"].any()


def test_elasticities_are_those_of_the_surface_with_intervals_that_hold_them():
    cells = fitted(additive).cells
    first, second = cells["limit"] < 8, cells["threads"] < 4
    assert np.allclose(cells["limit_elasticity"][first], 0.8, atol=0.1)
    assert np.allclose(cells["threads_elasticity"][second], 0.7, atol=0.15)
    assert cells["limit_elasticity"][~first].isna().all()
    held = (cells["limit_elasticity_low"] <= 0.8) & (cells["limit_elasticity_high"] >= 0.8)
    assert held[first].mean() > 0.6


def test_additive_knobs_pay_each_by_itself_and_the_ridge_is_straight():
    result = fitted(additive)
    said = pays(result)
    assert result.family == "additive"
    assert all(said[a, b] == "either" for a, b in product(LIMITS[:3], THREADS[:3]))
    assert all(said[a, b] == "a" for a, b in product(LIMITS[:3], (4, 6, 8)))
    assert set(result.ridge["threads"]) == {4}


def test_what_costs_is_harm_where_nothing_else_pays():
    said = pays(fitted(crowded))
    assert all(said[8, b] == "harm" for b in THREADS[:-1])
    assert all(said[a, b] == "a" for a, b in product(LIMITS[:3], THREADS))


def test_regions_hold_every_cell_that_is_named_and_are_of_one_kind():
    result = fitted(scarcer)
    named = result.cells[result.cells["pays"] != ""]
    assert (named.groupby("region")["pays"].nunique() == 1).all()
    assert result.regions["cells"].sum() == len(named)
    assert result.regions["cells"].is_monotonic_decreasing
    largest = result.regions.iloc[0]
    assert (largest["pays"], largest["threads_start"], largest["threads_stop"]) == ("limit", 2, 8)


def test_a_surface_in_which_every_cell_is_its_own_is_free():
    serial = fit(table(lambda limit, threads: 10 / limit + 10 / threads, noise=0.01))
    assert serial.family == "free"
    said = pays(serial)
    assert (said[1, 1], said[1, 6], said[8, 1]) == ("either", "a", "b")


def test_what_is_more_often_than_nine_times_in_ten_is_shown():
    drawn = np.array(
        [
            [PAYS.index("a")] * 19 + [PAYS.index("b")],
            [PAYS.index("none")] * 12 + [PAYS.index("harm")] * 8,
        ]
    ).T
    label, probability = shown(drawn)
    assert label.tolist() == ["a", "none"] and probability.tolist() == [0.95, 1.0]


def test_what_pays_follows_from_the_elasticities_of_three_steps():
    along = [1.0, 0.0, 1.0, 0.0, -0.5, 0.0, np.nan, np.nan]
    across = [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, np.nan]
    both = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, np.nan, np.nan]
    said = paying(np.array([along, across, both])[:, None])[0]
    assert [[*PAYS, "open"][k] for k in said] == [
        "a",
        "b",
        "either",
        "both",
        "harm",
        "none",
        "none",
        "open",
    ]


@quick
@given(
    st.sampled_from([scarcer, additive]),
    st.sampled_from([1e-3, 7.0, 1e6]),
    st.sampled_from([*KNOBS, "wall_s"]),
)
def test_another_unit_changes_nothing(truth, factor, column):
    frame = table(truth)
    assert (
        fit(frame.assign(**{column: frame[column] * factor}))
        .cells["pays"]
        .equals(fitted(truth).cells["pays"])
    )


@quick
@given(st.sampled_from([scarcer, additive]), st.integers(0, 99))
def test_the_order_of_the_rows_changes_nothing(truth, shuffle):
    mixed = fit(table(truth).sample(frac=1.0, random_state=shuffle))
    pd.testing.assert_frame_equal(mixed.cells, fitted(truth).cells)
    pd.testing.assert_frame_equal(mixed.ridge, fitted(truth).ridge)


@pytest.mark.parametrize("truth", [scarcer, additive])
def test_a_surface_mirrored_from_min_to_max_has_the_same_regions(truth):
    frame = table(truth)
    mirrored = fit(frame.assign(wall_s=1 / frame["wall_s"]), "max")
    assert pays(mirrored) == pays(fitted(truth))
    assert np.allclose(mirrored.cells["fitted"], 1 / fitted(truth).cells["fitted"])


@pytest.mark.parametrize("truth", [scarcer, additive])
def test_measuring_everything_twice_contradicts_nothing(truth):
    frame = table(truth)
    twice, once = pays(fit(pd.concat([frame, frame]))), pays(fitted(truth))
    assert not [cell for cell in once if once[cell] and twice[cell] and once[cell] != twice[cell]]


def test_the_knobs_the_other_way_round_say_the_same():
    turned = fit_surface(table(scarcer), KNOBS[::-1], "wall_s")
    swapped = {"a": "b", "b": "a"}
    assert {(b, a): swapped.get(one, one) for (a, b), one in pays(turned).items()} == pays(
        fitted(scarcer)
    )


def test_missing_cells_are_not_named_and_do_not_mislead():
    frame = table(scarcer)
    gone = frame.set_index([*KNOBS]).drop([(2, 3), (4, 6), (8, 1), (1, 8)]).reset_index()
    said = pays(fit(gone))
    assert (2, 3) not in said and len(said) == 20
    whole = pays(fitted(scarcer))
    assert not [
        c
        for c in said
        if said[c] and whole[c] and {said[c], whole[c]} not in ({said[c]}, {"both", "none"})
    ]
    assert said[4, 1] == "b" and said[1, 6] == "a"


def test_a_region_that_failed_is_left_out():
    frame = table(scarcer).assign(status="ok")
    crashed = (frame["limit"] == 1) & (frame["threads"] >= 6)
    frame.loc[crashed, ["status", "wall_s"]] = ["failed", 0.001]
    result = fit(frame)
    said = pays(result)
    assert (1, 6) not in said and (1, 8) not in said
    assert said[1, 4] == "a" and any("6" in one for one in result.grid.warnings)


def test_a_single_row_is_no_surface_and_says_why():
    with pytest.raises(PhaseError, match="1 and 6 levels"):
        fit(table(scarcer, limits=(4,)))
    assert surface_of(table(scarcer, limits=(4,)), KNOBS, "wall_s", "min") is None


def test_a_diagonal_words_and_a_third_factor_have_no_surface():
    frame = table(scarcer, limits=THREADS)
    assert surface_of(frame[frame["limit"] == frame["threads"]], KNOBS, "wall_s", "min") is None
    worded = frame.assign(limit=frame["limit"].map(lambda one: f"way{one}"))
    assert surface_of(worded, KNOBS, "wall_s", "min") is None
    assert surface_of(frame.assign(third=1), (*KNOBS, "third"), "wall_s", "min") is None
    as_words = {"limit": ("words", {})}
    assert surface_of(frame, KNOBS, "wall_s", "min", as_words) is None


def test_a_response_of_zero_says_what_to_do():
    with pytest.raises(PhaseError, match="must be positive"):
        fit(table(scarcer).assign(wall_s=0.0))


def test_one_trial_a_cell_with_a_spoiled_one_still_names_what_pays():
    frame = table(scarcer, noise=0.03, replicates=1)
    frame.loc[(frame["limit"] == 2) & (frame["threads"] == 6), "wall_s"] *= 4
    said = pays(fit(frame))
    assert (said[1, 8], said[8, 1], said[4, 1]) == ("a", "b", "b")
    wrong = [
        c
        for c, one in said.items()
        if one and pays(fitted(scarcer))[c] and one != pays(fitted(scarcer))[c]
    ]
    assert not wrong


def test_no_limit_lies_beyond_the_largest_and_keeps_its_name():
    frame = table(scarcer)
    frame["limit"] = frame["limit"].astype(object).where(frame["limit"] < 8, "none")
    result = fit(frame)
    assert result.grid.names[0] == ("1", "2", "4", "none")
    assert result.ridge["threads"].tolist() == [1, 2, 4, 6]


def test_the_public_name_is_the_function_and_the_record_is_plain():
    result = deadzone.fit_surface(table(scarcer), KNOBS, "wall_s")
    record = result.to_dict()
    assert tuple(record["knobs"]) == KNOBS
    assert {"families", "regions", "ridge", "cells", "warnings"} <= set(record)
    assert record["regions"][0]["pays"] == "limit" and record["ridge"][2] == {
        "limit": 4, "threads": 4, "threads_low": 4, "threads_high": 4, "to_the_end": False,
    }  # fmt: skip


@cache
def published():
    """The published tables of limits by threads put together: three rows of threads, and a
    diagonal."""
    names = [*(f"threads-at-{n}-cores" for n in (4, 8, 11)), "limit-equals-threads"]
    frame = pd.concat([load_reference("ffmpeg-threads", name) for name in names])
    return fit_surface(frame, ("cpu_limit", "threads"), "wall_s")


def test_published_from_8_cores_to_11_the_limit_pays_and_threads_beyond_2_bring_nothing():
    said = pays(published())
    row = [said[8, threads] for threads in range(3, 21)]
    assert row.count("a") >= 16 and set(row) <= {"a", ""}
    assert published().ridge.set_index("cpu_limit").loc[8, "threads"] == 2


def test_published_at_4_cores_threads_pay_to_about_5_as_the_slice_by_itself_says():
    ridge = published().ridge.set_index("cpu_limit")
    assert 4 <= ridge.loc[4, "threads"] <= 7
    assert ridge.index.tolist() == [4, 8, 11]


def test_published_more_cores_bring_nothing_from_4_to_6_where_the_author_has_a_dead_zone():
    cells = published().cells.set_index(["cpu_limit", "threads"])
    assert (
        cells.loc[(4, 6), "cpu_limit_elasticity"] < 0 and cells.loc[(4, 6), "pays"] != "cpu_limit"
    )
    assert cells.loc[(2, 2), "pays"] == "cpu_limit"


def test_published_cells_that_stand_alone_at_the_edge_are_left_open():
    cells = published().cells.set_index(["cpu_limit", "threads"])
    assert all(cells.loc[(n, n), "pays"] == "" for n in (12, 14, 16))
