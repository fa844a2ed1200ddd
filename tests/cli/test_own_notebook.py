import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from deadzone.store.run import RunFolder, list_runs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def own(home, deadzone):
    """A copy of phases.ipynb with a sentence of the user's, in a folder beside the others."""
    shutil.copy(ROOT / "notebooks" / "sweep.ipynb", home / "notebooks")
    said = deadzone("init", home, "--notebook", "mine")
    assert said.code == 2 and "copy notebooks/phases.ipynb" in said.err
    moved = home / "analyses" / "mine.ipynb"
    moved.parent.mkdir()
    shutil.copy(ROOT / "notebooks" / "phases.ipynb", moved)
    moved.write_text(
        moved.read_text().replace("What the curve missed, in", "How long pauses are beside")
    )
    return moved


@pytest.fixture
def study(own, write_study):
    pauses = {"argv": ["sleep", "{pause}"], "factors": {"pause": [0.02, 0.04, 0.08]}}
    return write_study(**pauses, notebook="../../analyses/mine.ipynb")


def test_the_notebook_of_a_study_is_executed_and_published_and_stands_in_the_provenance(
    study, own, home, deadzone
):
    said = deadzone("run", "probe", "-p", "tolerance", "0.1", "--json")
    assert said.code == 0, said.err
    (run,) = list_runs(home / "data" / "runs")
    page = (home / "reports" / "probe" / run.run_id / "index.html").read_text()
    assert "How long pauses are beside logarithms" in page and "Verdict" in page
    report = json.loads((home / "reports" / "probe" / run.run_id / "report.ipynb").read_text())
    assert report["metadata"]["papermill"]["parameters"] == {
        "run": f"probe/{run.run_id}",
        "tolerance": 0.1,
    }
    assert run.study().notebook == "analyses/mine.ipynb"
    noted = run.provenance()["notebook"]
    assert noted["path"] == "analyses/mine.ipynb"
    assert noted["sha256"] == hashlib.sha256(own.read_bytes()).hexdigest()
    assert noted["differs"] is None


def test_whether_it_differs_from_the_committed_one_is_noted(sweep, study, own, home):
    run = sweep(study)

    def git(*words: str) -> None:
        name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(("git", "-C", str(home), *name, *words), check=True, capture_output=True)

    def differs() -> bool | None:
        run.note_notebook(own, home)
        return RunFolder(run.folder).provenance()["notebook"]["differs"]

    git("init")
    assert differs() is None
    git("add", "analyses")
    git("commit", "-m", "An analysis")
    assert differs() is False
    own.write_text(own.read_text().replace("How long", "How short"))
    assert differs() is True


@pytest.mark.parametrize(
    ("notebook", "code", "words"),
    [("nosuch.ipynb", 2, "nosuch.ipynb: there is no such notebook in"), ("mine", 2, "notebook")],
)
def test_a_notebook_that_is_not_there_is_refused_before_anything_is_measured(
    home, write_study, deadzone, notebook, code, words
):
    write_study(notebook=notebook)
    assert words in deadzone("sweep", "probe", code=code).err
    assert not (home / "data").exists()


def test_a_notebook_that_takes_no_run_is_refused(home, own, study, sweep, deadzone):
    own.write_text(own.read_text().replace("run: str", "table: str"))
    run = sweep(study)
    said = deadzone("publish", f"probe/{run.run_id}")
    assert said.code == 3 and "no parameter run or source" in said.err
