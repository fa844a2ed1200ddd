from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deadzone.verbs.doctor import Check, examine, main_job_works


@pytest.fixture(scope="module")
def findings() -> dict[str, Check]:
    return {check.name: check for check in examine()}


def deadzone(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = (sys.executable, "-m", "deadzone.cli.main", *arguments)
    return subprocess.run(
        argv, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )


def test_the_bundled_ffmpeg_is_tried_and_named(findings: dict[str, Check]):
    assert findings["ffmpeg"].state == "works"
    assert "ffmpeg version" in findings["ffmpeg"].finding


def test_whatever_is_absent_comes_with_a_reason(findings: dict[str, Check]):
    assert all(check.finding for check in findings.values())
    for check in findings.values():
        if check.state == "missing":
            assert check.remedy, f"{check.name} says not how to get it"


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


def test_a_kubeconfig_that_leads_nowhere_is_no_traceback_and_what_a_killed_run_left_is_removed_and_said(  # noqa: E501
    tmp_path: Path,
):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("this is no kubeconfig")
    left = tmp_path / f"deadzone-4194304-1-{Path('/proc/self/ns/pid').stat().st_ino}"
    left.mkdir()
    answer = deadzone("doctor", "--json", KUBECONFIG=str(kubeconfig), TMPDIR=str(tmp_path))
    assert "Traceback" not in answer.stderr
    found = {check["name"]: check for check in json.loads(answer.stdout)}
    assert found["Kubernetes"]["state"] == "optional"
    assert found["Kubernetes"]["finding"].startswith("no cluster")
    assert str(left) in found["left-overs"]["finding"]
    assert not left.exists()
