"""What five published runs of dd can carry."""

from __future__ import annotations

import pytest

from deadzone import fit_phases
from deadzone.errors import PhaseError
from deadzone.reports.disk_block_size import published as disk_block_size


@pytest.fixture(scope="module")
def study():
    return disk_block_size.load()


@pytest.fixture(scope="module")
def judged(study):
    return {one.name: one for one in study.judged}


def test_a_chunk_takes_twelve_seconds_or_a_twentieth(study):
    facts = study.facts()
    assert facts["chunk"] == 20e6
    assert facts["chunk"] / facts["write_slow"] == pytest.approx(20e6 * 1.20932 / 2048000)
    assert facts["chunk"] / facts["write_fast"] == pytest.approx(20e6 * 0.567581 / 204800000)
    rows = study.table("runs").rows
    assert [row[-1] for row in rows] == ["11.73", "11.81", "0.0554", "0.1008", "0.0615"]


def two_points(study, small, large, slow, fast):
    """The facts of the study as if these had been its two points of writing."""
    return study.facts(write_small=small, write_large=large, write_slow=slow, write_fast=fast)


def test_two_points_fit_a_fixed_time_a_call_exactly(study):
    calls = two_points(study, 1000, 1_000_000, slow=1000 / 0.0011, fast=1_000_000 / 0.1010)
    assert calls["write_bandwidth"] == pytest.approx(1e7)
    assert calls["write_call_s"] == pytest.approx(0.001)
    assert calls["write_half"] == pytest.approx(10_000)
    assert two_points(study, 1, 100, slow=1, fast=10)["write_elasticity"] == pytest.approx(0.5)


def test_the_phase_model_refuses_two_levels(study):
    rows = study.published.table("dd")
    rows = rows.assign(throughput=rows["transferred_bytes"] / rows["wall_s"])
    with pytest.raises(PhaseError, match="2 levels"):
        fit_phases(
            rows[rows["location"] == "tmp"].query("operation == 'write'"),
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
