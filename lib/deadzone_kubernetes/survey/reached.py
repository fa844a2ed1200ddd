"""Which pods a load reaches: those that a Service selects, so that none of them has another level
than the trial says."""

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import MissingVerbError
from deadzone_kubernetes.workload import KubernetesWorkload, label_selector, pods_of


def check(cluster: Cluster, workload: KubernetesWorkload, pod: Object, *, is_all: bool) -> None:
    """Raise TargetError where a Service of a swept pod sends to pods that are not at the level of a
    trial.

    is_all: whether every pod of the workload is at the level. Where the account may not look at
    Services, each pod of the workload counts as reached.
    """
    own = {other["metadata"]["name"] for other in workload.pods(cluster)}
    at_level = own if is_all else {pod["metadata"]["name"]}
    try:
        services = services_of(cluster, workload.namespace, pod)
    except MissingVerbError:
        _refuse(workload, "its clients", own - at_level, own)
        return
    for service in services:
        name, selector = (
            service["metadata"]["name"],
            label_selector({"matchLabels": service["spec"]["selector"]}),
        )
        reached = {
            other["metadata"]["name"]
            for other in pods_of(cluster, f"service/{name}", workload.namespace, selector)
            if not other["metadata"].get("deletionTimestamp")
            and (other.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        }
        _refuse(workload, f"the Service {name}", reached - at_level, own)


def _refuse(workload: KubernetesWorkload, who: str, beside: set[str], own: set[str]) -> None:
    if strangers := sorted(beside - own):
        raise TargetError(
            f"A load through {who} reaches pods that are not of {workload} too: "
            f"{', '.join(strangers)}. Their limits stay as they are, so the measurement would be "
            "of both. Measure through a Service whose selector fits the workload alone."
        )
    if beside:
        raise TargetError(
            f"A load through {who} reaches {len(own)} pods of {workload}, and one of them would be "
            "at the level of a trial. Write `pods: all` under target, then all are, or scale it "
            f"down first: `kubectl -n {workload.namespace} scale {workload.kind}/{workload.name} "
            "--replicas=1`."
        )


def services_of(cluster: Cluster, namespace: str, pod: Object) -> list[Object]:
    """The Services whose selector fits a pod. Raises MissingVerbError where the account may not
    look."""
    what = f"list the Services in the namespace {namespace}"
    labels = pod["metadata"].get("labels") or {}
    services = cluster.call(what, "core.list_namespaced_service", namespace)["items"]
    return [
        service
        for service in services
        if (service["spec"].get("selector") or {}).items() <= labels.items()
        and service["spec"].get("selector")
    ]
