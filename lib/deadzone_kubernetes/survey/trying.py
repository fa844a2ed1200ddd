"""Whether the cluster would take every level of a sweep, asked of its API server before the first
trial and without changing anything (`dryRun=All`).

A rolling change runs a new pod beside the old ones, so one of each level is asked for beside those
of now (Kubernetes documentation, "Deployments", "Max Surge", and "Resource Quotas").
"""

import contextlib
from collections.abc import Callable, Sequence

from deadzone.plugins import Limits, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import MissingVerbError, RefusedError
from deadzone_kubernetes.container import resources
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.lease.originals import Original
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
    workload: KubernetesWorkload,
    original: Original,
    pods: Sequence[Object],
    levels: Sequence[Limits],
    change: str,
    note: Callable[[str], None],
) -> None:
    """Ask whether each level may be.

    original: what the template has. pods: those that are at the level of a trial. levels: limits
    and requests. change: how they are put in force, as the target says. note: told of a QoS class
    that changes.

    Raises TargetError where one may not: by validation, a quota, a range, an admission policy, or a
    budget.
    """
    rolled: list[Resources] = []
    for level in levels:
        must = resources.required(original.resources, level)
        why_not = None if change != "patch" else "the study says so"
        for pod in pods if why_not is None else ():
            why_not = why_not or _why_no_resize(workload.cluster, pod, original.container, must)
        if not why_not:
            continue
        if change == "resize" or workload.kind == POD:
            instead = "target.change: auto or patch" if workload.kind != POD else "its Deployment"
            raise TargetError(
                f"The resources of {workload} cannot be changed to {must} by a resize: "
                f"{why_not.rstrip('.')}. Use {instead}."
            )
        rolled.append(resources.for_template(original.resources, level))
    if not rolled:
        return
    manifest = workload.read()
    now = pods[0]["status"]["qosClass"]
    for template in rolled:
        other = try_rollout(workload, manifest, original.container, template)
        if other not in (None, now):
            note(f"with {template} the pods of {workload} are of the QoS class {other}, now {now}")
    try_eviction(workload, manifest)


def _why_no_resize(cluster: Cluster, pod: Object, name: str, must: Resources) -> str | None:
    """Why a pod's container cannot be resized; None where it can be."""
    container = container_of(pod["spec"], name, pod["metadata"]["name"])
    if why_not := resources.why_not_resizable(container, must):
        return why_not
    before = Resources.of(container, must.names)
    try:
        try_resize(cluster, pod, name, resources.for_resize(pod, must, before))
    except RefusedError as error:
        return str(error)
    return None


def try_rollout(
    workload: KubernetesWorkload,
    manifest: Object,
    container: str,
    level: Resources,
) -> str | None:
    """Ask for a template with a level, and for a pod of it beside those of now; the QoS class that
    this pod would have.

    Raises TargetError where the server refuses one. A quota is no obstacle where an old pod ends
    first. An account without the verb to make pods is not told of quotas, ranges and classes.
    """
    made = workload.patch_template(container, level, manifest, dry_run=True)["spec"]
    template, what = made["template"], f"make a pod of {workload} with {level} beside those of now"
    claims = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}}
        for name in (claim["metadata"]["name"] for claim in made.get("volumeClaimTemplates") or [])
    ]
    pod = {
        "metadata": {**template["metadata"], "generateName": f"{workload.name}-"},
        "spec": {
            **template["spec"],
            "volumes": [*(template["spec"].get("volumes") or []), *claims],
        },
    }
    method = "core.create_namespaced_pod"
    try:
        with contextlib.suppress(MissingVerbError):
            tried = workload.cluster.call(what, method, workload.namespace, pod, dry_run="All")
            return str(tried["status"]["qosClass"])
    except RefusedError as error:
        if EXCEEDED not in str(error) or not _ends_pods_first(workload, manifest):
            raise TargetError(
                f"{error} Nothing was changed. Use other levels, target.change: resize, or ask for "
                "more room."
            ) from error
    return None


def try_eviction(workload: KubernetesWorkload, manifest: Object) -> None:
    """Ask for a pod to be taken away, where a rollout takes one away before it makes another.

    The API server lets a rollout do so, for budgets bind evictions alone (Kubernetes documentation,
    "Disruptions"); but what the owner promised of his pods holds for a sweep too. Raises
    TargetError where a PodDisruptionBudget forbids it; an account without the verb is not told.
    """
    if not _ends_pods_first(workload, manifest):
        return
    for pod in workload.pods()[-1:]:
        named = {key: pod["metadata"][key] for key in ("name", "namespace")}
        what = f"take a pod of {workload} away before another is there, as its rollout does"
        method = "core.create_namespaced_pod_eviction"
        try:
            with contextlib.suppress(MissingVerbError):
                workload.cluster.call(
                    what, method, *named.values(), {"metadata": named}, dry_run="All"
                )
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
