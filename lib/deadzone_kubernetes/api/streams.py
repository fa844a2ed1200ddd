"""Running a short command in a container over the API server's exec stream.

Streams break: a server restarts, a proxy cuts what says nothing for minutes. So whatever runs over
one here may be asked for again without harm, and pings keep a quiet one open.
"""

import contextlib
import time
from dataclasses import dataclass
from subprocess import CompletedProcess
from typing import Any

import yaml

from deadzone_kubernetes.api.cluster import (
    AbsentError,
    Cluster,
    ClusterError,
    Object,
    status_and_message,
)

PING_EVERY_S = 15.0
"""Well below the idle times after which load balancers and proxies cut a connection, of which 60 s
is common [s]."""

LOOK_EVERY_S = 0.5
"""How soon a stop of the sweep is noticed on a stream that says nothing [s]."""

PIECE_BYTES = 64 * 1024
"""What is written to a stream at a time [bytes]."""

STDIN, STDOUT, STDERR, STATUS = 0, 1, 2, 3
"""Channels of the stream."""

NO_SUCH_PROGRAM = ("executable file not found", "no such file or directory", "permission denied")

Answer = CompletedProcess[str]
"""What a command in a container printed, and how it ended."""


class StreamBrokenError(ClusterError):
    """The stream ended before the command did; whether the command still runs is not known."""


class NoProgramError(ClusterError):
    """The container has no program of that name."""


@dataclass(frozen=True)
class Spot:
    """A container of one particular pod."""

    namespace: str
    pod: str
    uid: str
    container: str

    @classmethod
    def of(cls, pod: Object, container: str) -> "Spot":
        """A container of a pod as the cluster tells of it."""
        metadata = pod["metadata"]
        return cls(metadata["namespace"], metadata["name"], metadata["uid"], container)

    def __str__(self) -> str:
        return f"the container {self.container} of pod {self.pod} in the namespace {self.namespace}"


def run(
    cluster: Cluster, spot: Spot, argv: tuple[str, ...], stdin: bytes = b"", timeout_s: float = 60.0
) -> Answer:
    """Run a command in a container to its end.

    Raises StreamBrokenError if the stream ends first or timeout_s is over, NoProgramError if the
    container has no such program, other kinds of ClusterError as the API server refuses.
    """
    stream = cluster.patiently(
        f"run a command in {spot}", lambda: _open(cluster, spot, argv, bool(stdin))
    )
    printed = _printed(cluster, spot, stream, stdin, timeout_s)
    return Answer(argv, _exit_code(spot, printed[STATUS]), printed[STDOUT], printed[STDERR])


def _open(cluster: Cluster, spot: Spot, argv: tuple[str, ...], stdin: bool) -> Any:
    # `stream` changes the client it is given while it connects: a client of its own for each call.
    from kubernetes import client
    from kubernetes.stream import stream

    api = client.CoreV1Api(client.ApiClient(cluster.configuration))
    try:
        channels = {"stdin": stdin, "stdout": True, "stderr": True, "tty": False}
        return stream(
            *(api.connect_get_namespaced_pod_exec, spot.pod, spot.namespace),
            **{"container": spot.container, "command": list(argv), **channels},
            _preload_content=False,
        )
    except client.ApiException as error:
        if isinstance(error.__context__, KeyboardInterrupt | SystemExit):
            # the client takes a Ctrl-C while it connects for a refusal
            raise error.__context__ from None
        status, message = status_and_message(error)
        if status == 500 and "container not found" in message:
            raise AbsentError(f"{spot} does not run: {message}.") from error
        raise


def _printed(
    cluster: Cluster, spot: Spot, stream: Any, stdin: bytes, timeout_s: float
) -> dict[int, str]:
    """What came over each channel of a stream until its end."""
    printed: dict[int, list[str]] = {STDOUT: [], STDERR: [], STATUS: []}
    began = pinged = time.monotonic()
    try:
        for start in range(0, len(stdin), PIECE_BYTES):
            stream.write_channel(STDIN, stdin[start : start + PIECE_BYTES])
        while stream.is_open():
            stream.update(timeout=LOOK_EVERY_S)
            _drain(stream, printed)
            if printed[STATUS]:
                break
            if cluster.stopping.is_set():
                raise ClusterError("The sweep is being stopped.")
            now = time.monotonic()
            if now - began > timeout_s:
                raise StreamBrokenError(f"A command in {spot} did not end within {timeout_s:g} s.")
            if now - pinged > PING_EVERY_S:
                stream.sock.ping()
                pinged = now
        _drain(stream, printed)
    except ClusterError:
        raise
    # The web socket library raises whatever its transport does, from its own errors to OpenSSL's.
    except Exception as error:
        if not printed[STATUS]:
            raise StreamBrokenError(f"The stream to {spot} broke: {error}.") from error
    finally:
        with contextlib.suppress(Exception):
            stream.close()
    return {channel: "".join(pieces) for channel, pieces in printed.items()}


def _drain(stream: Any, printed: dict[int, list[str]]) -> None:
    for channel, pieces in printed.items():
        while piece := stream.read_channel(channel):
            pieces.append(piece)


def _exit_code(spot: Spot, status: str) -> int:
    """How the command ended, from the status channel. Raises StreamBrokenError without one."""
    document = yaml.safe_load(status) if status else None
    if not isinstance(document, dict):
        raise StreamBrokenError(f"The stream to {spot} ended before the command did.")
    if document.get("status") == "Success":
        return 0
    causes = (document.get("details") or {}).get("causes") or []
    codes = [cause["message"] for cause in causes if cause.get("reason") == "ExitCode"]
    if codes:
        return int(codes[0])
    message = str(document.get("message") or "no reason given")
    if any(words in message.lower() for words in NO_SUCH_PROGRAM):
        raise NoProgramError(f"{spot} has no such program: {message}.")
    if "container not found" in message or "not running" in message:
        raise AbsentError(f"{spot} does not run: {message}.")
    raise StreamBrokenError(f"A command in {spot} could not be run: {message}.")
