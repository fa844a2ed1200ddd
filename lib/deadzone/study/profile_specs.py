"""Profiles in a study: which are taken while a trial runs, and what is before and after."""

import re
from typing import Annotated, ClassVar, Literal

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
    """The load that a profile's amounts are divided by."""

    gone: ClassVar = {"project_to": "give it to the report: -p project_to 100"}

    column: str = Field(pattern=COLUMN_PATTERN)
    """factor or response that says how much load there was, such as achieved_rate or streams"""

    unit: str = Field(min_length=1, max_length=40)
    """one of what, such as stream, connection or request/s"""


class ChangeSpec(Spec):
    """Which level of a factor is before, and which is after."""

    gone: ClassVar = {"alone": "the report compares each further level with the one before"}

    factor: str | None = None
    """factor that was changed; default: environment, else the knob"""

    before: str | float | None = None
    """its level before; default: the first"""

    after: str | float | None = None
    """its level after; default: the second"""


class ProfilesSpec(Spec):
    """Profiles taken during every trial, and what is read out of them."""

    gone: ClassVar = {
        "causes": 'give them to the report: -p causes \'{"NACK": "nack"}\'',
        "rule": "the report has both rules side by side",
    }

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
    """the two levels that are compared"""

    load: LoadSpec | None = None
    """what amounts are divided by"""

    def _hangs_together(self) -> None:
        if self.profiler == "py-spy" and set(self.kinds) != {"cpu"}:
            raise ValueError("py-spy samples CPU time only; kinds must be [cpu]")
        if self.profiler == "py-spy" and self.url is not None:
            raise ValueError("py-spy samples a process and needs no url")
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"kinds name one twice: {', '.join(self.kinds)}")
