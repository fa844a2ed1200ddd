"""Boots the emulated machine and returns what happened in it, one result a case."""

import contextlib
import json
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

from machine_image import NotPossibleHere, project_image, system_image

EMULATOR = "qemu-system-x86_64"

SILENCE_S = 300.0
"""It comes up in half a minute and tells of each command, which takes seconds; what waits in vain
tells so before this [s]."""

BOOTS = 3
"""Emulated processors hang now and then, most often before the kernel has started the second."""

KERNEL_LINE = (
    "root=/dev/vda rw console=ttyS0 mitigations=off nokaslr systemd.show_status=false panic=-1"
)


def tell_stories(cases: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """Results by case, of those named or of all, with a case `console` that holds the machine's
    last words.

    Raises NotPossibleHere, with the reason, if the machine cannot be emulated here.
    """
    if not shutil.which(EMULATOR):
        raise NotPossibleHere(f"{EMULATOR} is not installed")
    system = system_image()
    with tempfile.TemporaryDirectory(prefix="cgroup2-") as work:
        folder = Path(work)
        project = project_image(folder)
        for boot in range(1, BOOTS + 1):
            if _lives(system, project, folder, cases):
                break
            warnings.warn(
                f"The emulated machine fell silent at boot {boot} of {BOOTS}.", stacklevel=2
            )
        results = [json.loads(one) for one in (folder / "results").read_text().splitlines() if one]
        console = (folder / "console").read_text(errors="replace")
    return {"console": {"text": console}, **{result["case"]: result for result in results}}


def _lives(system: Path, project: Path, folder: Path, cases: Collection[str]) -> bool:
    """Run the machine until it powers itself off; it writes to `console` and `results` in the
    folder.

    False if it fell silent before.
    """
    argv = (
        *(EMULATOR, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024"),
        *("-kernel", str(system / "vmlinuz"), "-initrd", str(system / "initrd.img")),
        *("-append", " ".join([KERNEL_LINE, *(f"deadzone.case={case}" for case in cases)])),
        *("-drive", f"file={system / 'disk.img'},if=virtio,format=raw,snapshot=on"),
        *("-drive", f"file={project},if=virtio,format=raw,snapshot=on"),
        *("-serial", f"file:{folder / 'console'}", "-serial", f"file:{folder / 'results'}"),
        *("-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"),
    )
    results = folder / "results"
    machine = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    try:
        said = -1
        while said != (said := results.stat().st_size if results.exists() else 0):
            with contextlib.suppress(subprocess.TimeoutExpired):
                machine.wait(timeout=SILENCE_S)
                return True
        return False
    finally:
        machine.kill()
        machine.wait()
