"""IPython's shell in the process of a test."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.interactiveshell import InteractiveShell


@contextmanager
def own_shell() -> Iterator[InteractiveShell]:
    """A shell as a notebook has one. It takes the place of the process's `__main__`, which is put
    back: what other tests start with multiprocessing asks for it."""
    main = sys.modules["__main__"]
    InteractiveShell.clear_instance()
    try:
        yield InteractiveShell.instance()
    finally:
        InteractiveShell.clear_instance()
        sys.modules["__main__"] = main
