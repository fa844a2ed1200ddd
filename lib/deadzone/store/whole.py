"""A file that is there whole or not at all: it is written under another name first."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

DRAFT_SUFFIX = ".part"


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """The draft to write to; it takes the place of the file when the context ends well, and is removed otherwise."""
    draft = path.with_name(f".{path.name}{DRAFT_SUFFIX}")
    try:
        yield draft
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def is_draft(path: Path) -> bool:
    """Whether a file is a draft that was not finished."""
    return path.name.startswith(".") and path.name.endswith(DRAFT_SUFFIX)
