"""What a file of another author holds: no device is read, and no more than is
asked for.

A file is written whole or not at all: under another name first, which then replaces it.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path


def opened(path: Path) -> BufferedReader:
    """A file or a pipe to read bytes of. Raises OSError if it cannot be read, or is a device, which
    may have no end."""
    if stat.S_IFMT(path.stat().st_mode) in (stat.S_IFCHR, stat.S_IFBLK):
        raise OSError(0, "it is a device", str(path))
    return path.open("rb")


def bytes_of(path: Path, most_mb: int = 1024) -> bytes:
    """The bytes of a file or a pipe. Raises OSError as `opened` does, and for a file of more than
    most_mb."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > most_mb << 20:
            raise OSError(0, f"it is larger than {most_mb} MB", str(path))
        return file.read()


def text_of(path: Path, most_mb: int = 1) -> str:
    """The text of a file that people write. Raises OSError as `bytes_of` does, UnicodeDecodeError
    where it is no UTF-8."""
    return bytes_of(path, most_mb).decode("utf-8")


DRAFT_SUFFIX = ".part"


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """The draft to write to; it takes the place of the file when the context ends well, and is
    removed otherwise."""
    draft = path.with_name(f".{path.name}{DRAFT_SUFFIX}")
    try:
        yield draft
        if draft.is_file():  # else a power failure may leave the new name and no content
            with draft.open("rb") as file:
                os.fsync(file.fileno())
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
