"""The workload that a study names: finding it, its pod and its container, whether it may be swept,
and changing the limit of the container: in place, or by patching the workload and waiting for the
rollout.

Neither is believed: what counts is read in the container's own control group afterwards, by who
calls this.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Self

from deadzone.plugins import TargetError, did_you_mean
from deadzone_kubernetes.api.cluster import MANAGER, AbsentError, Cluster, ConflictError, Object
from deadzone_kubernetes.container.resources import Resources, resources_of
from deadzone_kubernetes.survey import pod_problems

DEPLOYMENT, STATEFUL_SET, POD = "deployment", "statefulset", "pod"

METHODS = {
    DEPLOYMENT: "apps.{}_namespaced_deployment",
    STATEFUL_SET: "apps.{}_namespaced_stateful_set",
    POD: "core.{}_namespaced_pod",
}
"""The client's methods by the kind of their object; the verb is read, patch or list."""

RESIZING = ("PodResizePending", "PodResizeInProgress")
"""Conditions of a pod of which a resize is under way."""

PERMISSION = "deadzone.dev/sweep"
ALLOWED = "allowed"


LOOK_EVERY_S = 0.2
"""How often the cluster is asked how far a change is [s]."""

ENDING_S = 10.0
"""How long a pod's end may take beyond its grace period; on a node that is lost it never comes
[s]."""


@dataclass(frozen=True)
class KubernetesWorkload:
    """A Deployment, a StatefulSet or a pod, by name."""

    cluster: Cluster
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name} in the namespace {self.namespace}"

    def read(self) -> Object:
        """The object as it is now."""
        method = METHODS[self.kind].format("read")
        return self.cluster.call(f"read {self}", method, self.name, self.namespace)

    def patch(self, what: str, body: Object, dry_run: bool = False) -> Object:
        """Change the object by a strategic merge patch; what: the change in words. dry_run: only
        ask whether it may be.

        Raises ConflictError where the body has a resourceVersion, and something changed the object
        since.
        """
        return self.cluster.call(
            *(f"{what} of {self}", METHODS[self.kind].format("patch"), self.name, self.namespace),
            body,
            dry_run="All" if dry_run else None,
            field_manager=MANAGER,
        )

    def annotate(self, annotations: Mapping[str, str | None]) -> Object:
        """Set annotations of the object itself, which starts no rollout; None removes one."""
        return self.patch(
            "change the annotations", {"metadata": {"annotations": dict(annotations)}}
        )

    @classmethod
    def find(cls, cluster: Cluster, namespace: str, named: str) -> Self:
        """The workload of a name such as deployment/encoder. Raises TargetError where there is
        none."""
        kind, _, name = named.partition("/")
        if kind not in METHODS:
            raise TargetError(
                f"{named} cannot be swept: Deployments, StatefulSets and pods can, such as "
                f"`deployment/{name}`."
            )
        workload = cls(cluster, kind, namespace, name)
        try:
            workload.read()
        except AbsentError as error:
            what = f"list the {kind}s in the namespace {namespace}"
            items = cluster.call(what, METHODS[kind].format("list"), namespace)["items"]
            known = [item["metadata"]["name"] for item in items]
            there = f"{did_you_mean(name, known)} There are: {', '.join(known) or 'none'}."
            raise TargetError(f"There is no {workload}.{there}") from error
        return workload

    def check_allowed(self, manifest: Object, allow: bool) -> None:
        """Raise TargetError unless the workload's owner, or whoever typed --allow, permits the
        sweep."""
        value = (manifest["metadata"].get("annotations") or {}).get(PERMISSION)
        if value == ALLOWED or allow:
            return
        instead = f" (its value is {value!r})" if value is not None else ""
        raise TargetError(
            f"{self} does not permit sweeps: it lacks the annotation {PERMISSION}: "
            f"{ALLOWED}{instead}. Its owner gives it with `kubectl annotate -n {self.namespace} "
            f"{self.kind} {self.name} {PERMISSION}={ALLOWED}`; --allow sweeps it all the same."
        )

    def template(self, manifest: Object) -> Object:
        """The pod specification in an object: of its template, or its own."""
        pod: Object = manifest if self.kind == POD else manifest["spec"]["template"]
        return dict(pod["spec"])

    def pods(self) -> list[Object]:
        """The pods of a workload that are not about to go, oldest first."""
        return [pod for pod in self.all_pods() if not is_ending(pod)]

    def all_pods(self) -> list[Object]:
        """The pods of a workload, oldest first, those that are ending among them."""
        now = self.read()
        if self.kind == POD:
            return [now]
        fits = label_selector(now["spec"]["selector"])
        pods = pods_of(self.cluster, str(self), self.namespace, fits)
        return sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp")))

    def patch_template(
        self,
        container: str,
        wanted: Resources,
        manifest: Object,
        annotations: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> Object:
        """Change the resources in a workload's template; the cluster then replaces its pods.

        manifest: the workload as it was read; one that changed since is not touched, ConflictError
        is raised. annotations: of the object, which are set with it.
        """
        version = manifest["metadata"]["resourceVersion"]
        body = {
            "metadata": {"resourceVersion": version, "annotations": dict(annotations or {})},
            "spec": {"template": _with_resources(container, wanted)},
        }
        return self.patch(f"set the resources ({wanted})", body, dry_run)

    def check_rollout_possible(self, manifest: Object) -> None:
        """Raise TargetError where a changed template would change no pod."""
        if self.kind == POD:
            raise TargetError(
                f"{self} has no template to patch: a pod by itself can only be resized. Use "
                "change: resize, or name the Deployment it belongs to."
            )
        spec = manifest["spec"]
        if spec.get("paused"):
            raise TargetError(
                f"The rollout of {self} is paused; first `kubectl rollout resume` it."
            )
        if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
            raise TargetError(f"{self} replaces pods on deletion only (updateStrategy OnDelete).")

    def await_rollout(
        self, container: str, timeout_s: float, keys: Collection[str], ours: Set[str]
    ) -> Object:
        """Wait until every pod of a workload is of its present template; returns the newest ready
        pod.

        keys: amounts of the container that a pod must have as its template. ours: uids of the pods
        that this sweep gave others.

        Pods that are replaced are waited for as well, as long as they may take to end: one that
        ends uses CPU beside the next trial, and may still be asked by a client of the workload's
        Service.

        Raises TargetError, with what keeps it, if that takes longer or cannot come to pass.
        """
        hopeless, settled = pod_problems.Standing(), pod_problems.Standing()
        after = f"has not ended after {timeout_s:g} s"
        for _ in self.cluster.looks(timeout_s, LOOK_EVERY_S):
            manifest, every = self.read(), self.all_pods()
            present = [pod for pod in every if not is_ending(pod)]
            is_current = self.is_rolled_out(manifest)
            ready = [pod for pod in present if is_current and is_ready(pod, container)]
            if ready and self.kind != POD and ready[-1]["metadata"]["uid"] not in ours:
                template = container_of(self.template(manifest), container, str(self))
                wanted = Resources.of(template, resources_of(keys)).only(keys)
                check_as_asked(str(self), ready[-1], container, wanted)
            if settled.for_long(ready, _until_gone_s(every)):
                return ready[-1]
            if hopeless.for_long(pod_problems.incurable(manifest, present)):
                after = "cannot end"
                break
        raise TargetError(
            f"The rollout of {self} {after}: {pod_problems.of_rollout(manifest, present)}."
        )

    def is_rolled_out(self, manifest: Object) -> bool:
        """Whether every pod is of the present template, and ready."""
        status: dict[str, Any] = manifest.get("status") or {}
        if self.kind == POD:
            return True
        if status.get("observedGeneration", 0) < manifest["metadata"].get("generation", 0):
            return False
        wanted = manifest["spec"].get("replicas", 1)
        counted = ("replicas", "updatedReplicas", "readyReplicas")
        return {status.get(key, 0) for key in counted} == {wanted}


def pod_now(cluster: Cluster, pod: Object) -> Object:
    """A pod as it is now. Raises AbsentError where none has its name any more."""
    metadata = pod["metadata"]
    return KubernetesWorkload(cluster, POD, metadata["namespace"], metadata["name"]).read()


def pods_of(cluster: Cluster, whose: str, namespace: str, selector: str) -> list[Object]:
    """The pods with the labels of a selector."""
    what, method = f"list the pods of {whose}", METHODS[POD].format("list")
    return list(cluster.call(what, method, namespace, label_selector=selector)["items"])


def container_of(spec: Mapping[str, Any], name: str | None, where: str) -> Object:
    """The container of a pod specification, by its name or because it is the only one.

    Raises TargetError where it is not clear which one is meant.
    """
    containers: dict[str, Object] = {one["name"]: one for one in spec["containers"]}
    names = ", ".join(containers)
    if name is None and len(containers) > 1:
        raise TargetError(
            f"The pods of {where} have {len(containers)} containers: {names}. Name one: "
            "target.container."
        )
    if name and name not in containers:
        raise TargetError(
            f"The pods of {where} have no container {name!r}.{did_you_mean(name, containers)} "
            f"There are: {names}."
        )
    return containers[name or names]


def check_as_asked(whose: str, pod: Object, container: str, wanted: Resources) -> None:
    """Raise TargetError where the cluster gives a pod's container others than were asked for."""
    have = Resources.of(container_of(pod["spec"], container, whose), wanted.names)
    if not have.holds(wanted):
        raise TargetError(
            f"The pods of {whose} come up with {have} where {wanted} is asked for: a LimitRange "
            "or an admission policy of the namespace sets its own. Measure within it, or in "
            "another namespace."
        )


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
    is_told = bool(container_status(pod, container).get("ready"))
    return is_told and is_running(pod, container) and not is_ending(pod)


def is_running(pod: Mapping[str, Any], container: str) -> bool:
    """Whether a pod's container runs."""
    return "running" in (container_status(pod, container).get("state") or {})


def container_status(
    pod: Mapping[str, Any], container: str, among: str = "containerStatuses"
) -> Object:
    """What the kubelet says of a container; empty before it says anything."""
    states = (pod.get("status") or {}).get(among) or []
    return next((state for state in states if state["name"] == container), {})


def _with_resources(container: str, wanted: Resources) -> Object:
    """A patch of a pod, or of a template, that sets the resources of a container."""
    return {"spec": {"containers": [{"name": container, "resources": wanted.as_patch()}]}}


def try_resize(
    cluster: Cluster, pod: Object, container: str, wanted: Resources, dry_run: bool = True
) -> None:
    """Ask for a resize of a running container. dry_run: only whether it may be, by quotas and
    ranges too.

    Raises ClusterError if the server has no resize or refuses it, ConflictError where something
    changed the pod since it was read.
    """
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    body = _with_resources(container, wanted)
    if not dry_run:
        body["metadata"] = {"resourceVersion": pod["metadata"]["resourceVersion"]}
    cluster.call(
        f"resize pod {name} in the namespace {namespace} to {wanted}",
        *("core.patch_namespaced_pod_resize", name, namespace, body),
        dry_run="All" if dry_run else None,
        field_manager=MANAGER,
    )


def resize(
    cluster: Cluster, pod: Object, container: str, wanted: Resources, timeout_s: float
) -> Object:
    """Change the resources of a running container in place and wait until the kubelet has done it.

    Raises ClusterError if the server has no resize or refuses it, ConflictError where something
    changed the pod since it was read, TargetError if the node cannot do it.
    """
    where = f"pod {pod['metadata']['name']} in the namespace {pod['metadata']['namespace']}"
    try_resize(cluster, pod, container, wanted, dry_run=False)
    for _ in cluster.looks(timeout_s, LOOK_EVERY_S):
        now = pod_now(cluster, pod)
        if not Resources.of(container_of(now["spec"], container, where), wanted.names).holds(
            wanted
        ):
            raise ConflictError(
                f"The cluster was asked to resize {where}, which something else resized meanwhile."
            )
        said = (one for one in now["status"].get("conditions") or [] if one["type"] in RESIZING)
        pending: Object = next((one for one in said if one["status"] == "True"), {})
        why = str(pending.get("message") or pending.get("reason") or "").rstrip(".")
        if pending.get("reason") == "Infeasible":
            raise TargetError(f"The node cannot resize {where} to {wanted}: {why}.")
        if not pending and _in_force(now, container, wanted):
            return now
    raise TargetError(
        f"The resize of {where} to {wanted} is not done after {timeout_s:g} s: "
        f"{why or 'no reason given'}."
    )


def _in_force(pod: Object, container: str, wanted: Resources) -> bool:
    """Whether the container runs with the resources, as the kubelet says (servers before 1.33 do
    not say it)."""
    actual = container_status(pod, container).get("resources")
    as_wanted = actual is None or Resources.of({"resources": actual}, wanted.names).holds(wanted)
    return as_wanted and is_running(pod, container)


def _until_gone_s(every: Sequence[Object]) -> float:
    """How long the pods that are ending may take [s]; 0 if there is none."""
    going = [pod["metadata"] for pod in every if is_ending(pod)]
    graces = [metadata.get("deletionGracePeriodSeconds") or 0 for metadata in going]
    return max(graces) + ENDING_S if graces else 0.0
