"""Ports, and waiting until a service answers on one."""

import http.client
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from deadzone.plugins import SaidAs
from deadzone.run.targets.processes import listening_on, names_of
from deadzone.store.programs import answer_of, last_words
from deadzone.study.service_specs import ReadinessSpec
from deadzone_services.base import ServiceError

LOOK_EVERY_S = 0.02
"""A service that takes a second to start loses two per cent of it to a look that came too early
[s]."""

ANSWER_TIMEOUT_S = 5.0
"""A service that accepts a connection and then says nothing for so long is not ready yet [s]."""


def free_port(host: str) -> int:
    """A TCP port of this machine that no process listens on.

    Raises ServiceError if the address is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    refused = SaidAs(ServiceError, f"service.host: nothing can listen on {host} here")
    with refused, socket.socket(family) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def check_free(host: str, port: int) -> None:
    """Raise ServiceError, naming who has it, if a port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        pids = listening_on(port)
        holders = ", ".join(part for pid in pids for part in (*names_of(pid)[:1], f"process {pid}"))
        raise ServiceError(
            f"port taken: {host}:{port} cannot be used: "
            f"{error.strerror}{f' (by {holders})' if holders else ''}. Stop that, or leave "
            "service.port out and write {port} in its arguments."
        ) from error


def await_ready(
    host: str, port: int, spec: ReadinessSpec, runs: Callable[[], bool], argv: Sequence[str] = ()
) -> float:
    """Wait until a service answers; returns how long that took [s].

    runs: whether its process still lives. argv: program that tells whether it is ready, where one
    does.

    Raises ServiceError if it ends first, or the time is over.
    """
    began = time.monotonic()
    while True:
        alive = runs()  # asked first: what answers afterwards may be another process
        problem = _said_by(argv) if argv else _problem(host, port, spec)
        if problem is None:
            return time.monotonic() - began
        if not alive:
            raise ServiceError("the service ended before it was ready")
        if time.monotonic() - began > spec.timeout_s:
            address = f"http://{host}:{port}{spec.path}" if spec.path else f"port {port} of {host}"
            where = " ".join(argv) or address
            raise ServiceError(
                f"the service was not ready within {spec.timeout_s:g} s: {where}: {problem}"
            )
        time.sleep(LOOK_EVERY_S)


def _said_by(argv: Sequence[str]) -> str | None:
    """Why a program says that a service is not ready; None where it ends with 0."""
    answer = answer_of(argv, ANSWER_TIMEOUT_S)
    return last_words(answer) if answer.returncode else None


def _problem(host: str, port: int, spec: ReadinessSpec) -> str | None:
    """Why a service is not ready; None if it is."""
    try:
        if spec.path is None:
            socket.create_connection((host, port), timeout=ANSWER_TIMEOUT_S).close()
            return None
        timeout_s = min(ANSWER_TIMEOUT_S, spec.timeout_s)
        with closing(http.client.HTTPConnection(host, port, timeout=timeout_s)) as connection:
            connection.request("GET", spec.path)
            status = connection.getresponse().status
    except ConnectionRefusedError:
        return "nothing listens there"
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    return None if status == spec.status else f"status {status} where {spec.status} means ready"
