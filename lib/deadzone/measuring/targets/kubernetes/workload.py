"""The workload that a study names: finding it, its pod and its container, and whether it may be swept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deadzone.errors import TargetError, did_you_mean
from deadzone.measuring.targets.kubernetes.cluster import Cluster, Object
from deadzone.measuring.targets.kubernetes.errors import AbsentError

DEPLOYMENT, STATEFUL_SET, POD = "deployment", "statefulset", "pod"

METHODS = {
    DEPLOYMENT: "apps.{}_namespaced_deployment",
    STATEFUL_SET: "apps.{}_namespaced_stateful_set",
    POD: "core.{}_namespaced_pod",
}
"""The client's methods by the kind of their object; the verb is read, patch or list."""

PERMISSION = "deadzone.dev/sweep"
ALLOWED = "allowed"


@dataclass(frozen=True)
class Workload:
    """A Deployment, a StatefulSet or a pod, by name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name} in the namespace {self.namespace}"

    def read(self, cluster: Cluster) -> Object:
        """The object as it is now."""
        return cluster.call(f"read {self}", METHODS[self.kind].format("read"), self.name, self.namespace)

    def patch(self, cluster: Cluster, what: str, body: Object) -> Object:
        """Change the object by a strategic merge patch; what: the change in words."""
        return cluster.call(
            f"{what} of {self}", METHODS[self.kind].format("patch"), self.name, self.namespace, body
        )

    def annotate(self, cluster: Cluster, annotations: Mapping[str, str | None]) -> Object:
        """Set annotations of the object itself, which starts no rollout; None removes one."""
        return self.patch(cluster, "change the annotations", {"metadata": {"annotations": dict(annotations)}})


def find(cluster: Cluster, namespace: str, named: str | None, selector: str | None) -> Workload:
    """The workload of a name such as deployment/encoder, or the one and only with the labels of a selector.

    Raises TargetError where there is none, or a selector fits several.
    """
    if named is not None:
        kind, _, name = named.partition("/")
        workload = Workload(kind, namespace, name)
        try:
            workload.read(cluster)
        except AbsentError as error:
            known = _names(cluster, kind, namespace)
            listing = ", ".join(known) or "none"
            raise TargetError(
                f"There is no {workload}.{did_you_mean(name, known)} There are: {listing}."
            ) from error
        return workload
    for kind in (DEPLOYMENT, STATEFUL_SET, POD):
        names = _names(cluster, kind, namespace, selector)
        if len(names) == 1:
            return Workload(kind, namespace, names[0])
        if names:
            raise TargetError(
                f"The selector {selector!r} fits {len(names)} {kind}s in the namespace {namespace}: "
                f"{', '.join(names)}. Name one: target.workload: {kind}/{names[0]}."
            )
    raise TargetError(
        f"The selector {selector!r} fits no Deployment, StatefulSet or pod in the namespace {namespace}."
    )


def _names(cluster: Cluster, kind: str, namespace: str, selector: str | None = None) -> list[str]:
    labels = {"label_selector": selector} if selector else {}
    found = cluster.call(
        f"list the {kind}s in the namespace {namespace}", METHODS[kind].format("list"), namespace, **labels
    )
    return [item["metadata"]["name"] for item in found["items"]]


def check_allowed(workload: Workload, found: Object, allow: bool) -> None:
    """Raise TargetError unless the workload's owner, or whoever typed --allow, permits the sweep."""
    value = (found["metadata"].get("annotations") or {}).get(PERMISSION)
    if value == ALLOWED or allow:
        return
    instead = f" (its value is {value!r})" if value is not None else ""
    raise TargetError(
        f"{workload} does not permit sweeps: it lacks the annotation {PERMISSION}: {ALLOWED}{instead}. Its owner gives "
        f"it with `kubectl annotate -n {workload.namespace} {workload.kind} {workload.name} {PERMISSION}={ALLOWED}`; "
        "--allow sweeps it all the same."
    )


def template(workload: Workload, found: Object) -> Object:
    """The pod specification in an object: of its template, or its own."""
    spec: Object = found["spec"] if workload.kind == POD else found["spec"]["template"]["spec"]
    return spec


def container_of(spec: Mapping[str, Any], name: str | None, where: str) -> Object:
    """The container of a pod specification, by its name or because it is the only one.

    Raises TargetError where it is not clear which one is meant.
    """
    containers: list[Object] = spec["containers"]
    names = [container["name"] for container in containers]
    if name is None:
        if len(containers) > 1:
            raise TargetError(
                f"The pods of {where} have {len(names)} containers: {', '.join(names)}. Name one: target.container."
            )
        return containers[0]
    for container in containers:
        if container["name"] == name:
            return container
    raise TargetError(
        f"The pods of {where} have no container {name!r}.{did_you_mean(name, names)} They have: {', '.join(names)}."
    )


def pods(cluster: Cluster, workload: Workload) -> list[Object]:
    """The pods of a workload that are not about to go, oldest first."""
    return [pod for pod in all_pods(cluster, workload) if not is_ending(pod)]


def all_pods(cluster: Cluster, workload: Workload) -> list[Object]:
    """The pods of a workload, oldest first, those that are ending among them."""
    if workload.kind == POD:
        found = [workload.read(cluster)]
    else:
        selector = label_selector(workload.read(cluster)["spec"]["selector"])
        found = cluster.call(
            f"list the pods of {workload}",
            METHODS[POD].format("list"),
            workload.namespace,
            label_selector=selector,
        )["items"]
    return sorted(found, key=lambda pod: str(pod["metadata"].get("creationTimestamp")))


def is_ending(pod: Mapping[str, Any]) -> bool:
    """Whether a pod is about to go."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def label_selector(selector: Mapping[str, Any]) -> str:
    """A selector object in the words of a query."""
    parts = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or []:
        key, values = expression["key"], ",".join(expression.get("values") or [])
        words = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        parts.append(words.get(expression["operator"], f"!{key}"))
    return ",".join(parts)


def is_ready(pod: Mapping[str, Any], container: str) -> bool:
    """Whether a pod's container runs and is ready, and the pod is to stay."""
    state = container_status(pod, container)
    return (
        not is_ending(pod)
        and state is not None
        and "running" in (state.get("state") or {})
        and bool(state.get("ready"))
    )


def container_status(pod: Mapping[str, Any], container: str) -> Object | None:
    """What the kubelet says of a container; None before it says anything."""
    states = (pod.get("status") or {}).get("containerStatuses") or []
    return next((state for state in states if state["name"] == container), None)
