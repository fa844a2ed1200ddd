"""Which process writes a run: one at a time, by a lock on a file that is gone with the process."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deadzone.errors import SaidAs, StoreError


@contextmanager
def held(path: Path, run_id: str) -> Iterator[None]:
    """Hold a run for writing. Raises StoreError where another process does."""
    with SaidAs(StoreError, f"{path.parent}: cannot write here"):
        holder = path.open("ab", buffering=0)
    with holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"Run {run_id} is being written by another process; wait for it to end."
            ) from error
        except OSError as error:
            raise StoreError(
                f"{path.parent}: this file system takes no lock ({error.strerror}). Set "
                "`DEADZONE_HOME` to a folder on another one."
            ) from error
        # a full disk cannot record who writes; the lock holds
        with contextlib.suppress(OSError):
            holder.truncate(0)
            holder.write(str(os.getpid()).encode())
        yield


def is_held(path: Path) -> bool:
    """Whether a process holds the run for writing."""
    try:
        with path.open("rb") as holder:
            fcntl.flock(holder, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def holder_of(path: Path) -> int | None:
    """The process that holds the run for writing; None where none does, or it is not known."""
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text()) if is_held(path) else None
    return None
