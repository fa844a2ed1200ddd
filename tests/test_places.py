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


def test_from_anywhere_else_runs_are_kept_here_and_notebooks_are_those_of_the_package(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("DEADZONE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert places.home() == tmp_path / "deadzone"
    assert places.runs_folder() == tmp_path / "deadzone" / "runs"
    assert places.reports_folder() == tmp_path / "deadzone" / "reports"
    assert places.notebook("sweep") == ROOT / "notebooks" / "sweep.ipynb"
    below = tmp_path / "deadzone" / "runs" / "probe"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert places.home() == tmp_path / "deadzone"


def test_runs_are_kept_beside_the_study_wherever_it_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("DEADZONE_HOME", "")
    monkeypatch.delenv("DEADZONE_HOME")
    beside = tmp_path / "project" / "probe.yaml"
    beside.parent.mkdir()
    monkeypatch.chdir(tmp_path)
    places.use_home_of(beside)
    assert places.runs_folder() == beside.parent / "deadzone" / "runs"


def test_what_is_named_wins_and_may_be_any_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DEADZONE_HOME", str(tmp_path))
    assert places.runs_folder() == tmp_path / "runs"
    assert places.notebook("sweep") == ROOT / "notebooks" / "sweep.ipynb"
    (tmp_path / "notebooks" / "studies").mkdir(parents=True)
    assert places.runs_folder() == tmp_path / "data" / "runs"
    with pytest.raises(ReportError, match="the notebook is missing; restore it"):
        places.notebook("sweep")
