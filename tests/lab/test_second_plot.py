import nbformat
import pytest
from nbclient import NotebookClient

FRAME = """
import deadzone
import pandas as pd
frame = pd.DataFrame({"threads": [1, 2, 4, 8] * 4, "wall_s": [8.0, 4.1, 2.2, 2.1] * 4})
frame["wall_s"] *= [1 + i / 500 for i in range(16)]
"""
FIT = "deadzone.fit_phases(frame, 'threads', 'wall_s')"
OWN = "frame.plot(x='threads', y='wall_s')"

PLOTS = {
    "a model twice": [f"model = {FIT}\nmodel.plot()", "model.plot()", OWN],
    "a comparison": [
        "other = frame.assign(wall_s=frame['wall_s'] * 1.2)\n"
        "deadzone.compare(frame, other, 'wall_s', by='threads').plot()",
        OWN,
    ],
    "a section of a report": [
        "from IPython.display import display\n"
        "from deadzone.report.sweep.analysis import analyse\n"
        "from deadzone.report.sweep.report import SweepReport\n"
        "from deadzone.report.sweep.source import load_source\n"
        "frame.to_csv('t.csv', index=False)\n"
        "report = SweepReport(analyse(load_source(table='t.csv', knob='threads', "
        "response='wall_s', goal='min')))\n"
        "display(*report.face())",
        OWN,
        "import matplotlib.pyplot as plt\nplt.plot(frame['threads'], frame['wall_s'])",
    ],
}


@pytest.mark.parametrize(
    "plots",
    [pytest.param(plots, id=name, marks=marks) for (name, plots),
     marks in zip(PLOTS.items(), ((), pytest.mark.night, pytest.mark.night), strict=True)],
)  # fmt: skip
def test_each_plot_is_drawn_in_a_fresh_kernel(plots, tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in (FRAME, *plots)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, timeout=60).execute()
    for cell in notebook.cells[1:]:
        assert any(map(is_picture, cell.outputs)), (cell.source, cell.outputs)


def is_picture(output: dict) -> bool:
    """An image, or a block of a report with its drawing."""
    data = output.get("data", {})
    return any(name.startswith("image/") for name in data) or "<svg" in data.get("text/html", "")
