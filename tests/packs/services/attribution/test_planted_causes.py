from functools import cache

import pytest
from benchmarks.planted_causes import CAUSES, PLAIN, environment_of, slow_disk, swept

import deadzone

pytestmark = pytest.mark.programs

BLOCKS = 5
"""The fewest with which anything can be decided."""

MOST_RUNS = 3
"""Beside neighbours a run may stay undecided; it may never name another cause, nor exclude the
planted one."""


@pytest.fixture(scope="module")
def causes(tmp_path_factory):
    """Those that can be planted here."""
    with slow_disk(tmp_path_factory.mktemp("disk")) as before:
        return [cause for cause in CAUSES if cause != "slow disk" or before]


@pytest.fixture(scope="module")
def trials_of(quota, causes, tmp_path_factory):
    """The trials of the run of a seed, in which every cause has an environment beside the plain
    one."""
    return cache(
        lambda seed: swept(causes, tmp_path_factory.mktemp("planted"), BLOCKS, seed).trials()
    )


@pytest.mark.night
@pytest.mark.parametrize("cause", CAUSES)
def test_the_planted_cause_is_named(cause, causes, trials_of):
    if cause not in causes:
        pytest.skip("disks cannot be throttled here: it takes root and cgroup v1")
    name, planted = CAUSES[cause][1], environment_of(cause)
    for seed in range(1, MOST_RUNS + 1):
        trials = trials_of(seed)
        pair = trials[trials["environment"].isin([planted, PLAIN])]
        result = deadzone.attribute(pair, slow=planted if name else None)
        assert set(result.confirmed) <= {name}
        assert name not in result.named("excluded")
        if name in (None, *result.confirmed):
            assert result.of("client")["verdict"] in ("excluded", "undecided")
            return
    pytest.fail(f"{cause} was not named in {MOST_RUNS} runs: {result.summary()}")
