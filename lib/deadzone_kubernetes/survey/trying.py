"""Whether the cluster would take every level of a sweep, asked of its API server before the first
trial and without changing anything (`dryRun=All`).

A rolling change runs a new pod beside the old ones, so one of each level is asked for beside those
of now (Kubernetes documentation, "Deployments", "Max Surge", and "Resource Quotas").
"""

import contextlib
from collections.abc import Sequence

from deadzone.plugins import Limits, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import MissingVerbError, RefusedError
from deadzone_kubernetes.container import resources
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.workload import (
    DEPLOYMENT,
    POD,
    KubernetesWorkload,
    container_of,
    try_resize,
)

EXCEEDED = "exceeded quota"
"""How the API server words that a quota has no room for one pod more."""


def try_levels(
    cluster: Cluster,
    workload: KubernetesWorkload,
    container: str,
    original: Resources,
    pods: Sequence[Object],
    levels: Sequence[Limits],
    change: str,
) -> list[str]:
    """Ask whether each level may be; returns what a person should know of them before the sweep.

    original: what the template has. pods: those that are at the level of a trial. levels: limits
    and requests. change: how they are put in force, as the target says.

    Raises TargetError where one may not: by validation, a quota, a range, an admission policy, or a
    budget.
    """
    rolled: list[Resources] = []
    for level in levels:
        must = resources.required(original, level)
        wanted = [_by_resize(pod, container, must) for pod in pods]
        if change != "patch" and None not in wanted:
            for pod, amounts in zip(pods, wanted, strict=True):
                assert amounts is not None
                try_resize(cluster, pod, container, amounts)
        elif workload.kind != POD and change != "resize":
            rolled.append(resources.for_template(original, level))
    if not rolled:
        return []
    manifest = workload.read(cluster)
    for template in rolled:
        try_rollout(cluster, workload, manifest, container, template)
    try_eviction(cluster, workload, manifest)
    pod = {"spec": workload.template(manifest)}
    now = resources.qos_class(pod["spec"]["containers"])
    classes = ((amounts, resources.qos_class_with(pod, container, amounts)) for amounts in rolled)
    return [
        f"with {amounts} the pods of {workload} are of the QoS class {other}, now {now}"
        for amounts, other in classes
        if other != now
    ]


def try_rollout(
    cluster: Cluster,
    workload: KubernetesWorkload,
    manifest: Object,
    container: str,
    level: Resources,
) -> None:
    """Ask for a template with a level, and for a pod of it beside those of now.

    Raises TargetError where the server refuses one. A quota is no obstacle where an old pod ends
    first. An account without the verb to make pods is not told of quotas and ranges.
    """
    made = workload.patch_template(cluster, container, level, manifest, dry_run=True)["spec"]
    template, what = made["template"], f"make a pod of {workload} with {level} beside those of now"
    claims = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}}
        for name in (claim["metadata"]["name"] for claim in made.get("volumeClaimTemplates") or [])
    ]
    volumes = [*(template["spec"].get("volumes") or []), *claims]
    pod = {
        "metadata": {**template["metadata"], "generateName": f"{workload.name}-"},
        "spec": {**template["spec"], "volumes": volumes},
    }
    try:
        with contextlib.suppress(MissingVerbError):
            cluster.call(what, "core.create_namespaced_pod", workload.namespace, pod, dry_run="All")
    except RefusedError as error:
        if EXCEEDED not in str(error) or not _ends_pods_first(workload, manifest):
            raise TargetError(
                f"{error} Nothing was changed. Use other levels, target.change: resize, or ask for "
                "more room."
            ) from error


def try_eviction(cluster: Cluster, workload: KubernetesWorkload, manifest: Object) -> None:
    """Ask for a pod to be taken away, where a rollout takes one away before it makes another.

    The API server lets a rollout do so, for budgets bind evictions alone (Kubernetes documentation,
    "Disruptions"); but what the owner promised of his pods holds for a sweep too. Raises
    TargetError where a PodDisruptionBudget forbids it; an account without the verb is not told.
    """
    if not _ends_pods_first(workload, manifest):
        return
    for pod in workload.pods(cluster)[-1:]:
        named = {key: pod["metadata"][key] for key in ("name", "namespace")}
        what = f"take a pod of {workload} away before another is there, as its rollout does"
        method = "core.create_namespaced_pod_eviction"
        try:
            with contextlib.suppress(MissingVerbError):
                cluster.call(what, method, *named.values(), {"metadata": named}, dry_run="All")
        except RefusedError as error:
            raise TargetError(
                f"{error} Nothing was changed. Use target.change: resize, or a strategy that makes "
                "a new pod before it ends an old one (maxUnavailable: 0)."
            ) from error


def _ends_pods_first(workload: KubernetesWorkload, manifest: Object) -> bool:
    """Whether a rollout takes a pod away before it makes another."""
    rolling = (manifest["spec"].get("strategy") or {}).get("rollingUpdate")
    if workload.kind != DEPLOYMENT or not rolling:
        return True
    share, replicas = str(rolling["maxUnavailable"]), int(manifest["spec"].get("replicas", 1))
    percent = share.removesuffix("%")
    return (float(percent) * replicas / 100 if percent != share else float(share)) >= 1


def _by_resize(pod: Object, name: str, must: Resources) -> Resources | None:
    """What a pod's container is resized to; None where it cannot be."""
    container = container_of(pod["spec"], name, pod["metadata"]["name"])
    why_not = resources.why_not_resizable(pod, container, must)
    return None if why_not else resources.for_resize(pod, container, must)
