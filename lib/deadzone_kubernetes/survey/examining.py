"""What `deadzone doctor` says of a cluster, and with --kubernetes what a sweep of a workload would
meet there, tried without changing anything."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath

from deadzone.plugins import Check, DeadzoneError, TargetError
from deadzone_kubernetes.api.cluster import Cluster, is_configured
from deadzone_kubernetes.api.streams import Spot
from deadzone_kubernetes.container.container import PodContainer
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.survey.trying import try_eviction, try_rollout
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.workload import POD, KubernetesWorkload, try_resize

MOST_SAID = 200
"""How much of what a cluster answers is shown [characters]."""

NEEDED = ("permission", "lock", "autoscaler", "shell")
"""Without these nothing can be swept; of a resize and a rollout one is enough."""


def examine_workload(context: str | None, named: str) -> list[Check]:
    """What a sweep would meet. named: NAMESPACE/WORKLOAD, the workload with or without its kind:
    shop/deployment/burner, shop/burner.

    Raises TargetError where the name is none, there is no such workload, or it has no pod.
    """
    namespace, _, name = named.partition("/")
    if not namespace or not name:
        raise TargetError(
            f"--kubernetes {named}: write NAMESPACE/WORKLOAD, such as shop/deployment/burner."
        )
    cluster, full = Cluster(context), name if "/" in name else f"deployment/{name}"
    checks = []
    for what, attempt in _attempts(KubernetesWorkload.find(cluster, namespace, full)).items():
        try:
            checks.append(Check(what, "works", str(attempt() or "nothing is in the way")))
        except TargetError as error:
            checks.append(Check(what, "missing" if what in NEEDED else "optional", str(error)))
    return checks


def _attempts(workload: KubernetesWorkload) -> dict[str, Callable[[], object]]:
    """What a sweep does before its first trial, by name."""
    manifest, pods, cluster = workload.read(), workload.pods(), workload.cluster
    if not pods:
        raise TargetError(f"{workload} has no pod; scale it to one or more.")
    container = workload.template(manifest)["containers"][0]
    name, now = container["name"], Resources.of(container)
    inside = PodContainer(cluster, Spot.of(pods[-1], name), PurePosixPath("/tmp"))

    def scaled() -> str:
        unseen: list[str] = []
        scalers = autoscaler.at_work(workload, unseen.append)
        autoscaler.check(scalers, workload, int(manifest["spec"].get("replicas", 1)))
        return "; ".join(unseen)

    def locked() -> None:
        lock, method = {"metadata": {"generateName": "d-"}}, "coordination.create_namespaced_lease"
        cluster.call("make a lock", method, workload.namespace, lock, dry_run="All")

    attempts: dict[str, Callable[[], object]] = {
        "permission": partial(workload.check_allowed, manifest, allow=False),
        "lock": locked,
        "autoscaler": scaled,
        "shell": lambda: f"{' '.join(inside.find_shell())} in the container {name}",
        "resize": partial(try_resize, cluster, pods[-1], name, now),
    }
    if workload.kind != POD:
        rollout = partial(try_rollout, workload, manifest, name, now)
        attempts["rollout"] = lambda: f"of the QoS class {rollout() or 'that is not known'}"
        attempts["budget"] = partial(try_eviction, workload, manifest)
    return attempts


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
