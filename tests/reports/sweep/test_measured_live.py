"""`source = "live"` measures the bundled study by the public command, then reports that run."""

from __future__ import annotations

import pytest
import yaml

from deadzone.errors import ReportError
from deadzone.reports.sweep.measured_live import measure_live
from deadzone.store.run import Run


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Write a study into a repository of the test's own."""
    folder = tmp_path / "notebooks" / "studies"
    folder.mkdir(parents=True)
    monkeypatch.setenv("DEADZONE_HOME", str(tmp_path))

    def write(**workload):
        document = {
            "study": "probe",
            "workload": {"kind": "command", **workload},
            "factors": {"threads": [1]},
            "design": {"replicates": 1, "warmup": 0},
            "trust": {"max_foreign_cpu": 999, "max_steal": 999, "max_pressure": 1, "max_clock_drift": 999},
        }
        (folder / "probe.yaml").write_text(yaml.safe_dump(document))
        return tmp_path / "data" / "runs"

    return write


def test_the_run_that_was_measured_is_named(study):
    runs = study(argv=["true", "{threads}"])
    run = Run.find(runs, measure_live("probe"))
    assert [record["status"] for record in run.records()] == ["ok"]


def test_a_sweep_that_fails_is_told_in_its_own_words(study):
    study(argv=["no-such-program", "{threads}"])
    with pytest.raises(ReportError, match="no-such-program"):
        measure_live("probe")
