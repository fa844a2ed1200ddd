"""The files that trials read and write: made in the folder that the study names, filled, emptied
from the kernel's page cache, and removed afterwards."""

import contextlib
import ctypes
import errno
import mmap
import os
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from io import BufferedWriter
from pathlib import Path

from deadzone.plugins import SaidAs, WorkloadError
from deadzone.run.targets.limits.base import group_name
from deadzone.run.targets.undo_log import UndoEntry, record_change, undo
from deadzone.study.quantity import size_text
from deadzone_disk.engine import in_words


def evict(path: Path) -> None:
    """Write a file's pages to the disk and drop them from the page cache; needs no rights beyond
    the file's."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cached_share(path: Path) -> float | None:
    """Share of the pages of a file, which is not empty, that the page cache holds now; None where
    the kernel does not tell (mincore)."""
    import numpy as np

    size = path.stat().st_size
    pages = -(-size // mmap.PAGESIZE)
    held = ctypes.create_string_buffer(pages)
    with (
        contextlib.suppress(OSError),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) as memory,
    ):
        address = ctypes.c_void_p(np.frombuffer(memory, np.uint8).ctypes.data)
        if not ctypes.CDLL(None).mincore(address, ctypes.c_size_t(size), held):
            return sum(byte & 1 for byte in held.raw[:pages]) / pages
    return None


def refused_direct(path: Path, block_size: int) -> int | None:
    """The system's error for reading a block of a file past the page cache, or None where it can be
    done.

    EINVAL where the file system does not know O_DIRECT, or the block is no multiple of the device's
    logical block.
    """
    try:
        second = block_size if path.stat().st_size >= 2 * block_size else 0
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
        with os.fdopen(descriptor, "rb", 0), mmap.mmap(-1, block_size) as memory:
            os.preadv(descriptor, [memory], 0)
            os.preadv(descriptor, [memory], second)
    except OSError as error:
        return error.errno or errno.EINVAL
    return None


PIECE_BYTES = 8 * 2**20

SPARE_SPACE = 0.02
"""Share of a file system that is left free: full ones become slow, and others want to write too."""

MODE = 0o700


class DiskFiles:
    """A folder of our own within the one that the study names; whatever is made lies in it."""

    def __init__(self, home: Path) -> None:
        """home: the folder that the study names."""
        self._home = home
        self._made_home = False
        self._note: Path | None = None

    @cached_property
    def folder(self) -> Path:
        """The folder of our own."""
        return self._home / f"{group_name()}-disk"

    def make(self) -> None:
        """Make the folder, note it for a later run to remove, and clean up behind killed ones.

        Raises WorkloadError where it cannot be made.
        """
        home = self._home
        with self._undone_by(self.remove):
            _refuse_devices(home)
            if not home.exists():
                home.mkdir()
                self._made_home = True
            folder = str(self.folder)
            with SaidAs(WorkloadError, f"{folder} cannot be noted", names_file=True):
                self._note = record_change(UndoEntry(folder, folders=(folder,)))
            self.folder.mkdir(mode=MODE)

    def check_space(self, needed: int) -> None:
        """Raise WorkloadError unless there is room for so many bytes, with some to spare."""
        space = os.statvfs(self.folder)
        free, size = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
        if size and free < needed + SPARE_SPACE * size:  # ramfs tells of no size
            raise WorkloadError(
                f"workload.folder: {self._home} has {size_text(free)} free, and this study needs "
                f"{size_text(needed)} while {SPARE_SPACE:.0%} of the disk stay free. Make room, "
                "name another folder, or lower workload.file_size."
            )

    def filled(self, number: int, size: int, data: str) -> Path:
        """A file of so many bytes of data, written through to the disk and dropped from the page
        cache.

        Raises WorkloadError where it cannot be written; it is removed then.
        """
        path = self.folder / f"job-{number}"
        with self._undone_by(partial(path.unlink, missing_ok=True)):
            if not path.exists() or path.stat().st_size != size:
                path.unlink(missing_ok=True)
                fill_file(path, size, data)
                evict(path)
        return path

    def fresh(self, number: int, size: int) -> Path:
        """A file of so many bytes that were allocated and never written. Raises WorkloadError as
        `filled` does."""
        path = self.folder / f"fresh-{number}"
        with self._undone_by(partial(path.unlink, missing_ok=True)):
            path.unlink(missing_ok=True)
            with _new_file(path, size):
                pass
        return path

    @contextlib.contextmanager
    def _undone_by(self, remove: Callable[[], object]) -> Iterator[None]:
        """What cannot be made or written is removed, and the reason said."""
        try:
            yield
        except OSError as error:
            remove()
            raise WorkloadError(f"workload.folder: {self._home}: {_why(error)}.") from error

    def remove(self) -> str | None:
        """Remove everything that was made; the study's own folder too, where it was made here and
        is empty. What could not be removed."""
        problem = undo(self._note) if self._note else None
        self._note = None
        if self._made_home:
            with contextlib.suppress(OSError):  # another process put something there meanwhile
                self._home.rmdir()
                self._made_home = False
        return problem


def _refuse_devices(home: Path) -> None:
    """A disk study writes files: never a device, and never in place of a file."""
    if home.is_block_device() or home.is_char_device():
        raise WorkloadError(
            f"workload.folder: {home} is a device. A disk study writes files in a folder, never a "
            "device itself: everything on it would be lost. Name a folder of a file system on it."
        )
    if home.exists() and not home.is_dir():
        raise WorkloadError(f"workload.folder: {home} is no folder; name one.")


def fill_file(path: Path, size: int, data: str) -> None:
    """Write a new file from its beginning to its end; random data cannot be compressed, and no two
    pieces are alike."""
    with _new_file(path, size) as file:
        for offset in range(0, size, PIECE_BYTES):
            length = min(PIECE_BYTES, size - offset)
            file.write(os.urandom(length) if data == "random" else bytes(length))


@contextlib.contextmanager
def _new_file(path: Path, size: int) -> Iterator[BufferedWriter]:
    """A file of so many allocated bytes; what is written is on the disk when the context ends."""
    with path.open("xb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        yield file
        file.flush()
        os.fsync(file.fileno())


def _why(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "the folder above it is missing; make it, or name another one"
    return f"{in_words(error.errno)}; name another folder, or make room"
