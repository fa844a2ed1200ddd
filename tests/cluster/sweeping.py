"""What the tests of the kubernetes target share: small studies, looks at what is left."""

import json
import os
import signal
from typing import Any

ALLOWED = {"deadzone.dev/sweep": "allowed"}

ORIGINAL = "deadzone.dev/original-resources"

BUSY = ["/bin/busybox", "sh", "-c", 'i=0; while [ "$i" -lt "$0" ]; do i=$((i+1)); done', "{work}"]
"""Counts in one process: so much work, CPU-bound."""

SLEEP = ["sleep", "{seconds}"]


def target(namespace: str, name: str = "worker", **more: Any) -> dict[str, Any]:
    """A target that sweeps a Deployment by exec."""
    return {"kind": "kubernetes", "namespace": namespace, "workload": f"deployment/{name}", **more}


def job_target(namespace: str, image: str, **more: Any) -> dict[str, Any]:
    """A target that makes a pod for each trial; two may share the only node."""
    job = {"image": image, "one_a_node": False, "cpu_request": 0.02, **more.pop("job", {})}
    return {"kind": "kubernetes", "mode": "job", "namespace": namespace, "job": job, **more}


def owners(found: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """Who owns which fields of an object, but for its state; by manager and operation."""
    entries = [one for one in found["metadata"]["managedFields"] if "subresource" not in one]
    return {(one["manager"], one["operation"]): one["fieldsV1"] for one in entries}


def owners_of_resources(found: dict[str, Any]) -> list[tuple[Any, str]]:
    """Who owns which amounts of an object's container."""
    parts = [(who, json.dumps(one, sort_keys=True)) for who, one in owners(found).items()]
    return sorted(
        (who, part[part.index('"f:resources"') :]) for who, part in parts if "f:resources" in part
    )


def resources(found: dict[str, Any]) -> dict[str, Any]:
    """Of the only container of a Deployment, or of a pod."""
    spec = found["spec"].get("template", found)["spec"]
    return spec["containers"][0]["resources"]


def kill(begun: Any) -> None:
    """End a sweep so that it can give nothing back."""
    os.kill(begun.pid, signal.SIGKILL)
    begun.process.wait()


def records(begun: Any) -> list[dict[str, Any]]:
    """The lines of the journal of a sweep that went well, which is waited for."""
    begun.end_with(0)
    return [json.loads(line) for line in next(begun.runs.glob("*/*/trials.jsonl")).open()]


class Left:
    """What a namespace looks like after a sweep."""

    def __init__(self, cluster: Any, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace
        self._owners: dict[str, Any] = {}

    def _get(self, *arguments: str) -> Any:
        return self._cluster.get(*arguments, "--namespace", self._namespace)

    def limits(self, name: str = "worker") -> dict[str, Any]:
        """The resources of the Deployment, once all its present pods have the same."""
        wanted = resources(self._get("deployment", name))
        self._cluster.wait_for(
            lambda: self.pod_resources() == [wanted], "one pod with the Deployment's resources"
        )
        return wanted

    def pods(self) -> list[dict[str, Any]]:
        """Pods that are to stay."""
        return [
            pod
            for pod in self._get("pods")["items"]
            if not pod["metadata"].get("deletionTimestamp")
        ]

    def pod_resources(self) -> list[dict[str, Any]]:
        """Those of their first containers."""
        return [resources(pod) for pod in self.pods()]

    def annotation(self, name: str = "worker") -> str | None:
        """The original resources kept at the Deployment."""
        return self._get("deployment", name)["metadata"].get("annotations", {}).get(ORIGINAL)

    def remember(self, name: str = "worker") -> None:
        """Note who owns which field of the Deployment before a sweep."""
        self._owners[name] = owners_of_resources(self._get("deployment", name))

    def leases(self) -> list[str]:
        """Locks that are held, or were never given up."""
        return [lease["metadata"]["name"] for lease in self._get("leases")["items"]]

    def jobs(self) -> list[str]:
        """Jobs that are to stay."""
        found = self._get("jobs")["items"]
        return [
            job["metadata"]["name"] for job in found if not job["metadata"].get("deletionTimestamp")
        ]

    def files(self, name: str = "worker") -> list[str]:
        """What lies in /tmp of the container."""
        return [one for one in self.inside("ls /tmp", name).split() if one.startswith("deadzone")]

    def inside(self, script: str, name: str = "worker") -> str:
        """What a script prints in the container."""
        where = ("exec", f"deployment/{name}", "--namespace", self._namespace, "--")
        return self._cluster.kubectl(*where, "/bin/sh", "-c", script)

    def check_nothing(self, name: str = "worker", limit: str = "1") -> None:
        """No annotation, no lock, no file, no Job is left, and the limit is the one of before with
        its owner of before, or the one that others set."""
        assert self.limits(name) == {"limits": {"cpu": limit}, "requests": {"cpu": "50m"}}
        assert self.annotation(name) is None
        now = self._get("deployment", name)
        assert "deadzone" not in [manager for manager, _ in owners(now)]
        if limit == "1":
            assert self._owners.get(name) in (None, owners_of_resources(now))
        assert self.leases() == []
        assert self.jobs() == []
        assert self.files(name) == []
