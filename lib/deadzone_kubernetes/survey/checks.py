"""What `deadzone doctor` says of a cluster, and of one workload in it."""

from collections.abc import Iterator
from typing import cast

from deadzone.check import State
from deadzone.plugins import Check, DeadzoneError
from deadzone_kubernetes.api.cluster import Cluster, is_configured
from deadzone_kubernetes.survey.examining import examine

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


def examine_workload(context: str | None, named: str) -> list[Check]:
    """What a sweep of a workload in a cluster would meet. named: NAMESPACE/WORKLOAD. Raises
    TargetError."""
    found = examine(context, named)
    return [Check(one.name, cast(State, one.state), one.finding, one.remedy) for one in found]
