"""Tests of connections: the knee, the failures, and how the server ended."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadzone.errors import PhaseError
from deadzone.explaining.capacity.connections import held_connections, spike


def test_the_knee_of_a_spike_test_is_where_connecting_takes_off():
    rng = np.random.default_rng(3)
    rates = [50, 100, 150, 200, 300, 400, 500] * 4
    rows = pd.DataFrame(
        {
            "connection_rate": rates,
            "connect_p99_ms": [
                15 * max(r / 200, 1) ** 4 * np.exp(0.05 * rng.standard_normal()) for r in rates
            ],
            "connect_failed_percent": [0.0 if r < 400 else 2.0 for r in rates],
            "server_died": [float(r == 500) for r in rates],
            "service_threads": 20.0,
        }
    )
    found = spike(rows)
    assert found.knee == 200 and found.low <= 200 <= found.high
    assert found.failing == 400 and found.died == 500
    assert found.levels["service_threads"].eq(20).all() and found.levels["n"].eq(4).all()


def test_a_spike_test_that_nothing_troubles_has_no_knee():
    rows = pd.DataFrame({"connection_rate": [50, 100, 200, 400] * 3, "connect_p99_ms": 10.0})
    rows["connect_p99_ms"] *= np.exp(0.03 * np.random.default_rng(1).standard_normal(12))
    found = spike(rows)
    assert found.knee is None and found.failing is None and found.died is None


def test_how_a_ramp_of_held_connections_ended():
    rows = pd.DataFrame(
        {
            "trial": [1, 2, 3, 4],
            "connections_held": [4800.0, 4750, 700, 1000],
            "service_oom_kills": [1.0, 0, 0, 0],
            "server_died": [1.0, 1, 0, 0],
            "connect_errors": [3.0, 2, 40, 0],
            "service_memory_peak_bytes": [4800e5, np.nan, 1e8, 1e8],
        }
    )
    found = held_connections(rows)
    assert [one.outcome for one in found] == ["oom_killed", "died", "refused", "not_reached"]
    assert found[0].memory_a_connection == 1e5 and found[0].connections == 4800


def test_what_is_missing_is_said():
    with pytest.raises(PhaseError, match="connect_p99_ms"):
        spike(pd.DataFrame({"connection_rate": [1]}))
    with pytest.raises(PhaseError, match="connections_held"):
        held_connections(pd.DataFrame({"trial": [1]}))
