"""Which programs a command line runs: a run that goes on must find them as they were."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

from deadzone.study.levels import Level, fill, placed

SOURCES = (".py", ".sh", ".js", ".mjs", ".rb", ".pl", ".php", ".lua", ".r", ".jl", ".jar", ".sql")
"""Endings of files that an interpreter runs."""

BEGINNINGS = (b"#!", b"\x7fELF")
"""How files begin that are programs. Other files that a command line names may be written by its
trials."""

SHOWN = 12
"""So much of a checksum tells two programs apart [digits]."""


def sha256_of(path: Path | str) -> str:
    """Checksum of a file, in hexadecimal."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def program_files(
    lines: Iterable[Sequence[str] | None],
    cwd: Path | None = None,
    treatments: Iterable[Mapping[str, Level]] = ({},),
) -> dict[str, str]:
    """Checksums of the programs of command lines and of the scripts in them, by the words that name
    them; of what is there before a trial.

    cwd: where relative paths start. treatments: the values of placeholders.
    """
    cwd, named = cwd or Path(), dict[str, str | None]()
    for values, line in product(treatments, filter(None, lines)):
        words = [fill(word, values) for word in line if placed([word]) <= values.keys()]
        for place, word in enumerate(words):
            path = str(cwd / word) if place or "/" in word else word
            if place and words[place - 1] == "-m":
                named[word] = _module(cwd / word.replace(".", "/"))
            elif word not in named:
                named[word] = _script(path) if place else shutil.which(path)
    return {f"file {word}": sha256_of(path)[:SHOWN] for word, path in named.items() if path}


def _module(path: Path) -> str | None:
    """The file that `python -m` runs of a module beside the study; None of one that is
    installed."""
    files = (path.with_suffix(".py"), path / "__main__.py")
    return next((str(file) for file in files if file.is_file()), None)


def _script(path: str) -> str | None:
    """The path of a file that an interpreter, or the machine, runs; None of anything else."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):  # noqa: PTH113 (any text may stand here)
        return None
    with Path(path).open("rb") as handle:
        is_program = path.lower().endswith(SOURCES) or handle.read(4).startswith(BEGINNINGS)
    return path if is_program else None
