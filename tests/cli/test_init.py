import json

import pytest

from deadzone import places
from deadzone.run.sweep.opening import planned_file


@pytest.fixture
def laid_out(tmp_path, monkeypatch, deadzone):
    """A folder after `deadzone init`, and what was said."""
    monkeypatch.delenv("DEADZONE_HOME", raising=False)
    folder = tmp_path / "tuning"
    return folder, deadzone("init", str(folder), "--json")


def test_the_folder_is_a_repository_with_a_study_that_can_be_planned(laid_out, monkeypatch):
    folder, said = laid_out
    assert "notebooks/sweep.ipynb" in json.loads(said.out)["files"]
    monkeypatch.chdir(folder)
    assert places.home() == folder and places.runs_folder() == folder / "data" / "runs"
    assert places.notebook("phases") == folder / "notebooks" / "phases.ipynb"
    plan = planned_file(folder / "notebooks" / "studies" / "gzip-level.yaml")
    assert len(plan.treatments) == 9
    for name in ("README.md", "environment.yml", ".github/workflows/studies.yml"):
        assert "@" not in (folder / name).read_text().replace("@v", "")
    assert "filter=nbstripout" in (folder / ".gitattributes").read_text()


def test_what_is_there_already_is_left_as_it_is(laid_out, deadzone):
    folder, _ = laid_out
    (folder / "README.md").write_text("mine")
    (folder / "environment.yml").unlink()
    assert json.loads(deadzone("init", str(folder), "--json").out)["files"] == ["environment.yml"]
    assert (folder / "README.md").read_text() == "mine"
