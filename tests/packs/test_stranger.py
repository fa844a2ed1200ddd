"""`docs/packs.md` typed as it stands: a pack that nobody here ships, built, installed and used
without a change here."""

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from disturbance import NO_DOUBTS

from deadzone import packs, plugins
from deadzone.errors import EXIT_FINDING, PackError, StudyError
from deadzone.verbs.studies import load_study

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "packs.md"
MOST_LINES, MOST_NAMES = 60, 60


def files() -> dict[str, str]:
    """The files of the page, by the name that stands before each."""
    named = re.compile(r"`([\w./-]+\.(?:toml|py|sql|yaml))`[^`]*?:\n```\w+\n(.*?)```", re.DOTALL)
    text = PAGE.read_text().replace("`deadzone.packs`", "deadzone.packs")
    text = text.replace("`pip install .`, and a study may name it. ", "")
    return dict(named.findall(text))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of a process that has the pack beside what is installed here."""
    source, installed = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name, text in files().items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    offline = ("--no-deps", "--no-index", "--no-build-isolation")
    argv = (sys.executable, "-m", "pip", "install", "-q", *offline, "--target", installed, source)
    subprocess.run(argv, check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(installed)}


@pytest.fixture
def deadzone(environment, home, notebooks):
    """The command, with the pack, in a folder with the study and the script of the page."""
    for name in ("insert.sql", "sqlite-insert.yaml"):
        trusting = f"trust: {json.dumps(NO_DOUBTS)}\n" if name.endswith(".yaml") else ""
        (home / "notebooks" / "studies" / name).write_text(files()[name] + trusting)

    def run(*arguments, code=0, or_else=0):
        argv = (sys.executable, "-m", "deadzone.cli.main", *arguments)
        own = {**environment, "DEADZONE_HOME": str(home)}
        ended = subprocess.run(argv, env=own, cwd=home, text=True, capture_output=True)
        assert ended.returncode in (code, or_else or code), (ended.stdout + ended.stderr)[-4000:]
        return ended.stdout

    return run


def test_the_pack_is_small_and_uses_public_names_alone():
    sources = [text for name, text in files().items() if name.endswith(".py")]
    assert len(sources) == 2
    assert sum(1 for text in sources for line in text.splitlines() if line.strip()) <= MOST_LINES
    taken = {
        line.split()[1]
        for text in sources
        for line in text.splitlines()
        if line.startswith("from deadzone")
    }
    assert taken == {"deadzone.plugins"}


def test_names_for_packs_are_few_and_each_is_there():
    assert len(set(dir(plugins))) == len(plugins.__all__) <= MOST_NAMES
    assert all(getattr(plugins, name) is not None for name in plugins.__all__)


@pytest.mark.night
def test_a_pack_of_a_stranger_is_in_the_schema_in_doctor_and_in_a_report(deadzone, home):
    assert {"sqlite"} <= {
        model["properties"]["kind"].get("const")
        for model in json.loads(deadzone("schema"))["$defs"].values()
        if "kind" in model.get("properties", {})
    }
    assert "SQLite" in {check["name"] for check in json.loads(deadzone("doctor", "--json"))}
    said = deadzone("run", "sqlite-insert", "--json", or_else=EXIT_FINDING)
    answer = json.loads(said.splitlines()[-1])
    trials = pd.read_csv(StringIO(deadzone("export", "sqlite-insert/latest")))
    assert len(trials) == 16 and set(trials["tables"]) == {1.0}
    assert "sqlite-insert" in Path(answer["report"]).read_text()


def test_a_script_that_is_not_there_is_said_in_a_sentence(deadzone, home):
    (home / "notebooks" / "studies" / "insert.sql").unlink()
    deadzone("sweep", "sqlite-insert", code=4)


def test_a_study_whose_pack_is_not_here_says_so(home, deadzone):
    with pytest.raises(
        StudyError, match=r"'sqlite'; allowed: .* If a pack brings it, install that pack here"
    ):
        load_study("sqlite-insert")


@pytest.mark.parametrize(
    ("place", "said"),
    [("nowhere:PACK", r"The pack other \(nowhere:PACK\) cannot be imported: No module"),
     ("sys:path", r"is no deadzone\.plugins\.Pack")],
    ids=["missing", "another kind"],
)  # fmt: skip
def test_what_is_no_pack_is_refused(monkeypatch, place, said):
    entry = metadata.EntryPoint("other", place, "deadzone.packs")
    monkeypatch.setattr(metadata, "entry_points", lambda group: (entry,))
    packs.packs.cache_clear()
    with pytest.raises(PackError, match=said):
        packs.packs()
    packs.packs.cache_clear()
