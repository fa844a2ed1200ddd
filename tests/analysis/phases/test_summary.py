import re

import numpy as np
import pandas as pd
import pytest
from html_tags import Tags

from deadzone import fit_phases
from deadzone.analysis.page import USUAL_WIDTH, Page
from deadzone.analysis.phases.quantities import axis_label, level_number, listing, setting, unit_of
from deadzone.analysis.phases.summary import r_squared
from deadzone.language.tabling import Tabled


def trials():
    threads = np.tile(np.arange(1.0, 13), 4)
    noise = np.exp(0.01 * np.random.default_rng(5).standard_normal(len(threads)))
    wall = 60 / np.minimum(threads, 6) * noise
    return pd.DataFrame({"threads": threads, "wall_s": wall})


@pytest.fixture(scope="module")
def summary():
    frame = trials()
    frame.loc[5, "wall_s"] = 31.0
    return fit_phases(frame, "threads", "wall_s").summary()


def test_r_squared_by_hand():
    # Values 0, 1, 2 around 1: 2 in all; residuals 0.1, 0, -0.1: 0.02 left, 0.99 explained.
    values, residuals = np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.0, -0.1])
    plain, adjusted = r_squared(values, residuals, np.ones(3), 2)
    assert plain == pytest.approx(0.99)
    assert adjusted == pytest.approx(1 - 0.01 * 2 / 1)
    assert np.isnan(r_squared(np.ones(3), np.zeros(3), np.ones(3), 1)[0])


def test_the_fit_table_counts_what_was_fitted(summary):
    fit = dict(zip(summary.tables["fit"]["name"], summary.tables["fit"]["value"], strict=True))
    assert (fit["n_trials"], fit["n_levels"], fit["n_outliers"]) == (48, 12, 1)
    assert fit["df_model"] == 4  # a start, two elasticities, a joint
    assert fit["df_residual"] == pytest.approx(43, abs=0.6)  # 48 trials, one without weight, less 4
    assert fit["noise"] == pytest.approx(0.01, abs=0.004)
    assert fit["r_squared"] > 0.99


def test_the_phase_table_is_a_coefficient_table(summary):
    phases = summary.tables["phases"]
    assert phases["label"].tolist() == ["linear", "plateau"]
    assert phases["elasticity"].iloc[0] == pytest.approx(1.0, abs=0.03)
    assert phases["t"].iloc[0] == pytest.approx(phases["elasticity"][0] / phases["std_error"][0])
    assert phases["p_value"].iloc[0] < 1e-10 and phases["p_value"].iloc[1] > 0.01


def test_every_part_is_printed(summary):
    text = str(summary)
    wanted = (
        "Phase model: wall time (s) over threads", "smaller is better", "Trials:  48 (4 per level)",
        "std err", "P>|t|", "90 % low", "Joints", "Amdahl's law",
        "Universal Scalability Law", "Outliers, down-weighted", "Recommended setting", "6 threads",
    )  # fmt: skip
    assert not [part for part in wanted if part not in text]
    assert text == repr(summary)
    assert max(map(len, text.splitlines())) <= USUAL_WIDTH


def test_the_warnings_of_the_model_are_passed_on():
    """Of three levels without replicates, which leave a trial for each parameter."""
    frame = pd.DataFrame({"threads": [1, 2, 4], "wall_s": [10.0, 5.1, 5.0]})
    model = fit_phases(frame, "threads", "wall_s")
    assert model.warnings
    shown = " ".join(str(model.summary()).split())
    assert all(" ".join(warning.split()) in shown for warning in model.warnings)
    assert model._repr_html_() == model.summary()._repr_html_(), "as a notebook shows the model"


def test_the_html_is_semantic_and_carries_neither_script_nor_style(summary):
    page = summary._repr_html_()
    tags = Tags(page)
    names = [tag for tag, _ in tags.seen]
    assert "script" not in names and "style" not in names
    assert not any("style" in attributes or "onclick" in attributes for _, attributes in tags.seen)
    assert {of.get("scope") for tag, of in tags.seen if tag == "th"} <= {"row", "col"}
    assert names.count("caption") == names.count("table") >= 5


def test_names_from_a_table_are_escaped():
    frame = trials().rename(columns={"wall_s": "<script>alert(1)</script>"})
    page = fit_phases(frame, "threads", "<script>alert(1)</script>").summary()._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_on_an_interval_scale_a_phase_is_stated_by_its_gain_a_unit():
    degrees = np.repeat(np.arange(10.0, 60, 5), 4)
    wall = 10 - 0.1 * degrees + 0.01 * np.tile([-1, 0, 0, 1], 10)
    frame = pd.DataFrame({"temperature": degrees, "wall_s": wall})
    text = str(fit_phases(frame, "temperature", "wall_s", scale="interval").summary())
    assert "gain a unit" in text and "elasticity" not in text
    assert re.search(r"linear +\d\.\d+ % +0\.\d*[1-9]\d* %", text), "with a standard error"


def test_a_page_wraps_long_cells_and_leaves_empty_notes_out():
    table = pd.DataFrame({"model": ["a"], "parameters": ["word " * 40]})
    page = Page("Title", [Tabled("Part", table)], {"Warnings": []})
    assert max(map(len, str(page).splitlines())) <= USUAL_WIDTH
    assert "Warnings" not in str(page)
    assert "Warnings" not in page._repr_html_()


@pytest.mark.parametrize(
    ("column", "unit", "label"),
    [("wall_s", "s", "wall time (s)"), ("queueing_p99_ms", "ms", "queueing p99 (ms)"),
     ("throughput_bytes_s", "bytes/s", "throughput (bytes/s)"),
     ("max_rss_bytes", "bytes", "peak memory (bytes)"),
     ("cpu_limit", "cores", "CPU limit (cores)"), ("threads", "threads", "threads"),
     ("pool_size", "", "pool size"),
     ("cpu_limit * wall_s", "cores·s", "CPU limit * wall time (cores·s)"),
     ("MB_per_s", "MB/s", "MB_per_s (MB/s)"), ("read_mib_per_s", "MiB/s", "read (MiB/s)")],
)  # fmt: skip
def test_units_are_read_from_the_names_of_columns(column, unit, label):
    assert unit_of(column) == unit
    assert axis_label(column) == label


def test_settings_read_as_a_person_would_say_them():
    told = {
        (12, "cpu_limit"): "12 cores", (1, "threads"): "1 thread",
        (0.25, "cpu_limit"): "0.25 cores", (65536, "block_size"): "64 KiB",
        (1000, "block_size"): "1000 bytes", (32, "pool_size"): "pool size 32",
        ("none", "cpu_limit"): "no limit", ("none", "memory_limit"): "no limit",
        ("none", "codec"): "codec none", ("gzip", "tool"): "tool gzip",
    }  # fmt: skip
    assert {asked: setting(*asked) for asked in told} == told
    assert level_number(2.5, "cpu_limit") == "2.5"


def test_long_lists_are_cut_in_the_middle():
    assert listing(["a", "b"]) == "a and b"
    assert listing(list("abcdefgh"), most=5) == "a, b, c, ... and h (8 in all)"
