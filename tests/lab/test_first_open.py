from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from notebooks.executed import Executed

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
OPENED = ("compare", "explore", "phases", "pods", "start")
"""Those that show runs; the sweep is executed in tests/lab/test_jupyterlab.py, the published
studies in tests/notebooks."""


def test_the_phases_shown_are_of_published_trials(home):
    """In this process: a kernel of its own has each notebook at night."""
    (home / "notebooks" / "phases.ipynb").symlink_to(NOTEBOOKS / "phases.ipynb")
    with Executed("phases") as executed:
        assert "published trials" in executed.shown


@pytest.mark.night
@pytest.mark.parametrize("name", OPENED)
def test_it_runs_to_its_end_where_there_is_no_run(name, home):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    NotebookClient(
        notebook, resources={"metadata": {"path": str(NOTEBOOKS)}}, timeout=120
    ).execute()
    assert [output for cell in notebook.cells for output in cell.get("outputs", ())]
