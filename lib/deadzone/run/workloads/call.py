"""A trial of a Python function: reads the function, gets it ready, calls it once, and writes down
what came of it.

Run as a script of its own in a fresh interpreter (`python -P call.py OUTCOME SAID GO`); it imports
nothing of Deadzone. Standard input holds two pickles: the search path with the arguments, and the
function as cloudpickle wrote it. Reading the second imports whatever the function needs, before the
clock runs. What `SAID` and `GO` are for is told in `deadzone.run.targets.launching`.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pickle
import resource
import sys
import time
import traceback
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def used() -> dict[str, float]:
    """What this process and its children that ended used so far, and the time."""
    counted = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    fields = {
        "user_s": "ru_utime",
        "sys_s": "ru_stime",
        "voluntary_switches": "ru_nvcsw",
        "involuntary_switches": "ru_nivcsw",
        "minor_faults": "ru_minflt",
        "major_faults": "ru_majflt",
    }
    moved = {}
    with contextlib.suppress(OSError), open("/proc/self/io") as handle:  # noqa: PTH123
        facts = dict(line.split(": ") for line in handle.read().splitlines())
        moved = {"io_read_bytes": float(facts["rchar"]), "io_written_bytes": float(facts["wchar"])}
    return {
        **{name: sum(getattr(usage, field) for usage in counted) for name, field in fields.items()},
        **moved,
        "clock_s": time.monotonic(),
    }


def tell(pipe: int, go: int, message: Mapping[str, float]) -> None:
    """Say what was used so far, and wait to go on."""
    os.write(pipe, json.dumps(message).encode() + b"\n")
    os.read(go, 1)


def taken_in() -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function with everything it imports, and its arguments."""
    document = pickle.load(sys.stdin.buffer)
    sys.path[:] = document["path"]
    function = pickle.load(sys.stdin.buffer)
    # What the function calls is known by its name here as well, so that its own processes find it.
    known = getattr(function, "__globals__", {})
    # In a module of its own, for the names of this file are the measurement's.
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(main).update({k: v for k, v in known.items() if not k.startswith("__")})
    return function, document["arguments"]


def measured(pipe: int, go: int) -> dict[str, Any]:
    """What came of the call: its columns, or the error with its traceback."""
    try:
        function, arguments = taken_in()
    except BaseException as error:
        return failure(error)
    with open("/proc/self/stat") as handle:  # noqa: PTH123
        began_s = int(handle.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    setup_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began_s
    tell(pipe, go, used())
    try:
        result, problem = function(**arguments), {}
    except BaseException as error:
        result, problem = None, failure(error)
    tell(pipe, go, used())
    return {**(problem or columns(result)), "setup_s": setup_s}


def columns(result: Any) -> dict[str, Any]:
    """The numbers of what was returned: one is the column `result`, a mapping its keys."""
    named = result if isinstance(result, dict) else {} if result is None else {"result": result}
    for key, value in named.items():
        if not isinstance(key, str) or not is_number(value):
            error = f"the function returned {value!r:.80} for {key!r}, which is no number"
            return {"error": error, "traceback": ""}
    return {"columns": {key: float(value) for key, value in named.items()}}


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, numpy's included."""
    try:
        return hasattr(value, "__float__") and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def failure(error: BaseException) -> dict[str, Any]:
    """An error as a line, and its traceback below this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__ and trace.tb_next:
        trace = trace.tb_next
    return {
        "error": traceback.format_exception_only(error)[-1].strip(),
        "traceback": "".join(traceback.format_exception(type(error), error, trace)),
    }


def main(outcome: str, pipe: str, go: str) -> None:
    """Call the function, and write the outcome."""
    row = measured(os.open(pipe, os.O_WRONLY), os.open(go, os.O_RDONLY))
    with open(outcome, "w") as handle:  # noqa: PTH123
        json.dump(row, handle)


if __name__ == "__main__":
    main(*sys.argv[1:])
