"""The project's own image, built from deploy/Containerfile by buildah on a base from Debian's
packages.

Where no registry is reachable, debootstrap makes the base that the Containerfile takes by name
elsewhere. Base and layers are cached, so that a second build with the same lock file takes seconds.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from node_places import REPOSITORY, NotPossibleHere, cache_folder

PROJECT_IMAGE = "deadzone.test/deadzone:1"

SUITE, BASE_PACKAGES = "bookworm", ("ca-certificates", "python3", "python3-venv")

BASE = "localhost/deadzone-base"
UNUSED = (
    "usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt", "var/lib/apt/lists",
)  # fmt: skip

CONTAINERFILE = REPOSITORY / "deploy" / "Containerfile"


def copied() -> list[str]:
    """What of the repository goes into the image, as the Containerfile copies it."""
    lines = CONTAINERFILE.read_text().splitlines()
    return [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]


def project_archive() -> Path:
    """The image as a file, built if the project changed since.

    Raises NotPossibleHere if buildah or debootstrap is missing, or apt has no source for the base.
    """
    missing = [tool for tool in ("buildah", "debootstrap") if not shutil.which(tool)]
    if missing:
        raise NotPossibleHere(f"these Debian packages are not installed: {', '.join(missing)}")
    folder = cache_folder() / "project"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"deadzone-{_key()}.tar"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            for outdated in folder.glob("deadzone-*.tar"):
                outdated.unlink()
            _make_base(folder)
            _build(folder, path)
    return path


def _key() -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name in ("deploy/Containerfile", *copied()):
        top = REPOSITORY / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(REPOSITORY)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _make_base(folder: Path) -> None:
    """Give buildah a Debian with Python, unless it has it."""
    if _ok(folder, "inspect", "--type=image", BASE):
        return
    with tempfile.TemporaryDirectory(prefix="base-", dir=folder) as work:
        root = Path(work) / "root"
        include = f"--include={','.join(BASE_PACKAGES)}"
        _run("debootstrap", "--variant=minbase", include, SUITE, str(root), _apt_mirror())
        for unused in UNUSED:
            shutil.rmtree(root / unused, ignore_errors=True)
        packed = (f"--directory={root}", f"--file={work}/base.tar", ".")
        _run("tar", "--create", "--one-file-system", *packed)
        recipe = Path(work) / "Containerfile"
        recipe.write_text(
            "FROM scratch\nADD base.tar /\nENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n"
        )
        _buildah(folder, "build", "--isolation=chroot", f"--file={recipe}", f"--tag={BASE}", work)


def _build(folder: Path, path: Path) -> None:
    # This machine's certificates: its way to the package index may lead through an authority of its
    # own.
    trust = "--volume=/etc/ssl/certs:/etc/ssl/certs:ro"
    _buildah(folder, "rm", "--all")  # left by a build that was killed
    where = ("--isolation=chroot", "--network=host", "--pull=never", "--layers", trust)
    what = (f"--build-arg=BASE={BASE}", f"--file={CONTAINERFILE}")
    _buildah(folder, "build", *where, *what, "--tag=localhost/deadzone", str(REPOSITORY))
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    _buildah(folder, "push", "localhost/deadzone", f"docker-archive:{draft}:{PROJECT_IMAGE}")
    _buildah(
        folder, "rmi", "--prune"
    )  # layers of earlier images; those of this one are the cache of the next
    draft.rename(path)


def _apt_mirror() -> str:
    """The mirror this machine's apt has for the suite."""
    which = ("--format", "$(SITE)", "Created-By: Packages", f"Release: {SUITE}", "Component: main")
    sites = _run("apt-get", "indextargets", "--no-release-info", *which).split()
    if not sites:
        raise NotPossibleHere(f"apt here has no source for Debian {SUITE}")
    return sites[0]


def _ok(folder: Path, *arguments: str) -> bool:
    return not subprocess.run(
        _command(folder, *arguments), capture_output=True, check=False
    ).returncode


def _buildah(folder: Path, *arguments: str) -> None:
    _run(*_command(folder, *arguments))


def _command(folder: Path, *arguments: str) -> tuple[str, ...]:
    stored = (
        f"--root={folder}/layers",
        f"--runroot={folder}/containers",
        "--storage-driver=overlay",
    )
    return ("buildah", *stored, *arguments)


def _run(*argv: str) -> str:
    """What a program printed. Raises RuntimeError, with its last words, if it fails."""
    found = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    environment = {**os.environ, "PATH": found, "LC_ALL": "C.UTF-8"}
    answer = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    if answer.returncode:
        said = (answer.stderr + answer.stdout).strip()[-1500:]
        raise RuntimeError(
            f"{' '.join(argv[:6])} ... failed with exit code {answer.returncode}:\n{said}"
        )
    return answer.stdout


if __name__ == "__main__":
    print(project_archive())
