"""Where notebooks, studies, runs and reports are looked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deadzone import places
from deadzone.errors import ReportError

ROOT = Path(__file__).resolve().parents[1]


def test_the_repository_is_found_from_inside_it(tmp_path, monkeypatch):
    monkeypatch.delenv("DEADZONE_HOME", raising=False)
    (tmp_path / "notebooks" / "studies").mkdir(parents=True)
    below = tmp_path / "data" / "runs"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert places.home() == tmp_path
    assert places.runs_folder() == below
    assert places.reports_folder() == tmp_path / "reports"
    assert places.study_folders() == (tmp_path / "notebooks" / "studies",)


def test_from_anywhere_else_it_is_the_one_the_package_was_installed_from(tmp_path, monkeypatch):
    monkeypatch.delenv("DEADZONE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert places.home() == ROOT
    assert places.notebook("sweep") == ROOT / "notebooks" / "sweep.ipynb"


def test_a_named_repository_wins_and_must_be_one(tmp_path, monkeypatch):
    monkeypatch.setenv("DEADZONE_HOME", str(tmp_path))
    with pytest.raises(ReportError, match="There is no Deadzone repository"):
        places.home()
    (tmp_path / "notebooks" / "studies").mkdir(parents=True)
    assert places.home() == tmp_path
    with pytest.raises(ReportError, match="the notebook is missing; restore it"):
        places.notebook("sweep")


def test_the_package_is_imported_without_its_heavy_parts():
    program = "import sys, deadzone; print('pandas' in sys.modules, 'scipy' in sys.modules)"
    said = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    assert said.stdout == "False False\n"
