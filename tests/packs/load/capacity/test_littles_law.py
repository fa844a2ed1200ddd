"""Little's law on figures worked out by hand."""

import pandas as pd
import pytest

from deadzone_load.capacity.littles_law import littles_law


def test_in_flight_utilisation_and_state():
    trials = pd.DataFrame(
        {
            "rate": [100, 400, 400], "pool_size": [8, 8, 2], "offered_rate": [100.0, 400, 400],
            "achieved_rate": [100.0, 400, 250], "latency_mean_ms": [5.0, 6.0, 900.0],
        }
    )  # fmt: skip
    found = littles_law(trials, "pool_size", "rate").set_index(["rate", "pool"])
    assert found.loc[(400, 8), "in_flight"] == pytest.approx(2.4)
    assert found.loc[(400, 8), "utilisation"] == pytest.approx(400 * 0.005 / 8)
    assert found.loc[(400, 2), "waiting"] == pytest.approx(250 * 0.9 - 2)
    assert found["state"].tolist() == ["idle", "unstable", "idle"]


def test_without_the_columns_there_is_nothing_to_say():
    assert littles_law(pd.DataFrame({"rate": [1], "pool_size": [1]}), "pool_size", "rate").empty
