"""Smooth laws are said to be smooth, with their parameter, and thresholds are not."""

import re

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.shape import shape
from deadzone.language.messages import speaking

LEVELS = np.array([1, 2, 3, 4, 6, 8, 10, 12, 16])


def trials(curve, seed, noise=0.02, replicates=5, goal="min"):
    rng = np.random.default_rng(seed)
    level = np.repeat(LEVELS, replicates)
    wall_s = curve(level) * np.exp(noise * rng.standard_normal(len(level)))
    return pd.DataFrame({"n": level, "y": wall_s if goal == "min" else 1 / wall_s})


def amdahl(share):
    return lambda n: share + (1 - share) / n


def usl(contention, coherency):
    return lambda n: (1 + contention * (n - 1) + coherency * n * (n - 1)) / n


def dead_zone(n):
    return np.interp(np.log(n), np.log([1, 4, 6, 10, 16]), np.log([10, 2.5, 2.5, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("share", "goal"), [(0.05, "min"), (0.1, "min"), (0.2, "min"), (0.1, "max")]
)
def test_amdahls_law_has_no_threshold_and_its_serial_share_is_told(share, goal):
    inside = said = 0
    for seed in range(8):
        told = shape(fit_phases(trials(amdahl(share), seed, goal=goal), "n", "y", goal))
        if told is None:
            continue
        assert "The gain fades smoothly" in told, told
        said += 1
        low, high = (
            float(part) / 100
            for part in re.search(r"interval ([\d.]+) % to ([\d.]+) %", told).groups()
        )
        inside += low - 0.005 <= share <= high + 0.005
    assert said >= 6 and inside >= 0.8 * said


def test_the_universal_scalability_law_is_told_by_its_contention():
    told = [shape(fit_phases(trials(usl(0.05, 0.004), seed), "n", "y")) for seed in range(5)]
    assert sum("Universal Scalability Law" in (one or "") for one in told) >= 4


def test_a_threshold_is_no_smooth_law():
    for seed in range(10):
        told = shape(fit_phases(trials(lambda n: np.exp(dead_zone(n)), seed), "n", "y"))
        assert told is not None and "No smooth law describes it as well" in told


def test_a_straight_line_has_no_thresholds_to_speak_of():
    assert shape(fit_phases(trials(lambda n: 10 / n, 1), "n", "y")) is None


def test_it_is_said_in_korean():
    with speaking("ko"):
        assert "암달의 법칙처럼" in shape(fit_phases(trials(amdahl(0.1), 1), "n", "y"))
