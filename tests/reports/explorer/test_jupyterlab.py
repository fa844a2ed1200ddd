"""The explorer in a real JupyterLab in a real browser: a slider moves, and the figure follows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from needs import needs

NOTEBOOK = Path(__file__).resolve().parents[3] / "notebooks" / "explore.ipynb"
PATIENCE_S = 120


@pytest.fixture
def chromium():
    return needs("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def lab(chromium, home, tmp_path):
    """JupyterLab in a repository of its own, which holds the explorer's notebook and no run; gives its address."""
    shutil.copy(NOTEBOOK, home / "notebooks" / "explore.ipynb")
    state = {
        name: str(tmp_path / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    log = tmp_path / "lab.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
             "--IdentityProvider.token=", f"--ServerApp.root_dir={home / 'notebooks'}", "--LabApp.extension_manager=readonly"],
            stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **state},
        )  # fmt: skip
    try:
        yield address(log)
    finally:
        server.terminate()
        server.wait(timeout=30)


def address(log):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            try:
                urllib.request.urlopen(f"{found.group()}/api", timeout=5)
                return found.group()
            except OSError:
                pass
        time.sleep(0.3)
    raise AssertionError(log.read_text()[-3000:])


def until(page, condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, page.locator(".jp-OutputArea").all_text_contents()
        page.wait_for_timeout(200)


def slide_to_the_end(page, name):
    page.locator(".widget-slider", has_text=name).locator(".noUi-handle").focus()
    page.keyboard.press("End")


def test_a_slider_moves_the_phases_in_the_notebook(lab, chromium, tmp_path):
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = play.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1500, "height": 1400})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(f"{lab}/lab/tree/explore.ipynb?reset")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        until(page, lambda: page.get_by_text("| Idle").count() > 0)
        page.get_by_text("Run", exact=True).first.click()
        page.get_by_text("Run All Cells", exact=True).first.click()
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
        browser.close()
