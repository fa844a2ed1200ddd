"""Profiles in a study: which are taken while a trial runs, and how before and after are set side by
side."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from deadzone.study.base import COLUMN_PATTERN, Argument, Spec

ProfileKind = Literal["cpu", "heap", "allocs", "goroutine", "threadcreate", "mutex", "block"]
"""What a profile counts, by the names of Go's net/http/pprof; `cpu` is its page `profile`."""

MOST_PROFILED_S = 3600
SERVICE_URL = "service_url"
"""Placeholder for the address of the service under test."""

PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.IGNORECASE)


def _web_address(url: str) -> str:
    if PASSWORD.match(url):
        raise ValueError("holds a password, and studies are stored for everybody to read")
    if not re.match(r"https?://.|\{", url):
        raise ValueError(
            f"is {url!r}; an address begins with http:// or https://, or with {{{SERVICE_URL}}}"
        )
    return url


class LoadSpec(Spec):
    """The load that a profile's amounts are divided by, and projected to."""

    column: str = Field(pattern=COLUMN_PATTERN)
    """factor or response that says how much load there was, such as achieved_rate or streams"""

    unit: str = Field(min_length=1, max_length=40)
    """one of what, such as stream, connection or request/s"""

    project_to: float | None = Field(default=None, gt=0)
    """load to project both sides to, such as 100 streams"""


class ChangeSpec(Spec):
    """Which level of a factor is before, which is after, and which have one option changed
    alone."""

    factor: str | None = None
    """factor that was changed; default: environment, else the knob"""

    before: str | float | None = None
    """its level before; default: the first"""

    after: str | float | None = None
    """its level after; default: the second"""

    alone: dict[str, str | float] = Field(default_factory=dict)
    """cause to the level at which this option alone is changed (ablation)"""


class ProfilesSpec(Spec):
    """Profiles taken during every trial, and what is read out of them."""

    profiler: Literal["pprof", "py-spy"]
    """pprof: pages as of Go's net/http/pprof; py-spy: samples of a Python process"""

    url: Annotated[Argument, AfterValidator(_web_address)] | None = None
    """address above the pages, {factor} is its level; default: {service_url}/debug/pprof"""

    kinds: tuple[ProfileKind, ...] = Field(default=("cpu",), min_length=1)
    """what is profiled"""

    start_s: float = Field(default=0.5, ge=0, le=MOST_PROFILED_S)
    """time from the start of the load to the profiles [s]"""

    duration_s: int = Field(default=5, ge=1, le=MOST_PROFILED_S)
    """how long cpu, allocs, mutex and block are profiled [s]"""

    rate_hz: int = Field(default=100, ge=1, le=1000)
    """samples of py-spy, or of pages that answer folded stacks [1/s]"""

    subprocesses: bool = False
    """whether py-spy also samples the processes below"""

    change: ChangeSpec = Field(default_factory=ChangeSpec)
    causes: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    """causes named by stack patterns, in order of precedence, such as {NACK: "*nack*"}"""

    rule: Literal["first", "shapley"] = "first"
    """whose is a sample that matches several causes"""

    load: LoadSpec | None = None
    """what amounts are divided by"""

    def _hangs_together(self) -> None:
        if self.profiler == "py-spy" and set(self.kinds) != {"cpu"}:
            raise ValueError("py-spy samples CPU time only; kinds must be [cpu]")
        if self.profiler == "py-spy" and self.url is not None:
            raise ValueError("py-spy samples a process and needs no url")
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"kinds name one twice: {', '.join(self.kinds)}")
        if "other" in self.causes:
            raise ValueError("causes may not be called 'other', the name of what no cause matches")


class GateSpec(Spec):
    """A response that must not get worse by the margin or more."""

    margin: float = Field(gt=0)
    """how much worse it must not get: a fraction, or in its unit if absolute"""

    absolute: bool = False
    """whether the margin is in the unit of the response"""

    goal: Literal["min", "max"] | None = None
    """whether less or more is better; default: as the name of the response says"""
