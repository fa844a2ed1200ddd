"""What `deadzone doctor` says of a cluster."""

from collections.abc import Iterator

from deadzone.plugins import Check, DeadzoneError
from deadzone_kubernetes.api.cluster import Cluster, is_configured

MOST_SAID = 200
"""How much of what a cluster answers is shown [characters]."""


def checks() -> Iterator[Check]:
    """Ask the API server that the kubeconfig, or the pod this runs in, names."""
    problem = "no kubeconfig, and not inside a pod"
    if is_configured():
        try:
            version = Cluster(patience_s=0).call("tell its version", "version.get_code")
            yield Check("Kubernetes", "works", f"API server {version['gitVersion']}")
            return
        except DeadzoneError as error:
            problem = str(error)
            problem = problem if len(problem) <= MOST_SAID else f"{problem[:MOST_SAID]}..."
    yield Check("Kubernetes", "optional", f"no cluster: {problem}", "set KUBECONFIG")
