from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from deadzone.cli.main import deadzone
from deadzone.verbs.doctor import Check, main_job_works

LEFT = "deadzone-4194304-1-"
"""How the name of a folder begins whose process is no more."""


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Check]]:
    """What `deadzone doctor --json` finds where the kubeconfig leads nowhere and a killed run left
    a scratch folder."""
    folder = tmp_path_factory.mktemp("scratch")
    (folder / "config").write_text("this is no kubeconfig")
    (folder / f"{LEFT}{Path('/proc/self/ns/pid').stat().st_ino}").mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KUBECONFIG", str(folder / "config"))
        patched.setattr(tempfile, "tempdir", str(folder))
        said = CliRunner().invoke(deadzone, ("doctor", "--json"), catch_exceptions=False)
        yield {check["name"]: Check(**check) for check in json.loads(said.stdout)}


def test_the_bundled_ffmpeg_is_tried_and_named(findings: dict[str, Check]):
    assert findings["ffmpeg"].state == "works"
    assert "ffmpeg version" in findings["ffmpeg"].finding


def test_whatever_is_absent_comes_with_a_reason(findings: dict[str, Check]):
    assert all(check.finding for check in findings.values())
    missing = [check for check in findings.values() if check.state == "missing"]
    assert all(check.remedy for check in missing), missing


def test_a_mechanism_that_works_was_put_in_force(findings: dict[str, Check]):
    working = [
        c for name, c in findings.items() if name.startswith("CPU limit by") and c.state == "works"
    ]
    if not working:
        assert findings["CPU limit"].state == "missing"
        pytest.skip("no mechanism for CPU quotas works on this machine, as the doctor says")
    assert all("read back" in check.finding for check in working)


def test_something_missing_means_the_main_job_cannot_be_done():
    fine = Check("ffmpeg", "works", "there")
    absent = Check("container engine", "optional", "none")
    assert main_job_works([fine, absent])
    assert not main_job_works([fine, absent, Check("CPU limit", "missing", "none", "be root")])


def test_a_kubeconfig_that_leads_nowhere_means_no_cluster(findings: dict[str, Check]):
    assert findings["Kubernetes"].state == "optional"
    assert findings["Kubernetes"].finding.startswith("no cluster")


def test_what_a_killed_run_left_is_removed_and_said(findings: dict[str, Check]):
    removed = findings["left-overs"].finding.partition(": ")[2].split(", ")
    [left] = [path for path in removed if LEFT in path]
    assert not Path(left).exists()
