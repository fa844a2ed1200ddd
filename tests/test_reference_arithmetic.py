"""What the five documents derive is recomputed, and exactly these figures do not follow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from deadzone.reference import load_reference, reference_folder
from deadzone.reference_arithmetic import duplicates, recompute, write_checks


@pytest.fixture(scope="module")
def checks() -> pd.DataFrame:
    return recompute()


def differing(checks: pd.DataFrame, verdict: str) -> dict[str, float]:
    chosen = checks[checks["verdict"] == verdict]
    return {f"{row.study}/{row.table}/{row.cell}": row.difference for row in chosen.itertuples()}


def recomputed(checks: pd.DataFrame, cell: str) -> float:
    return float(checks.loc[checks["cell"] == cell, "recomputed"].item())


OFF = {
    "ffmpeg-threads/limit-equals-threads/cpu_limit=14, threads=14: cpu_efficiency": 0.0144,
    "ffmpeg-threads/claims/flat-at-11-cores-high": 1.67,
    "media-server/cpu-savings/sum: claimed_saved_s": 23.32,
    "media-server/claims/share-freed-by-nack-and-mdns": -6.0,
    "media-server/claims/nack-cpu": 0.05,
    "disk-io/claims/read-file-equals-written-file": 204_800_000,
}

METHOD = {
    "ffmpeg-threads/phase-efficient/cpu_limit=2: claimed_change_per_core_percent": -12.979,
    "ffmpeg-threads/phase-efficient/cpu_limit=3: claimed_change_per_core_percent": -8.203,
    "ffmpeg-threads/phase-efficient/cpu_limit=4: claimed_change_per_core_percent": -4.519,
    "thread-pools/claims/inbound-rate-of-113-ms": 48,
    "thread-pools/claims/outbound-rate-of-96-ms": -200,
    "media-server/cpu-by-component/component=nack, profile=optimised: claimed_share_change_percent": 75.02,
    "media-server/cpu-by-component/component=mdns, profile=optimised: claimed_share_change_percent": 81.99,
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
    "media-server/totals/profile=optimised: claimed_cpu_s_change_percent": -0.052,
    "media-server/per-stream/profile=optimised: claimed_cpu_change_percent": -0.74,
    "media-server/techniques/technique=rtcp_interval, component=rtcp: claimed_traffic_change_percent": -0.67,
    "media-server/summary/quantity=cpu: claimed_change_percent": -0.052,
    "media-server/summary/quantity=cpu_per_stream: claimed_change_percent": -0.75,
    "media-server/claims/rtcp-traffic-change": -0.67,
    "media-server/claims/interleaved-frame-change-rounded": 0.69,
}


@pytest.mark.parametrize(("verdict", "expected"), [("off", OFF), ("method", METHOD), ("close", CLOSE)])
def test_exactly_these_figures_do_not_follow(checks: pd.DataFrame, verdict: str, expected: dict[str, float]):
    assert differing(checks, verdict) == pytest.approx(expected)


def test_all_other_figures_agree(checks: pd.DataFrame):
    assert set(checks["verdict"]) == {"agrees", "close", "off", "method"}
    assert len(checks) == 254


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("slowdown-wall", 148.263 / 4.539),
        ("slowdown-total", 148.835 / 4.584),
        ("sum: claimed_saved_s", 20.49 + 14.77 + 13.86 + 0.24),
        ("share-freed-by-nack-and-mdns", 24.98 + 18.01),
        ("chunk-write-time", 20 / 1.7),
        ("chunks-per-second", 361 / 20),
        ("blocks-per-second", 361 / 20.48),
        ("quantity=inbound_rate: claimed_value", 250 * 1.3),
        ("profile=baseline: claimed_goroutines", 9516 / 64),
        ("operation=write, location=tmp, block_size=20480000: throughput_bytes_s", 204_800_000 / 0.567581),
    ],
)
def test_a_figure_is_recomputed_as_by_hand(checks: pd.DataFrame, cell: str, value: float):
    assert recomputed(checks, cell) == pytest.approx(value, rel=1e-6, abs=0.006)


def test_every_claimed_figure_is_recomputed_or_named_here(checks: pd.DataFrame):
    """A claimed number without a check would be a gap; these have no raw figures to recompute from."""
    unchecked = set()
    for package in ("ffmpeg-threads", "pod-cpu-limit", "thread-pools", "media-server", "disk-io"):
        for path in sorted((reference_folder() / package).glob("*.csv")):
            frame = load_reference(package, path.stem)
            cells = checks[(checks["study"] == package) & (checks["table"] == path.stem)]["cell"]
            for column in frame.columns[[name.startswith("claimed_") for name in frame.columns]]:
                numeric = frame[column].dtype.kind in "if" and column != "claimed_decimals"
                if numeric and path.stem != "claims" and not cells.str.endswith(f": {column}").any():
                    unchecked.add(f"{package}/{path.stem}/{column}")
    assert unchecked == {
        "media-server/per-stream/claimed_streams",
        "media-server/projection/claimed_streams",
        "thread-pools/settings/claimed_games",
        "thread-pools/settings/claimed_rate",
    }


def test_cells_measured_twice_differ_by_up_to_a_quarter():
    pairs = duplicates().set_index(["cpu_limit", "threads"])[
        ["first_wall_s", "second_wall_s", "difference_percent"]
    ]
    assert {key: tuple(row) for key, row in zip(pairs.index, pairs.to_numpy().tolist(), strict=True)} == {
        (4, 4): (23.88, 23.49, -1.6),
        (4, 5): (21.02, 21.28, 1.2),
        (4, 6): (20.13, 20.72, 2.9),
        (4, 7): (19.86, 20.71, 4.3),
        (4, 8): (21.53, 21.10, -2.0),
        (8, 8): (18.45, 18.80, 1.9),
        (11, 11): (5.08, 3.72, -26.8),
    }


def test_the_published_checks_are_fresh(tmp_path: Path):
    for path in write_checks(tmp_path):
        stored = reference_folder() / "checks" / path.name
        assert stored.read_bytes() == path.read_bytes(), "run python -m deadzone.reference_arithmetic"
