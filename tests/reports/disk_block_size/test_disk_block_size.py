"""What five published runs of dd can carry."""

from __future__ import annotations

import pytest

from deadzone import fit_phases
from deadzone.errors import PhaseError
from deadzone.reports.disk_block_size import published as disk_block_size
from deadzone.reports.disk_block_size.published import TwoPoints


@pytest.fixture(scope="module")
def study():
    return disk_block_size.load()


@pytest.fixture(scope="module")
def judged(study):
    return {one.name: one for one in study.judged}


def test_a_chunk_takes_twelve_seconds_or_a_twentieth(study):
    assert study.chunk == 20e6
    assert study.chunk / study.write.slow == pytest.approx(20e6 * 1.20932 / 2048000)
    assert study.chunk / study.write.fast == pytest.approx(20e6 * 0.567581 / 204800000)
    rows = study.table("runs").rows
    assert [row[-1] for row in rows] == ["11.73", "11.81", "0.0554", "0.1008", "0.0615"]


def test_two_points_fit_a_fixed_time_a_call_exactly():
    calls = TwoPoints(1000, 1_000_000, slow=1000 / 0.0011, fast=1_000_000 / 0.1010)
    assert calls.bandwidth == pytest.approx(1e7)
    assert calls.call_s == pytest.approx(0.001)
    assert calls.half == pytest.approx(10_000)
    assert TwoPoints(1, 10, slow=1, fast=10).elasticity == pytest.approx(1)


def test_the_phase_model_refuses_two_levels(study):
    with pytest.raises(PhaseError, match="2 levels"):
        fit_phases(
            study.rows[study.rows["location"] == "tmp"].query("operation == 'write'"),
            "block_size",
            "throughput",
            goal="max",
        )


def test_the_one_like_pair_differs_by_less_than_a_percent(study):
    assert study.facts()["difference"] == pytest.approx(0.0064, abs=5e-4)


def test_reads_and_writes_are_not_compared(judged):
    assert judged["read"].verdict == "undecided" and "page cache" in judged["read"].found
    assert judged["same-file"].verdict == "contradicted"
    assert judged["instance"].verdict == "undecided"


def test_the_guideline_has_a_gap_where_nothing_was_measured(study):
    rows = study.table("guideline").rows
    assert [row[2] for row in rows] == ["11.8", "-", "0.055"]
