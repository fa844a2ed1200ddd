"""The kernel's page cache: whether it can be bypassed in a folder, emptied of a file, and what it holds of one."""

import contextlib
import ctypes
import errno
import mmap
import os
from pathlib import Path


def evict(path: Path) -> None:
    """Write a file's pages to the disk and drop them from the page cache; needs no rights beyond the file's."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def cached_share(path: Path) -> float | None:
    """Share of a file's pages that the page cache holds now; None where the kernel does not tell (mincore)."""
    size = path.stat().st_size
    if not size:
        return 0.0
    import numpy as np

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
    """The system's error for reading a block of a file past the page cache, or None where it can be done.

    EINVAL where the file system does not know O_DIRECT, or the block is no multiple of the device's logical block.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        return error.errno or errno.EINVAL
    try:
        with mmap.mmap(-1, block_size) as memory:
            os.preadv(descriptor, [memory], 0)
            second = block_size if path.stat().st_size >= 2 * block_size else 0
            os.preadv(descriptor, [memory], second)
    except OSError as error:
        return error.errno or errno.EINVAL
    finally:
        os.close(descriptor)
    return None
