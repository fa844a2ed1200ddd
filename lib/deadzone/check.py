"""One finding of `deadzone doctor`."""

from dataclasses import dataclass
from typing import Literal

State = Literal["works", "missing", "optional"]


@dataclass(frozen=True)
class Check:
    """One finding. state: works; missing (the main job needs it); optional (absent, and only some
    studies need it)."""

    name: str
    state: State
    finding: str
    remedy: str = ""
