"""Every notebook works at first open on a fresh clone, where there is no run yet."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOR_EACH_CHANGE = ("phases",)
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
OPENED = ("compare", "explore", "phases", "pods", "start")
"""Those that show runs; the sweep is executed in tests/lab/test_jupyterlab.py, the published
studies in tests/notebooks."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=[] if one in FOR_EACH_CHANGE else pytest.mark.night)
        for one in OPENED
    ],
)
def test_it_runs_to_its_end_where_there_is_no_run(name, home):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    NotebookClient(
        notebook, resources={"metadata": {"path": str(NOTEBOOKS)}}, timeout=120
    ).execute()
    shown = [
        text for cell in notebook.cells for out in cell.get("outputs", []) for text in texts(out)
    ]
    assert shown
    if name == "phases":
        assert any("published trials" in text for text in shown)


def texts(output: dict) -> list[str]:
    return [*output.get("data", {}).values(), *filter(None, [output.get("text")])]
