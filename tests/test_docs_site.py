"""The site of the documentation, as `make docs` builds it: no warning, so no link leads nowhere."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deadzone as dz
from deadzone.cli.main import commands
from deadzone.study.loading import json_schema

ROOT = Path(__file__).resolve().parent.parent

SPHINX = """
import gc, sys
gc.disable()  # next to nothing of what it makes is garbage
sys.modules["rfc3987_syntax"] = None  # as `deadzone.cli.main` does, for the same reason
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""


def build(folder, *quickly):
    """The site as `make docs` builds it, in a folder; quickly: options beside its own."""
    pytest.importorskip(
        "furo", reason="the site needs .venv/bin/pip install -r requirements-dev.lock"
    )
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^docs:.*\n\t\$\(BIN\)/sphinx-build (.*)", makefile, re.MULTILINE)[1]
    options = recipe.replace("build/doctrees", f"{folder}/doctrees")
    options = options.replace("build/site", f"{folder}/html")
    ended = subprocess.run(
        (sys.executable, "-c", SPHINX, *quickly, *options.split()),
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    return folder / "html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site"))


def test_every_verb_command_and_key_has_its_place(tmp_path):
    """Pages are read and their links followed, and nothing is written or executed: by day that
    finds what leads nowhere in a part of the time."""
    build(tmp_path, "-b", "dummy", "-D", "nb_execution_mode=off")

    def nodes(page):
        path = tmp_path / "doctrees" / "docs" / "reference" / f"{page}.doctree"
        return pickle.loads(path.read_bytes()).pformat()

    verbs, options, keys = map(nodes, ("verbs", "options", "study-keys"))
    assert not [verb for verb in dir(dz) if f'ids="deadzone.{verb}"' not in verbs]
    assert not [name for name in commands() if f'ids="deadzone-{name}"' not in options]
    shown = re.findall(r"<literal[^>]*>\s+(\S+)\n", keys)
    assert json_schema()["properties"].keys() <= set(shown)


@pytest.mark.night
def test_the_top_leads_to_the_first_page_and_what_is_copied_is_typed_as_it_stands(site):
    assert "url=docs/index.html" in (site / "index.html").read_text()
    page = (site / "docs" / "how-to" / "try.html").read_text()
    assert "copybutton" in page
    assert not re.findall("[\u2018\u2019\u201c\u201d\u2013]", page)


@pytest.mark.night
@pytest.mark.parametrize("notebook", ["start", "phases"])
def test_a_tutorial_was_executed(site, notebook):
    page = (site / "notebooks" / f"{notebook}.html").read_text()
    assert "cell_output" in page and "<img" in page


@pytest.mark.night
def test_nothing_is_loaded_from_the_network(site):
    loaded = re.compile(
        r'<(?:script|img|iframe)[^>]*src="(?:https?:)?//|<link[^>]*href="(?:https?:)?//'
    )
    assert not [page.name for page in site.rglob("*.html") if loaded.search(page.read_text())]
    assert (site / "searchindex.js").stat().st_size > 10_000


REFERENCE = ("docs/reference/study-keys", "docs/reference/verbs")
LOOKED_AT = ("docs/index", "README", "notebooks/start", *REFERENCE)
OF_AXE = ("docs/index", "docs/reference/commands", "notebooks/start")
"""The largest take it ten seconds each."""


@pytest.mark.night
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_grave(site, browser, scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = browser.new_page(color_scheme=scheme)
    for name in OF_AXE:
        page.goto(f"file://{site}/{name}.html")
        found = axe.run(page)["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not [(name, one["id"], one["nodes"][0]["html"]) for one in grave]
    page.close()


@pytest.mark.night
@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_is_wider_than_its_window(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    for name in LOOKED_AT:
        page.goto(f"file://{site}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.close()


@pytest.mark.night
def test_the_search_finds_a_subject_without_a_network(site, browser):
    page = browser.new_page()
    page.goto(f"file://{site}/search.html?q=autoscaler")
    page.wait_for_selector("#search-results li a[href*='pods.html']")
    page.close()
