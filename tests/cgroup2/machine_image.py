"""The disks of the emulated machine: a Debian system with systemd, made once and cached, and the
project.

The system is made by debootstrap from the mirror that this machine's own apt uses. The cache's key
is the checksum of everything that goes into it, so a changed recipe makes a new image and an
unchanged one none.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

SUITE, PYTHON = "bookworm", "3.11"
"""The Debian release of the machine, and the Python that comes with it."""

DEBIAN_PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd", "udev", "kmod",
    "python3", "linux-image-cloud-amd64",
)  # fmt: skip

PYTHON_PACKAGES = (
    "annotated-types", "click", "jmespath", "numpy", "pandas", "psutil", "pyarrow", "pydantic",
    "pydantic-core", "python-dateutil", "pyyaml", "six", "tqdm", "typing-extensions",
    "typing-inspection",
)  # fmt: skip
"""What `deadzone sweep` imports, with what those import."""

MASKED_UNITS = (
    "serial-getty@ttyS0.service", "getty@tty1.service", "apt-daily.timer",
    "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer",
    "e2scrub_reap.service", "fstrim.timer", "systemd-timesyncd.service",
    "systemd-pstore.service", "systemd-udevd.service", "systemd-udevd-kernel.socket",
    "systemd-udevd-control.socket", "systemd-udev-trigger.service",
    "systemd-modules-load.service", "systemd-random-seed.service", "systemd-update-utmp.service",
    "kmod-static-nodes.service", "systemd-binfmt.service", "systemd-hwdb-update.service",
    "sys-kernel-debug.mount", "sys-kernel-tracing.mount", "dev-hugepages.mount",
    "dev-mqueue.mount",
)  # fmt: skip
"""Not needed, and each costs a second where a processor is emulated."""

STORIES_UNIT = """\
[Unit]
Description=What Deadzone does under cgroup v2 and systemd
DefaultDependencies=no
After=systemd-remount-fs.service systemd-journald.socket

[Service]
ExecStartPre=/bin/mount -t ext4 -o ro /dev/vdb /project
ExecStart=/usr/bin/python3 /project/guest/stories.py /dev/ttyS1
ExecStopPost=/bin/sh -c 'echo o > /proc/sysrq-trigger'
Environment=PYTHONPATH=/project/lib:/usr/local/lib/packages PYTHONDONTWRITEBYTECODE=1
StandardOutput=journal+console
StandardError=journal+console
"""
"""Started as soon as there is a disk, so that Python imports while the rest of the machine comes
up."""

NO_DELEGATION_DROP_IN = "[Service]\nDelegate=\nDelegate=pids memory\n"
"""How distributions of a few years ago set up their users: nobody may limit CPU."""

USERS = (("u", 1000), ("v", 1001))
"""`u` is an ordinary user of today, `v` one to whom systemd hands no cpu controller."""

SHRUNK = (
    "usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt", "var/lib/apt/lists",
)  # fmt: skip

GENERATORS = ("system-generators", "user-generators", "user-environment-generators")
"""They make units for hardware and mounts that this machine has not."""

SIZE = "1400M"


class NotPossibleHere(Exception):
    """The machine cannot be emulated here; the text says what is missing."""


def cache_folder() -> Path:
    """Where images are kept between runs."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "deadzone" / "cgroup2"


def system_image() -> Path:
    """The folder with the machine's `disk.img`, `vmlinuz` and `initrd.img`, made if it is not
    cached.

    Raises NotPossibleHere with the reason if it cannot be made.
    """
    requirements = locked_requirements()
    key = hashlib.sha256(Path(__file__).read_bytes() + requirements.encode()).hexdigest()[:16]
    folder = cache_folder() / key
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        # of two first runs, one makes the image and the other waits for it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _remove_outdated(folder.parent)
            _make_image(folder, requirements)
    return folder


def _remove_outdated(cache: Path) -> None:
    for outdated in cache.iterdir():
        if outdated.is_dir():
            shutil.rmtree(outdated)


def _make_image(folder: Path, requirements: str) -> None:
    with tempfile.TemporaryDirectory(prefix="making-", dir=folder.parent) as work:
        draft = Path(work) / "image"
        draft.mkdir()
        _make_system(Path(work) / "root", requirements, draft)
        draft.rename(folder)


def project_image(folder: Path) -> Path:
    """A disk with the package and the scripts that run in the machine."""
    tree = folder / "project"
    shutil.copytree(REPOSITORY / "lib", tree / "lib")
    _register(tree / "lib")
    shutil.copytree(HERE / "guest", tree / "guest")
    image = folder / "project.img"
    _run("mke2fs", "-q", "-t", "ext4", "-d", str(tree), str(image), "64M")
    return image


def _register(lib: Path) -> None:
    """Say what the package is, as an installation does: packs are found by entry points."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    told = lib / f"deadzone-{project['version']}.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: deadzone\nVersion: {project['version']}\n"
    )
    rows = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (told / "entry_points.txt").write_text("\n".join(rows) + "\n")


def locked_requirements() -> str:
    """The lines of the lock file, with hashes, for what goes into the machine."""
    lock = (REPOSITORY / "requirements.lock").read_text()
    entries = {name: re.search(rf"(?m)^{name}==(?:.*\\\n)*.*\n", lock) for name in PYTHON_PACKAGES}
    missing = [name for name, entry in entries.items() if entry is None]
    assert not missing, f"requirements.lock has no {', '.join(missing)}"
    return "".join(entry.group(0) for entry in entries.values() if entry)


def apt_mirror() -> str:
    """The mirror this machine's apt has for the suite. Raises NotPossibleHere if it has none."""
    which = ("--format", "$(SITE)", "Created-By: Packages", f"Release: {SUITE}", "Component: main")
    sites = _run("apt-get", "indextargets", "--no-release-info", *which).split()
    if not sites:
        raise NotPossibleHere(f"apt here has no source for Debian {SUITE}")
    return sites[0]


def _make_system(root: Path, requirements: str, into: Path) -> None:
    if os.geteuid() != 0:
        raise NotPossibleHere("making the system takes root (debootstrap, chroot)")
    include = f"--include={','.join(DEBIAN_PACKAGES)}"
    _run("debootstrap", "--variant=minbase", include, SUITE, str(root), apt_mirror())
    _install_packages(root, requirements)
    _configure(root)
    for name in SHRUNK:
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("vmlinuz", "initrd.img"):
        (newest,) = (root / "boot").glob(f"{name}-*")
        newest.rename(into / name)
    _run("mke2fs", "-q", "-t", "ext4", "-d", str(root), str(into / "disk.img"), SIZE)


def _install_packages(root: Path, requirements: str) -> None:
    """Fetch the wheels that fit the machine's Python, whatever Python runs here."""
    listed = root / "tmp" / "requirements.txt"
    listed.write_text(requirements)
    inside = "usr/local/lib/packages"
    what = ("--no-deps", "--require-hashes", "--only-binary=:all:", f"--python-version={PYTHON}")
    where = ("--quiet", "--target", str(root / inside), "-r", str(listed))
    uv = shutil.which("uv")
    pip = ("python3", "-m", "pip", "install", "--implementation=cp")
    _run(*((uv, "pip", "install") if uv else pip), *what, *where)
    for unused in (*(root / inside).glob("*/tests"), root / inside / "pyarrow" / "include"):
        shutil.rmtree(unused)
    _run("chroot", str(root), "python3", "-m", "compileall", "-q", "-j", "0", f"/{inside}")


def _configure(root: Path) -> None:
    system = root / "etc" / "systemd" / "system"
    (root / "etc" / "fstab").write_text("/dev/vda / ext4 defaults 0 0\n")
    (root / "project").mkdir()
    (system / "stories.service").write_text(STORIES_UNIT)
    wants = system / "multi-user.target.wants"
    (wants / "stories.service").symlink_to("../stories.service")
    for unit in MASKED_UNITS:
        (system / unit).unlink(missing_ok=True)
        (system / unit).symlink_to("/dev/null")
    for folder in GENERATORS:
        shutil.rmtree(root / "usr" / "lib" / "systemd" / folder, ignore_errors=True)
    lingering = root / "var" / "lib" / "systemd" / "linger"
    lingering.mkdir(parents=True, exist_ok=True)
    for user, number in USERS:
        _run("chroot", str(root), "useradd", "--create-home", f"--uid={number}", user)
        (lingering / user).touch()
    drop_in = system / f"user@{USERS[1][1]}.service.d" / "delegate.conf"
    drop_in.parent.mkdir()
    drop_in.write_text(NO_DELEGATION_DROP_IN)


def _run(*argv: str) -> str:
    """Run a program to its end and return what it printed. Raises NotPossibleHere if it is missing
    or fails."""
    found = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    environment = {**os.environ, "PATH": found, "LC_ALL": "C.UTF-8"}
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    except FileNotFoundError as error:
        raise NotPossibleHere(f"{argv[0]} is not installed") from error
    if answer.returncode:
        said = (answer.stderr + answer.stdout).strip()[-1500:]
        raise RuntimeError(
            f"{' '.join(argv[:4])} ... failed with exit code {answer.returncode}:\n{said}"
        )
    return answer.stdout
