"""The arithmetic of all five documents as one table, fresh and without gaps."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from reference_arithmetic import duplicates, recompute, write_checks

from deadzone.store.reference import load_reference, reference_folder


@pytest.fixture(scope="module")
def checks() -> pd.DataFrame:
    return recompute()


def recomputed(checks: pd.DataFrame, cell: str) -> float:
    return float(checks.loc[checks["cell"] == cell, "recomputed"].item())


def test_most_figures_of_the_documents_follow(checks: pd.DataFrame):
    """Which ones do not is listed in the tests of `reference_claims` and `reference_media`."""
    assert checks["verdict"].value_counts().to_dict() == {"agrees": 226, "close": 15, "method": 7, "off": 6}


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
        assert stored.read_bytes() == path.read_bytes(), "run scripts/reference_arithmetic.py"
