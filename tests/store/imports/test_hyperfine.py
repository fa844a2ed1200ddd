"""hyperfine's exports as trials."""

from __future__ import annotations

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


def test_the_csv_tells_medians_and_says_so():
    table = imported("hyperfine", sample("hyperfine.csv"))
    assert table["wall_s"].tolist() == [0.0085026005, 0.005818893]
    assert table["user_s"].tolist() == pytest.approx([0.0077088, 0.0049032])
    assert "not how many runs" in table["note"][0]


def test_parameters_of_the_csv_are_factors(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text(
        "command,mean,stddev,median,user,system,min,max,parameter_threads\nxz -T4,1,,1,1,0,1,1,4\n"
    )
    assert imported("hyperfine", path)["threads"].tolist() == [4]


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


def test_the_csv_of_old_releases_has_a_mean_alone(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("command,mean,stddev,user,system,min,max\nmake,2.5,0.1,8,1,2.25,3\n")
    assert imported("hyperfine", path)["wall_s"].tolist() == [2.5]


def test_another_export_is_refused_with_the_option(tmp_path):
    path = tmp_path / "h.md"
    path.write_text("| Command | Mean [ms] |\n|:---|---:|\n| `make` | 101.3 ± 0.2 |\n")
    with pytest.raises(FormatError, match="written with --export-json FILE"):
        imported("hyperfine", path)
