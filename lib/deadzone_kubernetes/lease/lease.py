"""A Lease that keeps two sweeps off one workload.

The holder renews it from a thread of its own. It is taken from another holder only after it was
watched for its whole duration without a renewal, so clocks that disagree do no harm (as client-go's
leader election does it).
"""

import contextlib
import socket
import threading
from datetime import UTC, datetime
from typing import Self

from deadzone.plugins import TargetError
from deadzone.run.targets.kernel_files import read_bytes
from deadzone.run.targets.limits.base import group_name, is_left_over
from deadzone_kubernetes.api.cluster import (
    OURS,
    AbsentError,
    BusyError,
    Cluster,
    ClusterError,
    ConflictError,
    Object,
)
from deadzone_kubernetes.workload import KubernetesWorkload

DURATION_S = 30
"""How long a holder may be silent; also how long a sweep waits that takes over after a killed sweep
[s]."""

RENEW_EVERY_S = 5.0

LONG_AGO_S = 600.0
"""A lease that was renewed so long ago by any clock is taken at once: no two clocks are so far
apart [s]."""

HOLDER = "holderIdentity"
"""The key of its specification that says whose it is."""

READ, CREATE, REPLACE, DELETE = (
    f"coordination.{verb}_namespaced_lease" for verb in ("read", "create", "replace", "delete")
)


class Lease:
    """The lock on one workload, or on whatever else has a name in a namespace."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, subject: str, run: str) -> None:
        """subject: what is locked, in words. run: for whom."""
        self._cluster = cluster
        self._namespace = namespace
        self._name = name[:253]
        self._subject = subject
        # Machine, boot, process and its start: this process and no other.
        self.holder = f"{run}@{_machine()}/{group_name()}"
        self._version: str | None = None
        self._lost: str | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._renewer: threading.Thread | None = None

    @classmethod
    def of(cls, workload: KubernetesWorkload, run: str) -> Self:
        """The lock on a workload."""
        name = f"deadzone-{workload.kind}-{workload.name}"
        return cls(workload.cluster, workload.namespace, name, str(workload), run)

    def acquire(self) -> None:
        """Take the lease, after a killed holder's has run out, and renew it from now on.

        Raises BusyError, with its holder, while another sweep holds it.
        """
        taken: Object | None = None
        while taken is None:
            taken = self._cluster.create("take a lock", CREATE, self._namespace, self._body(None))
            taken = taken or self._take_over()
        self._version = taken["metadata"]["resourceVersion"]
        self._renewer = threading.Thread(target=self._renew_always, daemon=True)
        self._renewer.start()

    def _take_over(self) -> Object | None:
        """The lease taken from a holder that is silent; None if it vanished or another took it
        first."""
        with contextlib.suppress(ConflictError, AbsentError):
            seen = self._read()
            if not is_free(seen):
                self._watch(seen)
            return self._replaced("take over a lock", seen["metadata"]["resourceVersion"])
        return None

    def _replaced(self, what: str, version: str) -> Object:
        return self._cluster.call(what, REPLACE, self._name, self._namespace, self._body(version))

    def _watch(self, seen: Object) -> None:
        """Wait for the holder's duration. Raises BusyError if it renews meanwhile."""
        duration = (seen["spec"].get("leaseDurationSeconds") or DURATION_S) + 1
        for _ in self._cluster.looks(duration, 1.0):
            now = self._read()
            if now["metadata"]["resourceVersion"] != seen["metadata"]["resourceVersion"]:
                raise BusyError(
                    f"Another sweep works on {self._subject}: {now['spec'].get(HOLDER)}. "
                    "Wait for its end."
                )

    def _read(self) -> Object:
        return self._cluster.call("read a lock", READ, self._name, self._namespace)

    def check(self) -> None:
        """Renew the lease now. Raises TargetError if it was taken over: then nothing may be changed
        any more."""
        self._renew()
        if self._lost is not None:
            raise TargetError(
                f"This sweep has lost its lock on {self._subject}: {self._lost}. `deadzone "
                "restore` gives back what it changed."
            )

    def _renew(self) -> None:
        with self._lock:
            if self._version is None or self._lost is not None:
                return
            try:
                try:
                    now = self._replaced("renew a lock", self._version)
                except ConflictError:  # also of a renewal whose answer got lost: the holder tells
                    now = self._read()
            except AbsentError:
                self._lost = "it was removed"
                return
            holder = now["spec"].get(HOLDER)
            if holder != self.holder:
                self._lost = f"{holder} has it now"
            else:
                self._version = now["metadata"]["resourceVersion"]

    def _renew_always(self) -> None:
        while not self._stop.wait(RENEW_EVERY_S):
            with contextlib.suppress(ClusterError):
                self._renew()

    def release(self) -> None:
        """Remove the lease, if it is still held. Never raises for a cluster that does not
        answer."""
        self._stop.set()
        if self._renewer:
            self._renewer.join(timeout=RENEW_EVERY_S)
        with self._lock:
            if self._version is None or self._lost is not None:
                return
            options = {"preconditions": {"resourceVersion": self._version}}
            self._version = None
            with contextlib.suppress(ClusterError):
                where = (self._name, self._namespace)
                self._cluster.call("give up a lock", DELETE, *where, body=options)

    def _body(self, version: str | None) -> Object:
        now = datetime.now(UTC).isoformat(timespec="microseconds")  # which the API wants
        spec = {HOLDER: self.holder, "leaseDurationSeconds": DURATION_S}
        return {
            "metadata": {"name": self._name, "resourceVersion": version, "labels": OURS},
            "spec": {**spec, "acquireTime": now, "renewTime": now},
        }


def _machine() -> str:
    """This machine since its last boot."""
    boot = read_bytes("/proc/sys/kernel/random/boot_id").decode().split("-")[0]
    return f"{socket.gethostname()}/{boot or 'unknown'}"


def is_free(lease: Object) -> bool:
    """Whether a lease is free by any clock, or its holder was a process of this machine, since its
    last boot, that has ended."""
    renewed, holder = lease["spec"].get("renewTime"), lease["spec"].get(HOLDER)
    if not renewed or not holder:
        return True
    age = datetime.now(UTC) - datetime.fromisoformat(renewed)
    machine, _, process = holder.rpartition("@")[2].rpartition("/")
    return age.total_seconds() > LONG_AGO_S or (machine == _machine() and is_left_over(process))
