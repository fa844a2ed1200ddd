"""When a sweep ends before its plan does: what is to be known, and the time it may take."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from deadzone.study.base import Spec
from deadzone.study.quantity import PRINTED_SECONDS, read_quantity


class UntilSpec(Spec):
    """What must be known before an adaptive sweep stops of itself."""

    decide: Literal["both", "phases", "setting"] = "both"
    """what is to be known: the phases, the setting, or both"""

    certainty: float = Field(default=0.90, ge=0.5, lt=1)
    """probability of each label, and of the place of each joint"""

    joint_levels: int = Field(default=1, ge=0)
    """how far off a joint may lie, either way [listed levels]"""

    resolution: float | None = Field(default=None, gt=0, lt=1)
    """how near levels are to each other where a phase begins [share]: between the listed ones
    others are measured until then, whole numbers where all listed ones are; default: the listed
    levels alone"""

    loss: float = Field(default=0.01, gt=0, lt=1)
    """loss to be expected from the setting, beyond what does not matter [share]"""


def _as_seconds(value: Any) -> Any:
    """A time written as 30s, 5m or 1.5 h as its seconds; anything else stays as it is."""
    if not isinstance(value, str):
        return value
    read = read_quantity(value.strip())
    if not read or read.unit not in PRINTED_SECONDS:
        raise ValueError(
            f"is {value!r}; a time is a number of seconds, or written like 30s, 5m or 1.5h"
        )
    return read.value * PRINTED_SECONDS[read.unit]


Seconds = Annotated[float, BeforeValidator(_as_seconds)]
"""A time in a study [s]."""
