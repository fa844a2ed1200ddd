"""What four of the five documents derive, and exactly the figures that do not follow."""

from __future__ import annotations

import pytest
from reference_checks import checks_of

STUDIES = ("ffmpeg-threads", "pod-cpu-limit", "thread-pools", "disk-io")

OFF = {
    "ffmpeg-threads/limit-equals-threads/cpu_limit=14, threads=14: cpu_efficiency": 0.0144,
    "ffmpeg-threads/claims/flat-at-11-cores-high": 1.67,
    "disk-io/claims/read-file-equals-written-file": 204_800_000,
}

METHOD = {
    "ffmpeg-threads/phase-efficient/cpu_limit=2: claimed_change_per_core_percent": -12.979,
    "ffmpeg-threads/phase-efficient/cpu_limit=3: claimed_change_per_core_percent": -8.203,
    "ffmpeg-threads/phase-efficient/cpu_limit=4: claimed_change_per_core_percent": -4.519,
    "thread-pools/claims/inbound-rate-of-113-ms": 48,
    "thread-pools/claims/outbound-rate-of-96-ms": -200,
}

CLOSE = {
    "ffmpeg-threads/limit-equals-threads/cpu_limit=8, threads=8: cpu_efficiency": -0.0072,
    "ffmpeg-threads/limit-equals-threads/cpu_limit=10, threads=10: cpu_efficiency": -0.0064,
    "ffmpeg-threads/oversubscription-at-4-cores/cpu_limit=4, threads=5: claimed_change_percent": -0.077,
    "ffmpeg-threads/oversubscription-at-6-cores/cpu_limit=6, threads=4: claimed_change_percent": 0.053,
    "ffmpeg-threads/claims/outlier-user-over-wall": -0.079,
    "ffmpeg-threads/claims/flat-at-4-cores-high": 0.68,
    "ffmpeg-threads/claims/efficiency-at-4-cores-low": -0.068,
    "pod-cpu-limit/claims/slowdown-wall": 0.66,
}


@pytest.mark.parametrize(("verdict", "expected"), [("off", OFF), ("method", METHOD), ("close", CLOSE)])
def test_exactly_these_figures_do_not_follow(verdict: str, expected: dict[str, float]):
    checks = [check for study in STUDIES for check in checks_of(study)]
    differing = {
        f"{check.study}/{check.table}/{check.cell}": check.row()["difference"]
        for check in checks
        if check.verdict == verdict
    }
    assert differing == pytest.approx(expected)


def test_thirty_two_times_is_nearer_to_the_total_than_to_the_elapsed_time():
    ratio = {check.cell: check for check in checks_of("pod-cpu-limit")}
    assert ratio["slowdown-wall"].recomputed == pytest.approx(32.66, abs=0.005)
    assert ratio["slowdown-total"].recomputed == pytest.approx(32.47, abs=0.005)
    assert ratio["slowdown-total"].verdict == "agrees"


def test_a_chunk_takes_nearly_twelve_seconds_at_the_small_block_size():
    claims = {check.cell: check.recomputed for check in checks_of("disk-io")}
    assert claims["chunk-write-time"] == pytest.approx(11.76, abs=0.005)
    assert claims["chunks-per-second"] == pytest.approx(18.05)
    assert claims["blocks-per-second"] == pytest.approx(17.63, abs=0.005)
