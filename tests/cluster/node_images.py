"""Container images made by hand: no registry is reachable, so an image is one layer, a config and a
manifest.

The files are put together from programs of this machine, and written as the archive that `docker
save`, `ctr images import`, `kind load image-archive` and `minikube image load` all read.
"""

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import imageio_ffmpeg
from node_configuration import PAUSE_IMAGE
from node_places import NotPossibleHere, cache_folder

Files = dict[str, Path | str]
"""Path in the image, without the leading slash, to a file here, or (text) to the target of a
symbolic link."""

FFMPEG_IMAGE = "deadzone.test/ffmpeg:1"
"""ffmpeg, a shell and the usual small programs: what most images of this kind look like."""

BARE_IMAGE = "deadzone.test/ffmpeg-bare:1"
"""ffmpeg and its libraries, a `sleep` that keeps the pod alive, and no shell: what a distroless
image looks like."""

APPLETS = (
    "sh", "ls", "cat", "cp", "date", "dd", "echo", "env", "find", "grep", "head", "kill",
    "mkdir", "mv", "nohup", "printf", "ps", "rm", "sed", "seq", "setsid", "sleep", "sort",
    "stat", "tail", "test", "time", "timeout", "top", "touch", "tr", "true", "false", "wc",
    "xargs", "id", "nice", "awk", "tee", "yes", "mktemp",
)  # fmt: skip

FOREVER = "2147483647"
"""Seconds of the sleep that keeps a pod alive."""


@dataclass(frozen=True)
class Image:
    """An image as it will run: its files, what it starts, and its environment."""

    name: str
    files: Files
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def ffmpeg_image() -> Image:
    """An image with ffmpeg and a shell."""
    files = {
        **_ffmpeg(),
        **{f"bin/{applet}": "busybox" for applet in APPLETS},
        "bin/busybox": _busybox(),
    }
    return Image(FFMPEG_IMAGE, files, ("/bin/sleep", FOREVER))


def bare_image() -> Image:
    """An image with ffmpeg and no shell."""
    return Image(BARE_IMAGE, {**_ffmpeg(), "bin/sleep": _busybox()}, ("/bin/sleep", FOREVER))


def pause_image() -> Image:
    """The image that holds a pod's namespaces."""
    return Image(PAUSE_IMAGE, {"bin/sleep": _busybox()}, ("/bin/sleep", FOREVER))


BUILT_IN: tuple[Callable[[], Image], ...] = (pause_image, ffmpeg_image, bare_image)


def archive(image: Image) -> Path:
    """The image as a file, made if it is not cached."""
    key = hashlib.sha256(Path(__file__).read_bytes() + repr(image).encode())
    for source in image.files.values():
        if isinstance(source, Path):
            key.update(f"{source.stat().st_size} {source.stat().st_mtime_ns}".encode())
    slug = re.sub(r"[^a-z0-9]+", "-", image.name)
    folder = cache_folder() / "images"
    path = folder / f"{slug}-{key.hexdigest()[:16]}.tar"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for outdated in folder.glob(f"{slug}-????????????????.tar"):
            outdated.unlink()
        draft = path.with_suffix(".draft")
        write_archive(image, draft)
        draft.rename(path)
    return path


def write_archive(image: Image, path: Path) -> None:
    layer = path.with_suffix(".layer")
    with tarfile.open(layer, "w") as tar:
        for folder in ("tmp", "proc", "sys", "dev", "etc"):
            tar.addfile(_member(folder, tarfile.DIRTYPE, mode=0o1777 if folder == "tmp" else 0o755))
        for name, source in sorted(image.files.items()):
            if isinstance(source, str):
                tar.addfile(_member(name, tarfile.SYMTYPE, link=source))
            else:
                with source.open("rb") as content:
                    tar.addfile(_member(name, tarfile.REGTYPE, source.stat().st_size), content)
    with layer.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", **image.environment}
    config = {
        "architecture": "amd64", "os": "linux",
        "config": {"Cmd": image.command,
                   "Env": [f"{name}={value}" for name, value in environment.items()]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created_by": "tests/cluster/node_images.py"}],
    }  # fmt: skip
    manifest = [{"Config": "config.json", "RepoTags": [image.name], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as tar:
        for name, document in (("config.json", config), ("manifest.json", manifest)):
            text = json.dumps(document).encode()
            tar.addfile(_member(name, tarfile.REGTYPE, len(text)), io.BytesIO(text))
        with layer.open("rb") as content:
            tar.addfile(_member("layer.tar", tarfile.REGTYPE, layer.stat().st_size), content)
    layer.unlink()


def _member(
    name: str, kind: bytes, size: int = 0, link: str = "", mode: int = 0o755
) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname, member.mode = kind, size, link, mode
    return member


def _ffmpeg() -> Files:
    """ffmpeg, as the wheel carries it, with every library that its loader asks for."""
    program = Path(imageio_ffmpeg.get_ffmpeg_exe())
    said = subprocess.run(("ldd", str(program)), capture_output=True, text=True, check=False).stdout
    libraries = re.findall(r"(/\S+) \(0x", said)
    return {
        "usr/bin/ffmpeg": program,
        **{path.lstrip("/"): Path(path).resolve() for path in libraries},
    }


def _busybox() -> Path:
    found = shutil.which("busybox")
    if not found:
        raise NotPossibleHere("busybox is not installed (Debian: busybox-static)")
    return Path(found)


if __name__ == "__main__":
    for make in BUILT_IN[1:]:
        print(archive(make()))
