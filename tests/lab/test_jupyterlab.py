import json
import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from jupyterlab_browser import PATIENCE_S, in_browser, lab, run_all, until
from needs import needs
from programs import PROGRAMS
from report.made_runs import write_notebook

from lab.test_second_plot import FRAME

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


HELD_FROM_THE_EIGHTH = """
sleep "$1"; echo >> "$2/runs"
while [ -e "$2/shut" ] && [ "$(wc -l < "$2/runs")" -ge 8 ]; do sleep 0.1; done
"""


@pytest.fixture(scope="module")
def chromium():
    return needs("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A repository of this file's own, without a run at first; the one in force."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "notebooks" / "studies").mkdir(parents=True)
    (folder / "notebooks" / "studies" / "programs").symlink_to(PROGRAMS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DEADZONE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def server(chromium, home, tmp_path_factory):
    """The address of JupyterLab in that repository."""
    own = tmp_path_factory.mktemp("jupyter")
    with lab((sys.executable, "-m", "jupyterlab"), home / "notebooks", own, os.environ) as address:
        yield address


def picture(page, name, tmp_path):
    path = Path(os.environ.get("DEADZONE_PICTURES", str(tmp_path))) / f"{name}.png"
    page.screenshot(path=str(path))
    return path


def written(path, *sources):
    write_notebook(path, *map(nbformat.v4.new_code_cell, sources))


def slide_to_the_end(page, name):
    page.locator(".widget-slider", has_text=name).locator(".noUi-handle").focus()
    page.keyboard.press("End")


@pytest.mark.night
def test_a_slider_of_the_explorer_moves_the_phases(server, chromium, home, tmp_path):
    path = home / "notebooks" / "slid.ipynb"
    half = "deadzone.read_table('ffmpeg-16-cores/trials').query(\"thread_setting != 'auto'\")"
    written(path, "import deadzone", f"deadzone.explore({half}, 'cpu_limit', 'wall_s')")
    with in_browser(chromium, f"{server}/lab/tree/slid.ipynb?reset") as page:
        run_all(page)
        figure = page.locator(".jp-OutputArea img").first
        until(page, lambda: figure.count() > 0)
        drawn = figure.get_attribute("src")
        slide_to_the_end(page, "linear")
        until(page, lambda: figure.get_attribute("src") != drawn)
        picture(page, "explorer", tmp_path)
        page.keyboard.press("Control+s")
        until(page, lambda: "dead zone" in path.read_text())
    outputs = [
        output
        for cell in json.loads(path.read_text())["cells"]
        for output in cell.get("outputs", [])
    ]
    shown = next(output for output in outputs if "image/png" in output.get("data", {}))
    assert "dead zone or linear" in shown["metadata"]["image/png"]["alt"]


@pytest.mark.night
def test_two_plots_in_a_row_are_both_drawn_and_a_cell_is_edited_and_executed_on(
    server, chromium, home, tmp_path
):
    model = "model = deadzone.fit_phases(frame, 'threads', 'wall_s')\nmodel.plot()"
    own = "print('levels', len(model.levels)); frame.plot(x='threads', y='wall_s')"
    written(home / "notebooks" / "two.ipynb", FRAME, model, "model.plot()", own)
    with in_browser(chromium, f"{server}/lab/tree/two.ipynb?reset") as page:
        run_all(page)
        pictures = page.locator(".jp-OutputArea img")
        until(page, lambda: pictures.count() == 3)
        until(page, lambda: page.get_by_text("levels 4").count() > 0)
        page.locator(".jp-CodeCell .cm-content").nth(1).click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("frame = frame[frame['threads'] < 8]\n")
        run_all(page)
        until(page, lambda: page.get_by_text("levels 3").count() > 0)
        until(page, lambda: pictures.count() == 3)
        picture(page, "two-plots", tmp_path)


@pytest.mark.night
def test_a_sweep_shows_its_bar_in_place_is_interrupted_and_goes_on(
    server, chromium, home, write_study, tmp_path
):
    """The eighth trial waits until it is interrupted, however slowly the browser draws."""
    (tmp_path / "shut").touch()
    write_study(
        "slow",
        argv=["sh", "-c", HELD_FROM_THE_EIGHTH, "sh", "{pause}", str(tmp_path)],
        factors={"pause": [0.3, 0.4, 0.5]},
        design={"replicates": 6, "timeout_s": PATIENCE_S},
    )
    shutil.copy(NOTEBOOKS / "sweep.ipynb", home / "notebooks")
    path = home / "notebooks" / "sweep.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ()))
    cell.source = 'study: str = "slow"\nrun_id: str = ""\nresume: str = ""\noverrides: dict = {}'
    nbformat.write(notebook, path)
    with in_browser(chromium, f"{server}/lab/tree/sweep.ipynb?reset") as page:
        run_all(page)
        until(page, lambda: page.get_by_text("trial 8 of 18").count() == 1)
        picture(page, "sweep-running", tmp_path)
        page.locator('[data-command="notebook:interrupt-kernel"]').first.click()
        until(page, lambda: page.get_by_text("go on with `resume=").count() > 0)
        (tmp_path / "shut").unlink()
        until(page, lambda: page.get_by_text("| Idle").count() > 0)
        page.wait_for_timeout(
            2000
        )  # the kernel drops what is asked of it while it drops the cells after the interrupt
        [journal] = (home / "data" / "runs" / "slow").glob("*/trials.jsonl")
        kept = len(journal.read_text().splitlines())
        assert 7 <= kept < 18
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Control+End")
        page.keyboard.type('\nresume = "latest"')
        run_all(page)
        until(page, lambda: page.get_by_text(re.compile("18 trials.*recorded in")).count() > 0)
        assert page.get_by_text("trial 18 of 18").count() == 0, "the line takes the bar's place"
        picture(page, "sweep-ended", tmp_path)
        page.keyboard.press("Control+s")
        until(page, lambda: re.search("18 trials.*recorded in", path.read_text()))
    finished = [json.loads(line)["trial"] for line in journal.read_text().splitlines()]
    assert sorted(finished) == list(range(1, 19))
    saved = nbformat.read(path, as_version=4)
    data = [out.get("data", {}) for cell in saved.cells for out in cell.get("outputs", ())]
    assert not [one for one in data if "application/vnd.jupyter.widget-view+json" in one]
