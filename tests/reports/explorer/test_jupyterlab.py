"""The explorer in a real JupyterLab in a real browser: a slider moves, and the figure follows."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from jupyterlab_browser import in_browser, lab, run_all, until
from needs import needs

NOTEBOOK = Path(__file__).resolve().parents[3] / "notebooks" / "explore.ipynb"


@pytest.fixture
def chromium():
    return needs("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def server(chromium, home, tmp_path):
    """JupyterLab in a repository of its own, which holds the explorer's notebook and no run; gives its address."""
    shutil.copy(NOTEBOOK, home / "notebooks" / "explore.ipynb")
    with lab((sys.executable, "-m", "jupyterlab"), home / "notebooks", tmp_path, os.environ) as address:
        yield address


def slide_to_the_end(page, name):
    page.locator(".widget-slider", has_text=name).locator(".noUi-handle").focus()
    page.keyboard.press("End")


def test_a_slider_moves_the_phases_in_the_notebook(server, chromium, tmp_path):
    with in_browser(chromium, f"{server}/lab/tree/explore.ipynb?reset") as page:
        run_all(page)
        names, curves = page.locator("svg text.phase"), page.locator("svg path.fit")
        until(page, lambda: names.count() == 5)
        assert names.all_text_contents() == ["linear", "dead zone", "linear", "breakthrough", "plateau"]
        slide_to_the_end(page, "breakthrough from")
        slide_to_the_end(page, "paying from")
        until(page, lambda: names.count() < 5)
        assert names.first.text_content() == "dead zone"
        page.get_by_label("knob").select_option(label="threads")
        page.get_by_label("compare with").select_option(label="threads-at-11-cores")
        until(page, lambda: curves.count() == 2)
        picture = Path(os.environ.get("DEADZONE_PICTURES", str(tmp_path))) / "explorer.png"
        page.screenshot(path=str(picture))
        assert picture.stat().st_size > 20_000
