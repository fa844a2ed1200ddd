"""A cluster as its administrator sees it: what tests ask of it, and do to it."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import wait_for

PATIENCE_S = 120.0
"""A busy machine may take this long for what takes a second."""

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    """A cluster, as its administrator sees it.

    own: whether it is the node of `make cluster`, whose programs a test may kill and whose link it
    may cut.
    """

    kubeconfig: Path
    own: bool

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """What kubectl printed. Raises CalledProcessError, with what it said, if it fails."""
        argv = ("kubectl", f"--kubeconfig={self.kubeconfig}", *arguments)
        answer = subprocess.run(argv, input=given, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {answer.stderr.strip()}")
        return answer.stdout

    def apply(self, *manifests: Manifest) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        self.kubectl("apply", "--filename=-", given=json.dumps(listed))

    def get(self, *arguments: str) -> Any:
        """An object or a list, as `kubectl get` knows it."""
        return json.loads(self.kubectl("get", "--output=json", "--show-managed-fields", *arguments))

    def raw(self, path: str) -> str:
        """What the API server answers to a GET of a path."""
        return self.kubectl("get", f"--raw={path}")

    def wait_for(
        self, condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S
    ) -> Any:
        """Wait until something is the case, and return it."""
        return wait_for(condition, f"still not: {what}", patience_s, pause_s=0.2)

    def expose(self, namespace: str, name: str, port: int) -> str:
        """Address of a port of the node that leads to a Deployment's pods."""
        spec = {"type": "NodePort", "selector": {"app": name}, "ports": [{"port": port}]}
        metadata = {"name": name, "namespace": namespace}
        self.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
        found = self.get("service", name, "--namespace", namespace)
        addresses = self.get("nodes")["items"][0]["status"]["addresses"]
        node = next(one["address"] for one in addresses if one["type"] == "InternalIP")
        return f"http://{node}:{found['spec']['ports'][0]['nodePort']}"

    def evict(self, namespace: str, pod: str) -> None:
        """As a drain of the node does it."""
        metadata = {"name": pod, "namespace": namespace}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = f"--raw=/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
        self.kubectl("create", path, "--filename=-", given=json.dumps(eviction))
