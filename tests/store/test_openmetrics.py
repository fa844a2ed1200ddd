"""The trials of a run as an OpenMetrics series."""

from __future__ import annotations

import subprocess

import pandas as pd
from needs import needs

from deadzone.store.exports import as_openmetrics

NOON = 1_767_787_200  # 2026-01-07 12:00 UTC


def trial(number: int, started_at: str, wall_s: float, limit: object) -> dict[str, object]:
    shared = {"run_id": "r1", "attempt": 1, "status": "ok", "threads": 2}
    return {
        **shared,
        "trial": number,
        "started_at": started_at,
        "wall_s": wall_s,
        "cpu_limit": limit,
    }


def test_a_trial_is_1_while_it_runs_and_0_at_its_end():
    table = pd.DataFrame([trial(7, "2026-01-07T12:00:00.000+00:00", 90.5, 0.5)])
    lines = as_openmetrics(table, "probe", ("cpu_limit", "threads")).splitlines()
    labels = (
        'study="probe",run_id="r1",trial="7",attempt="1",status="ok",treatment="cpu_limit=0.5 '
        'threads=2"'
    )
    assert lines == [
        "# TYPE deadzone_trial gauge",
        "# HELP deadzone_trial 1 while a trial of a run was measured, 0 at its end.",
        f"deadzone_trial{{{labels}}} 1 {NOON}.000",
        f"deadzone_trial{{{labels}}} 1 {NOON + 60}.000",
        f"deadzone_trial{{{labels}}} 0 {NOON + 90}.500",
        "# EOF",
    ]


def test_a_lost_trial_is_a_moment_and_one_that_never_started_is_absent():
    started = trial(1, "2026-01-07T12:00:00.000+00:00", float("nan"), "none")
    never = {**trial(2, "", 1.0, 1), "started_at": None}
    text = as_openmetrics(pd.DataFrame([started, never]), 'a "quoted" study', ("cpu_limit",))
    assert text.count("deadzone_trial{") == 1
    assert 'study="a \\"quoted\\" study"' in text and f"0 {NOON}.000" in text


def test_promtool_reads_it(tmp_path):
    needs("promtool")
    table = pd.DataFrame(
        [trial(n, f"2026-01-07T12:0{n}:00.000+00:00", 1.5, "none") for n in (1, 2)]
    )
    (tmp_path / "trials").write_text(as_openmetrics(table, "probe", ("cpu_limit",)))
    make = (
        "promtool",
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        str(tmp_path / "trials"),
        str(tmp_path),
    )
    assert subprocess.run(make, capture_output=True, text=True, check=True).stdout.count("\n") >= 2
