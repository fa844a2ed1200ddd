"""Another load: a line with its interval, or an assumption that is called one."""

from __future__ import annotations

import numpy as np
import pytest

from deadzone.errors import ProfileError
from deadzone_profiles.pairing import pair_up
from deadzone_profiles.projection import measured_at, project
from packs.profiles.making import cpu


def test_one_load_is_scaled_in_proportion_with_a_plain_warning():
    found = project([64], [45.52], 100)
    assert found.amount == pytest.approx(71.125)
    assert found.low is None and found.method == "proportional"
    assert "assumption, not a measurement" in found.doubts[0]


def test_a_constant_part_is_seen_from_several_loads():
    found = project([10, 20, 30], [15, 25, 35], 40)
    assert (found.amount, found.fixed, found.per_load) == pytest.approx((45, 5, 1))
    assert found.low == pytest.approx(45) and not found.doubts


def test_the_prediction_interval_holds_as_often_as_stated():
    rng = np.random.default_rng(7)
    loads = np.repeat([16, 32, 48, 64], 3)
    hits = 0
    for _ in range(2000):
        noise = rng.normal(0, 2, len(loads) + 1)
        found = project(loads, 3 + 0.5 * loads + noise[:-1], 80)
        hits += found.low <= 43 + noise[-1] <= found.high
    assert 0.935 <= hits / 2000 <= 0.965


@pytest.mark.parametrize(
    ("loads", "amounts", "load", "says"),
    [
        ([1, 2], [3, 5], 3, "without any scatter"),
        ([1, 1, 2], [3, 3, 5], 3, "two loads only"),
        ([1, 2, 3], [3, 5, 7], 30, "far from the loads measured"),
        ([1, 2, 3], [7, 5, 3], 3, "falls as the load rises"),
    ],
)
def test_doubts_are_said(loads, amounts, load, says):
    assert any(says in doubt for doubt in project(loads, amounts, load).doubts)


@pytest.mark.parametrize(
    ("loads", "amounts", "load"), [([], [], 1), ([0], [1], 1), ([1], [1], -1), ([1, 2], [1], 1)]
)
def test_loads_must_be_positive_and_one_a_profile(loads, amounts, load):
    with pytest.raises(ProfileError):
        project(loads, amounts, load)


def test_cpu_is_projected_in_cores_whatever_the_durations():
    pair = pair_up([cpu({"a": 1}, seconds=1)], [cpu({"a": 100}, seconds=10)])
    loads, amounts, unit = measured_at(pair.after, 64, [(32, cpu({"a": 100}, seconds=20))])
    assert (loads, amounts, unit) == ([64, 32], [0.1, 0.05], "cores")
