import hashlib
import json
import os
import subprocess

import pytest
from report.made_runs import brief_notebook

from deadzone.store.run import RunFolder, list_runs

ANALYSIS = """\
import deadzone as dz
report = dz.load_run(run).report(tolerance=tolerance)
report.title()"""


@pytest.fixture
def own(home, notebooks):
    """A notebook of the user's, in a folder beside the others."""
    path = home / "analyses" / "mine.ipynb"
    path.parent.mkdir()
    return brief_notebook(path, "How long pauses are.", ANALYSIS, "dz.Verdict(report)")


@pytest.fixture
def study(own, write_study):
    pauses = {"argv": ["sleep", "{pause}"], "factors": {"pause": [0.03, 0.06, 0.12]}}
    design = {"replicates": 3}
    return write_study(**pauses, design=design, notebook="../../analyses/mine.ipynb")


def test_one_command_sweeps_and_publishes_by_the_notebook_of_the_study(
    study, own, home, deadzone, traces
):
    given = ("-p", "replicates", "2", "-p", "tolerance", "0.1")
    said = deadzone("run", "probe", *given, "--json", code=0)
    answer = json.loads(said.out.splitlines()[-1])
    (run,) = list_runs(home / "data" / "runs")
    assert answer["run_id"] == run.run_id and not answer["moved"]
    assert run.finished() == {1, 2, 3, 4, 5, 6}
    assert answer["report"] == str(home / "reports" / "probe" / "index.html")
    published = home / "reports" / "probe" / run.run_id
    page = (published / "index.html").read_text()
    assert "How long pauses are." in page and "Verdict" in page
    assert (published / "report.pdf").read_bytes().startswith(b"%PDF")
    report = json.loads((published / "report.ipynb").read_text())
    named = {"run": f"probe/{run.run_id}", "tolerance": 0.1}
    assert report["metadata"]["papermill"]["parameters"] == named
    assert (run.folder / "sweep.ipynb").exists()
    assert "trial " in said.err and "6 of 6 trials" in said.err
    assert f"recorded in {run.folder}" in said.err and "Traceback" not in said.err
    assert any("0.03" in line for line in said.err.split("deadzone: ")[1:])  # the verdict in a line
    assert traces(os.getpid()) == []
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
    ("notebook", "words"),
    [("nosuch.ipynb", "nosuch.ipynb: there is no such notebook in"), ("mine", "notebook")],
)
def test_a_notebook_that_is_not_there_is_refused_before_anything_is_measured(
    home, write_study, deadzone, notebook, words
):
    write_study(notebook=notebook)
    assert words in deadzone("sweep", "probe", code=2).err
    assert not (home / "data").exists()


def test_how_to_begin_a_notebook_of_ones_own_is_told(home, deadzone):
    said = deadzone("init", home, "--notebook", "mine", code=2)
    assert "copy notebooks/phases.ipynb" in said.err


def test_a_notebook_that_takes_no_run_is_refused(home, own, study, sweep, deadzone):
    own.write_text(own.read_text().replace("run: str", "table: str"))
    run = sweep(study)
    said = deadzone("publish", f"probe/{run.run_id}")
    assert said.code == 3 and "no parameter run or source" in said.err
