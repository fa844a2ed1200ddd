"""The bundled service with a cause planted, once each: the cause is named and nothing else; the benchmark counts 20."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deadzone.explaining.attribution.hypotheses import CPU_LIMIT, DISK, NETWORK

pytestmark = pytest.mark.programs

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"

BLOCKS = 5
"""The fewest with which anything can be decided."""

MOST_RUNS = 3
"""Beside neighbours a run may stay undecided; it may never name another cause, nor exclude the planted one."""


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import planted_causes

    yield planted_causes
    sys.modules.pop("planted_causes", None)


@pytest.mark.parametrize(
    ("cause", "name"),
    [("CPU limit", CPU_LIMIT), ("network delay", NETWORK), ("slow disk", DISK), ("nothing", None)],
)
def test_the_planted_cause_is_named(planted, cause, name, quota, tmp_path):
    if cause == "slow disk":
        with planted.slow_disk(tmp_path) as before:
            if not before:
                pytest.skip("disks cannot be throttled here: it takes root and cgroup v1")
    for seed in range(1, MOST_RUNS + 1):
        (tmp_path / str(seed)).mkdir()
        result = planted.run_once(cause, tmp_path / str(seed), BLOCKS, seed=seed).result
        assert set(result.confirmed) <= {name}
        assert name not in result.named("excluded")
        if name in (None, *result.confirmed):
            assert result.of("client")["verdict"] in ("excluded", "undecided")
            return
    pytest.fail(f"{cause} was not named in {MOST_RUNS} runs: {result.summary()}")
