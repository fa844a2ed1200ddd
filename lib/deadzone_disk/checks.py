"""What `deadzone doctor` says of the engines of disk studies."""

import contextlib
from collections.abc import Iterator

from deadzone.plugins import Check, DeadzoneError
from deadzone_disk.programs import FioEngine


def checks() -> Iterator[Check]:
    """Whether fio is here."""
    with contextlib.suppress(DeadzoneError):
        if version := FioEngine().version():
            yield Check("fio", "works", f"{version}, the engine of disk studies")
            return
    sentence = "not installed, or older than 3; disk studies use the built-in engine"
    yield Check("fio", "optional", sentence, "apt install fio")
