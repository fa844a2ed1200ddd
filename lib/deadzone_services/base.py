"""A service under test: where it can run, how it is reached, and what it used while a client asked
it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from deadzone.plugins import Command, DeadzoneError, Target
from deadzone.run.targets.ending import Exit
from deadzone.run.targets.limits.base import Counters
from deadzone.run.workloads.addresses import STANDARD_PORTS
from deadzone.study.coresident_specs import USED
from deadzone.study.service_specs import ADDRESS, HOST, PORT, SERVICE_URL

SERVICE_RESPONSES = (
    "client_cpu_s",
    *(f"service_{name}" for name in ("start_s", "disk_wait_s", *USED)),
)
"""Columns that every trial with a service has, as far as the system can tell them."""


class ServiceError(DeadzoneError):
    """A service under test did not start, did not become ready, or ended too early; the trial has
    failed."""


class RunningProgram(Protocol):
    """A service that was started."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def runs(self) -> bool:
        """Whether it has not ended by itself."""

    def stop(self, timeout_s: float) -> Exit:
        """End it and all its descendants."""


class Host(Target):
    """Where a service runs: a target that puts limits in force and tells what its inhabitants use.

    It may lack `start` where it only limits and counts a service that is up already, and `read`
    where nothing is counted. One that says
    counts_from_afar is asked as a trial begins and ends, and not in between: each reading takes a
    while, and costs the service CPU.
    """

    def start(self, command: Command, log: Path, port: int | None = None) -> RunningProgram:
        """Start a service under the limits in force; what it prints goes to the log. port: where it
        will be asked.

        A host whose inside is another one than this machine may say, as inner_port and python,
        which port and which Python there are inside.
        """
        raise NotImplementedError

    def read(self) -> Counters:
        """The accounting now."""
        raise NotImplementedError


def placeholders_of(url: str) -> dict[str, str | int]:
    """What stands in a client's arguments for the address of a service that answers there:
    service_url, address, host and port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or STANDARD_PORTS[parts.scheme]
    named = f"[{host}]" if ":" in host else host
    return {SERVICE_URL: url.rstrip("/"), ADDRESS: f"{named}:{port}", HOST: host, PORT: port}


@dataclass(frozen=True)
class Use:
    """What a service used between the beginning and the end of a trial; None: the system does not
    tell.

    grown: what its group counted. account: where the time of its threads went, empty where it was
    not kept.
    """

    user_s: float | None
    sys_s: float | None
    largest_rss_bytes: int | None
    grown: Counters
    responses: Mapping[str, float]
    account: Mapping[str, float]
