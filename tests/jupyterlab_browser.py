"""A real JupyterLab, and a real browser in front of it."""

from __future__ import annotations

import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_for

PATIENCE_S = 120


@contextmanager
def lab(
    start: Sequence[object], notebooks: Path, own: Path, environment: Mapping[str, str]
) -> Iterator[str]:
    """JupyterLab on a folder of notebooks; gives its address. start: what starts it. own: folder of
    what it keeps."""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    state = {name: str(own / name.lower()) for name in names}
    log = own / "lab.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            [
                *map(str, start),
                "--no-browser",
                "--allow-root",
                "--ip=127.0.0.1",
                "--port=0",
                "--IdentityProvider.token=",
                f"--ServerApp.root_dir={notebooks}",
                "--LabApp.extension_manager=readonly",
            ],
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**environment, **state},
            cwd=notebooks,
        )
    try:
        yield address(log)
    finally:
        server.terminate()
        server.wait(timeout=30)


def address(log: Path) -> str:
    """Of the server, once it answers."""

    def look() -> str | None:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            urllib.request.urlopen(f"{found.group()}/api", timeout=5)
        return found and found.group()

    return str(wait_for(look, f"JupyterLab does not answer, see {log}", PATIENCE_S, 0.3))


@contextmanager
def in_browser(chromium: str, address: str) -> Iterator[Any]:
    """A page of Chromium with a notebook open in JupyterLab, its kernel idle, at an address."""
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = play.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1500, "height": 1400})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(address)
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        until(page, lambda: page.get_by_text("| Idle").count() > 0)
        yield page
        browser.close()


def run_all(page: Any) -> None:
    """What a person does: Run, Run All Cells."""
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).first.click()


def until(page: Any, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, page.locator(".jp-OutputArea").all_text_contents()
        page.wait_for_timeout(200)
