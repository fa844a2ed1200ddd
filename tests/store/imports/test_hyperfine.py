"""hyperfine's exports as trials."""

import json

import pandas as pd
import pytest

from deadzone.errors import FormatError
from store.imports.samples import changed, imported, sample


def test_every_run_is_a_trial():
    table = imported("hyperfine", sample("hyperfine.json"))
    assert table.groupby("command").size().to_dict() == {
        "sha256sum /usr/bin/git": 20,
        "md5sum /usr/bin/git": 20,
    }
    assert table["wall_s"].iloc[0] == 0.008495883000000001
    assert table.groupby("command", sort=False)["wall_s"].median().tolist() == pytest.approx(
        [0.0085026005, 0.005818893]
    )
    assert list(table["replicate"][:3]) == [1, 2, 3]
    assert set(table["status"]) == {"ok"}


def test_parameters_are_factors_with_numbers_as_numbers(tmp_path):
    def with_parameters(document):
        for threads, result in zip(("4", "16"), document["results"], strict=True):
            result["parameters"] = {"threads": threads, "mode": "fast", "wall_s": "1"}

    table = imported("hyperfine", changed(tmp_path, "hyperfine.json", with_parameters))
    assert table["threads"].dtype == "Int64" and set(table["threads"]) == {4, 16}
    assert set(table["mode"]) == {"fast"}
    assert set(table["parameter_wall_s"]) == {1}


def test_a_program_that_failed_or_was_killed_is_a_failed_trial(tmp_path):
    path = changed(
        tmp_path,
        "hyperfine.json",
        lambda d: d["results"][0].update(exit_codes=[1, None] + [0] * 18),
    )
    table = imported("hyperfine", path)
    assert list(table["status"][:3]) == ["failed", "failed", "ok"]
    assert table["exit_code"][0] == 1 and pd.isna(table["exit_code"][1])


def test_results_without_single_times_are_a_row_a_command(tmp_path):
    """As old releases wrote them, and people who leave the times out with jq."""
    results = [
        {"command": "make -j4", "mean": 2.5, "min": 2.25, "user": 8.0, "parameter": 4},
        {"command": "make -j8", "mean": 1.5, "median": 1.25, "parameter": 8},
    ]
    path = tmp_path / "h.json"
    path.write_text(json.dumps({"results": results}))
    table = imported("hyperfine", path)
    assert table["wall_s"].tolist() == [2.5, 1.25] and table["parameter"].tolist() == [4, 8]
    assert table["wall_min_s"][0] == 2.25 and "replicate" not in table


def test_another_export_is_refused_with_the_option(tmp_path):
    path = tmp_path / "h.md"
    path.write_text("| Command | Mean [ms] |\n|:---|---:|\n| `make` | 101.3 ± 0.2 |\n")
    with pytest.raises(FormatError, match="written with --export-json FILE"):
        imported("hyperfine", path)
