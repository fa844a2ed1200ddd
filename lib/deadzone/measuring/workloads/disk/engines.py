"""The engines of the disk workload, by the name a study gives them."""

import shutil

from deadzone.measuring.workloads.disk.builtin import BuiltinEngine
from deadzone.measuring.workloads.disk.dd import DdEngine
from deadzone.measuring.workloads.disk.engine import Engine
from deadzone.measuring.workloads.disk.fio import FioEngine

ENGINES: dict[str, type[Engine]] = {"fio": FioEngine, "builtin": BuiltinEngine, "dd": DdEngine}


def make_engine(name: str) -> Engine:
    """The engine of a name; `auto` is fio where it is installed, else the built-in one."""
    if name == "auto":
        name = "fio" if shutil.which("fio") else "builtin"
    return ENGINES[name]()
