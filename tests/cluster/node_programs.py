"""Kubernetes' own programs, built once from the Go module and cached.

go.mod and go.sum beside this file pin every module by its checksum; the cache's key is the checksum
of the recipe.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from node_places import HERE, NotPossibleHere, cache_folder

VERSION = "1.34.2"
"""In-place resize is on from 1.33; from 1.35 the kubelet refuses cgroup v1."""

PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubelet")

MODULE = HERE / "kubernetes"

BUILD_TIMEOUT_S = 3600.0
"""Nine minutes on two idle cores; a busy machine takes several times that [s]."""


def programs() -> Path:
    """The folder with the programs, built if they are not cached.

    Raises NotPossibleHere if there is no Go, or if the modules cannot be fetched.
    """
    recipe = b"".join((MODULE / name).read_bytes() for name in ("go.mod", "go.sum", "tools.go"))
    key = hashlib.sha256(recipe + " ".join(_build_command(Path())).encode()).hexdigest()[:16]
    folder = cache_folder() / "programs" / f"{VERSION}-{key}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two first runs, one builds and the other waits for it
        if not folder.is_dir():
            for outdated in folder.parent.glob("*/"):
                shutil.rmtree(outdated)
            _build(folder)
    return folder


def _build(folder: Path) -> None:
    if not shutil.which("go"):
        raise NotPossibleHere("Go is not installed, and Kubernetes' programs are not in the cache")
    print(
        f"building Kubernetes {VERSION} from its Go module (once; 10 minutes on 2 cores)",
        file=sys.stderr,
    )
    with tempfile.TemporaryDirectory(prefix="building-", dir=folder.parent) as work:
        draft = Path(work) / "programs"
        draft.mkdir()
        if said := _run("go", "list", "-deps", *_sources()):
            raise NotPossibleHere(f"the modules of Kubernetes cannot be fetched:\n{said}")
        if said := _run(*_build_command(draft)):
            raise RuntimeError(f"Kubernetes could not be built:\n{said}")
        draft.rename(folder)


def _run(*command: str) -> str:
    """The last words of a program that failed, or nothing."""
    answer = subprocess.run(
        command, cwd=MODULE, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False
    )
    return answer.stderr.strip()[-1500:] or "it failed" if answer.returncode else ""


def _build_command(into: Path) -> tuple[str, ...]:
    major, minor, _ = VERSION.split(".")
    said = {
        "gitVersion": f"v{VERSION}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean",
    }  # fmt: skip
    # Without these the programs would tell an unknown version, and clients would not know what they
    # talk to.
    flags = " ".join(
        f"-X k8s.io/component-base/version.{name}={value}" for name, value in said.items()
    )
    build = ("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w {flags}")
    return (*build, "-o", f"{into}/", *_sources())


def _sources() -> tuple[str, ...]:
    return tuple(f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS)


if __name__ == "__main__":
    print(programs())
