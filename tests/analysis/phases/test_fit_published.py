"""The published curves come out as their authors read them, with default settings."""

import numpy as np
import pandas as pd
import pytest

from deadzone import load_reference
from deadzone.analysis.phases.fit import fit_phases


def published(table):
    return load_reference("ffmpeg-threads", table)["wall_s"].to_numpy()


CORES_16 = published("limit-equals-threads")
CORES_4, CORES_11 = (published(f"threads-at-{cores}-cores") for cores in (4, 11))


def fit(levels, response, goal="min"):
    return fit_phases(pd.DataFrame({"knob": levels, "wall_s": response}), "knob", "wall_s", goal)


FIVE = ["linear", "dead_zone", "linear", "breakthrough", "plateau"]


def phases(model):
    return list(model.phases[["start", "stop", "label"]].itertuples(index=False, name=None))


def test_16_cores_has_the_authors_five_phases():
    model = fit(range(1, 17), CORES_16)
    assert model.phases["label"].tolist() == FIVE
    assert [one[:2] for one in phases(model)] == [(1, 4), (4, 6), (6, 10), (10, 12), (12, 16)]
    assert model.outliers.empty


def test_jittered_by_two_percent_the_16_cores_keep_their_phases():
    rng = np.random.default_rng(5)
    for _ in range(3):
        model = fit(range(1, 17), CORES_16 * np.exp(0.02 * rng.standard_normal(16)))
        assert model.phases["label"].tolist() == FIVE


def test_4_cores_flags_the_first_thread_and_is_flat_from_5_or_6_on():
    model = fit(range(1, 22), CORES_4)
    assert model.outliers["knob"].tolist() == [1]
    assert "times the fitted value" in model.outliers["reason"].iloc[0]
    last = model.phases.iloc[-1]
    assert (last["label"], last["stop"]) == ("plateau", 21)
    assert last["start"] in (5, 6)
    assert "dead_zone" not in model.step_labels


def test_11_cores_flags_threads_14_and_18_and_is_flat_over_most_of_the_range():
    model = fit(range(1, 21), CORES_11)
    assert model.outliers["knob"].tolist() == [14, 18]
    assert model.step_labels.count("plateau") >= 12


@pytest.mark.parametrize(
    "worst_ms", [[7780, 1959, 235, 151, 113, 193], [15632, 7250, 3757, 2550, 1747, 3883]]
)
def test_inbound_pool_improves_to_32_threads_and_reverses_at_64(worst_ms):
    model = fit([2, 4, 8, 16, 32, 64], worst_ms)
    assert phases(model)[-1] == (32, 64, "reversal")
    assert set(model.step_labels[:-1]) <= {"linear", "breakthrough"}


@pytest.mark.parametrize(
    ("threads", "worst_ms"),
    [([4, 8, 16, 32], [1505, 182, 92, 185]), ([8, 16, 32], [226, 109, 369])],
)
def test_outbound_pool_reverses_after_16_threads(threads, worst_ms):
    model = fit(threads, worst_ms)
    assert phases(model)[-1] == (16, 32, "reversal")
    assert "reversal" not in model.step_labels[:-1]
    assert any("levels" in warning for warning in model.warnings)


def test_write_throughput_of_three_block_sizes_is_a_response_to_maximise():
    model = fit([512, 1024, 20_480_000], [0.9, 1.7, 361.0], goal="max")
    assert set(model.step_labels) == {"linear"}
    assert model.phases["elasticity"].iloc[0] > 0
