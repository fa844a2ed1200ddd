"""Which pods a load reaches: those that a Service selects, so that none of them has another level
than the trial says."""

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.workload import KubernetesWorkload, is_ending, label_selector, pods_of


def check(workload: KubernetesWorkload, pod: Object, *, is_all: bool) -> None:
    """Raise TargetError where a Service of a swept pod sends to pods that are not at the level of a
    trial. is_all: whether every pod of the workload is at the level."""
    at_level = set(map(_name, workload.pods())) if is_all else {_name(pod)}
    what, method = f"list the Services of {workload}", "core.list_namespaced_service"
    labels = pod["metadata"].get("labels") or {}
    for service in workload.cluster.call(what, method, workload.namespace)["items"]:
        selector, where = service["spec"].get("selector"), f"the Service {_name(service)}"
        if not selector or not selector.items() <= labels.items():
            continue
        fits = label_selector({"matchLabels": selector})
        every = pods_of(workload.cluster, where, workload.namespace, fits)
        running = [one for one in every if one["status"].get("phase") in ("Pending", "Running")]
        reached = {_name(one) for one in running if not is_ending(one)}
        if beside := sorted(reached - at_level):
            scale = f"kubectl -n {workload.namespace} scale {workload.kind}/{workload.name}"
            raise TargetError(
                f"A load through {where} reaches {len(reached)} pods, and these would not be at "
                f"the level of a trial: {', '.join(beside)}. Write `pods: all` under target, scale "
                f"it down first (`{scale} --replicas=1`), or use a Service of {workload} alone."
            )


def _name(found: Object) -> str:
    return str(found["metadata"]["name"])
