"""`docs/pods.md` typed as it stands, and `notebooks/pods.ipynb` on the workload that it makes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from sweeping import ORIGINAL

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]

PAGE, NOTEBOOK = ROOT / "docs" / "pods.md", ROOT / "notebooks" / "pods.ipynb"

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

NAMESPACE = "shop"

WITHIN_S = 300


def typed(script, folder):
    """What a shell prints of lines of the page, in a repository of the user's."""
    functions = "\n".join(
        f'{name}() {{ "{sys.executable}" -m {module} "$@"; }}'
        for name, module in (("deadzone", "deadzone.cli.main"), ("papermill", "papermill"))
    )
    command = ("bash", "-c", f"set -eu\n{functions}\n{script}")
    said = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    assert said.returncode == 0, f"{script}\n{said.stdout}\n{said.stderr}"
    return said.stdout


@pytest.fixture
def shop(own_cluster):
    """The page makes the namespace itself, and takes it away."""
    yield own_cluster
    own_cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false", "--ignore-not-found")


def test_the_page_is_followed_word_by_word_and_the_notebook_does_the_same(shop, home):
    bring_up, make, look, sweep, patch, notebook, clean_up = BLOCK.findall(PAGE.read_text())
    assert "make cluster" in bring_up and "make cluster-down" in clean_up
    (home / "notebooks" / "pods.ipynb").symlink_to(NOTEBOOK)
    typed(make, home)
    assert "MISSING" not in typed(look, home)
    said = typed(sweep.replace("max_foreign_cpu: 1", "max_foreign_cpu: 8"), home)
    assert json.loads(said[said.rindex('{"limits"') :])["limits"] == {"cpu": "1", "memory": "256Mi"}
    said = typed(patch, home)
    assert "kubectl-client-side-apply applies the manifest of deployment/encoder" in said
    assert "encoder patched" in said
    before = shop.get("deployment", "encoder", "--namespace", NAMESPACE)
    # of a machine that runs other tests
    fewer = "-p others_cores 8 -p replicates 2 -y 'limits: [0.25, 0.5, 1]'"
    typed(notebook.replace("-p others_cores 1", fewer), home)
    cells = nbformat.read(home / "pods-executed.ipynb", as_version=4).cells
    shown = "\n".join(str(out) for cell in cells for out in cell.get("outputs", []))
    assert "permission" in shown and "recommended-by: encoder-cpu-limit/" in shown
    now = shop.get("deployment", "encoder", "--namespace", NAMESPACE)
    assert now["spec"] == before["spec"] and ORIGINAL not in now["metadata"]["annotations"]
    clean_up = clean_up.replace("make cluster-down", "")
    typed(clean_up.replace("namespace shop", "namespace shop --wait=false"), home)
