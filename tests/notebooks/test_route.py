"""The notebooks as a scheduler executes them: papermill, nbconvert and `deadzone publish`, in a
bare environment."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PROGRAMS = Path(sys.executable).parent

STUDY = {
    "study": "pauses",
    "workload": {"kind": "command", "argv": ["sleep", "{pause}"]},
    "factors": {"pause": [0.02, 0.04, 0.08]},
    "design": {"replicates": 2, "warmup": 0, "timeout_s": 60},
    "trust": {"max_attempts": 1},
}


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "tuning"
    (folder / "notebooks" / "studies").mkdir(parents=True)
    (folder / "notebooks" / "studies" / "pauses.yaml").write_text(yaml.safe_dump(STUDY))
    for name in ("sweep", "phases"):
        shutil.copy(NOTEBOOKS / f"{name}.ipynb", folder / "notebooks")
    return folder


@pytest.mark.night
def test_papermill_nbconvert_and_publish_work_as_from_a_crontab_in_another_folder(
    repository, tmp_path
):
    here = tmp_path / "elsewhere"
    here.mkdir()
    bare = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C"}

    def do(program: str, *words: object) -> str:
        command = (str(PROGRAMS / program), *map(str, words))
        said = subprocess.run(
            command, cwd=here, env=bare, capture_output=True, text=True, timeout=300
        )
        assert said.returncode == 0, said.stderr
        assert "Traceback" not in said.stderr
        return said.stdout

    notebooks = repository / "notebooks"
    study = notebooks / "studies" / "pauses.yaml"
    do("papermill", notebooks / "sweep.ipynb", "sweep.ipynb", "-p", "study", study)
    do("papermill", notebooks / "phases.ipynb", "phases.ipynb", "-p", "run", "pauses/latest")
    do("jupyter", "nbconvert", "--to", "html", "phases.ipynb")
    page = (here / "phases.html").read_text()
    assert "Verdict" in page and "Residuals" in page and "data:image/png" in page
    executed = nbformat.read(here / "phases.ipynb", as_version=4)
    shown = [out for cell in executed.cells for out in cell.get("outputs", ())]
    assert not [out for out in shown if out.output_type == "error"]

    published = Path(do("deadzone", "publish", "pauses/latest").strip())
    kept = here / "deadzone"
    assert published.is_relative_to(kept / "reports" / "pauses")
    assert (published.parent / "report.pdf").read_bytes().startswith(b"%PDF")
    assert "pauses" in (kept / "reports" / "index.html").read_text()
