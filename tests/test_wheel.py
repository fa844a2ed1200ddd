"""The wheel alone, in a fresh environment and an empty folder, as somebody meets it who has no clone of the repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheel")  # which is built once

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run((sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder), cwd=ROOT, check=True,
                   capture_output=True)  # fmt: skip
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """Runs programs of an environment with the wheel in it, in an empty folder; the dependencies are those here.

    They are lent by a .pth file that names the packages alone, so that no checkout of Deadzone comes with them.
    """
    import pandas

    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    [packages] = home.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "zz_lent.pth").write_text(f"{Path(pandas.__file__).parents[1]}\n")
    python = home / "bin" / "python"
    folder = tmp_path_factory.mktemp("empty")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DEADZONE_HOME")}
    environment = {
        **kept,
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "JUPYTER_PATH": f"{kernel(home, python)}:{sys.prefix}/share/jupyter",
    }

    def run(*arguments, cwd=folder, code=0):
        ended = subprocess.run((python, *map(str, arguments)), cwd=cwd, env=environment, capture_output=True,
                               text=True, check=False, stdin=subprocess.DEVNULL)  # fmt: skip
        assert ended.returncode == code, ended.stdout[-2000:] + ended.stderr[-3000:]
        return ended.stdout

    assert str(packages) in run("-c", "import deadzone; print(deadzone.__file__)")
    run.folder = folder
    return run


def kernel(home, python):
    """A folder with the kernel of that environment under the name that every notebook asks for."""
    folder = home / "share" / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"})
    )
    return folder.parents[1]


DEADZONE = ("-m", "deadzone.cli.main")


def test_it_carries_notebooks_studies_tables_and_templates(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    carried = "deadzone/carried"
    assert {f"{carried}/notebooks/phases.ipynb", f"{carried}/notebooks/studies/xz-threads.yaml"} <= names
    assert {f"{carried}/.gitattributes", "deadzone/cli/repository/README.md"} <= names
    assert any(name.startswith(f"{carried}/data/reference/") for name in names)


def test_try_then_run_of_the_saved_study_then_report_in_an_empty_folder(alone):
    line = ("try", "-L", "n", "1,2,3", "-r", "2", "--save", "my.yaml", "-q", "--", "sleep", "0.0{n}")
    assert "Run: deadzone/runs/sleep-n/" in alone(*DEADZONE, *line)
    said = json.loads(alone(*DEADZONE, "run", "my.yaml", "--json").splitlines()[-1])
    assert Path(said["report"]).is_relative_to(alone.folder / "deadzone" / "reports" / "sleep-n")
    assert Path(said["report"]).is_file()
    again = json.loads(alone(*DEADZONE, "report", "sleep-n/latest", "--json"))
    assert Path(again["pdf"]).is_file()
    assert {path.name for path in alone.folder.iterdir()} == {"deadzone", "my.yaml"}


def test_a_bundled_study_finds_the_program_that_it_measures(alone):
    little = {
        "factors.threads": "[1, 2]",
        "design.replicates": 1,
        "design.warmup": 0,
        "trust.max_attempts": 1,
    }
    alone(
        *DEADZONE, "sweep", "sqlite-threads", *(part for asked in little.items() for part in ("-p", *asked))
    )
    [run] = (alone.folder / "deadzone" / "runs" / "sqlite-threads").iterdir()
    assert {json.loads(line)["status"] for line in (run / "trials.jsonl").open()} == {"ok"}


def test_a_repository_of_ones_own_runs_its_notebooks_on_a_schedule_and_by_hand(alone):
    alone(*DEADZONE, "init", "tuning")
    folder = alone.folder / "tuning"
    overrides = ("-y", "overrides: {replicates: 1, warmup: 0, factors.level: [1, 5, 9]}")
    scheduled = ("-m", "papermill", "notebooks/sweep.ipynb", "data/sweep.ipynb", "-p", "study", "gzip-level")
    alone(*scheduled, *overrides, cwd=folder)
    [run] = (folder / "data" / "runs" / "gzip-level").iterdir()
    assert (run / "trials.parquet").is_file()
    execute = (
        "-m",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--output-dir",
        folder / "data" / "executed",
    )
    alone(*execute, "phases.ipynb", "explore.ipynb", cwd=folder / "notebooks")  # what Run All does
    alone(*DEADZONE, "report", "gzip-level/latest", cwd=folder)
    assert list((folder / "reports" / "gzip-level").glob("*/index.html"))
