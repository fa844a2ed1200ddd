"""A cluster as its administrator sees it: what tests ask of it, and do to it."""

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        """Create or change objects."""
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
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.2)
        raise AssertionError(f"after {patience_s:.0f} s still not: {what}")

    def evict(self, namespace: str, pod: str) -> None:
        """As a drain of the node does it."""
        metadata = {"name": pod, "namespace": namespace}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = f"--raw=/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
        self.kubectl("create", path, "--filename=-", given=json.dumps(eviction))
