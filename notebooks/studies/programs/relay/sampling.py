"""A profiler inside a program: the stack of the main thread at every hundredth of a second of CPU
time.

A timer of the process's CPU time sends SIGPROF; its handler notes where the main thread is. The
result is folded stacks, `outermost;...;leaf 42`, 100 samples to a second of CPU time.
"""

import signal
import sys
from collections import Counter
from types import FrameType

PERIOD_S = 0.01

_counts: Counter[str] = Counter()


def start() -> None:
    """Begin to sample."""
    _counts.clear()
    signal.signal(signal.SIGPROF, _note)
    signal.setitimer(signal.ITIMER_PROF, PERIOD_S, PERIOD_S)


def stop() -> bytes:
    """End it; the stacks since then."""
    signal.setitimer(signal.ITIMER_PROF, 0)
    return "".join(f"{stack} {count}\n" for stack, count in _counts.items()).encode()


def _note(_: int, frame: FrameType | None) -> None:
    names = []
    while frame is not None:
        code = frame.f_code
        names.append(f"{code.co_name} ({_short(code.co_filename)})")
        frame = frame.f_back
    _counts[";".join(reversed(names))] += 1


def _short(path: str) -> str:
    """A file's path below the folder that it was imported from."""
    inside = [path[len(place) + 1 :] for place in sys.path if place and path.startswith(f"{place}/")]
    return min(inside, key=len, default=path).replace(" ", "_").replace(";", ":")
