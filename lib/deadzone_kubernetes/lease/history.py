"""The history of a workload's rollouts, kept as it was while a sweep changes its template.

Each template that a Deployment ever had is a ReplicaSet, of a StatefulSet a ControllerRevision; the
oldest beyond `revisionHistoryLimit` are removed. So the limit is raised for as long as a sweep
makes revisions of its own, these are removed afterwards, and the owner's get their numbers back
(Kubernetes documentation, "Deployments", "Clean up Policy").
"""

import contextlib
from collections.abc import Collection, Mapping
from typing import Any

from deadzone_kubernetes.api.cluster import MANAGER, Cluster, Object
from deadzone_kubernetes.api.errors import AbsentError
from deadzone_kubernetes.lease.originals import Original
from deadzone_kubernetes.watch.owners import is_ours
from deadzone_kubernetes.workload import DEPLOYMENT, KubernetesWorkload, label_selector

METHODS = {
    DEPLOYMENT: "apps.{}_namespaced_replica_set",
    "statefulset": "apps.{}_namespaced_controller_revision",
}

LIMIT = "revisionHistoryLimit"

DEFAULT_LIMIT = 10
"""What the API server sets where the owner says nothing."""

NUMBER, EARLIER = "deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"
"""Annotations of a ReplicaSet: its revision, and those that it had before it came back."""

HASH = "pod-template-hash"

SEEN_AFTER_S = 1.0
"""The controller must have seen that the sweep's revisions are gone before it sees the limit again:
it would remove the owner's oldest ones instead. Both reach it within milliseconds [s]."""


def recorded(cluster: Cluster, workload: KubernetesWorkload, manifest: Object) -> Object:
    """The history now, as plain values. Raises MissingVerbError where the account may not see
    it."""
    revisions = {
        revision["metadata"]["uid"]: _number(revision)
        for revision in _revisions(cluster, workload, manifest)
    }
    return {"limit": manifest["spec"].get(LIMIT), "revisions": revisions}


def room_for(history: Mapping[str, Any], n_levels: int) -> Object:
    """What a workload's specification needs so that so many templates more push none out; empty
    where it has room."""
    wanted = len(history["revisions"]) + n_levels + 2
    have = DEFAULT_LIMIT if history["limit"] is None else int(history["limit"])
    return {LIMIT: wanted} if have < wanted else {}


def limit_back(manifest: Object, history: Mapping[str, Any]) -> Object | None:
    """The patch that gives a workload its own limit again; None where it has it, or another manager
    has set one since."""
    same = manifest["spec"].get(LIMIT) == history["limit"]
    is_theirs = same or not is_ours(manifest, ("spec", LIMIT))
    return None if is_theirs else {"spec": {LIMIT: history["limit"]}}


def remove_of_sweep(
    cluster: Cluster, workload: KubernetesWorkload, manifest: Object, original: Original
) -> None:
    """Remove the revisions that the sweep made: those that differ from the template in swept
    resources of the container alone."""
    known = (original.history or {})["revisions"]
    present, removed = _template(workload, manifest, original), False
    for revision in _revisions(cluster, workload, manifest):
        is_new = revision["metadata"]["uid"] not in known
        has_pods = bool(
            (revision.get("spec") or {}).get("replicas")
            or (revision.get("status") or {}).get("replicas")
        )
        if not is_new or has_pods or _is_present(workload, manifest, revision):
            continue
        made = revision if workload.kind == DEPLOYMENT else revision.get("data") or {}
        if _template(workload, made, original) == present:
            with contextlib.suppress(AbsentError):
                name = revision["metadata"]["name"]
                method = METHODS[workload.kind].format("delete")
                cluster.call(f"remove a revision of {workload}", method, name, workload.namespace)
            removed = True
    if removed:
        cluster.pause(SEEN_AFTER_S)


def numbers_back(
    cluster: Cluster,
    workload: KubernetesWorkload,
    manifest: Object,
    history: Mapping[str, Any] | None,
    note: str,
) -> None:
    """Give the owner's revisions their numbers again, and take away what a Deployment's annotations
    left on them.

    note: the annotation of the sweep.
    """
    for revision in _revisions(cluster, workload, manifest):
        annotations = revision["metadata"].get("annotations") or {}
        was = (history or {"revisions": {}})["revisions"].get(revision["metadata"]["uid"])
        body: Object = {}
        if workload.kind == DEPLOYMENT:
            wanted = {NUMBER: was[0], EARLIER: was[1]} if was else {}
            wanted |= {note: None} if note in annotations else {}
            differ = {key: value for key, value in wanted.items() if annotations.get(key) != value}
            body = {"metadata": {"annotations": differ}} if differ else {}
        elif was is not None and revision.get("revision") != was:
            body = {"revision": was}
        if body:
            method = METHODS[workload.kind].format("patch")
            name, what = (
                revision["metadata"]["name"],
                f"give back the number of a revision of {workload}",
            )
            with contextlib.suppress(AbsentError):
                cluster.call(what, method, name, workload.namespace, body, field_manager=MANAGER)


def _revisions(cluster: Cluster, workload: KubernetesWorkload, manifest: Object) -> list[Object]:
    """Its own alone: another workload may have the same labels."""
    selector = label_selector(manifest["spec"]["selector"])
    method = METHODS[workload.kind].format("list")
    what = f"list the revisions of {workload}"
    listed = cluster.call(what, method, workload.namespace, label_selector=selector)["items"]
    uid = manifest["metadata"]["uid"]
    return [
        revision
        for revision in listed
        if any(owner["uid"] == uid for owner in revision["metadata"].get("ownerReferences") or [])
    ]


def _number(revision: Object) -> Any:
    if "revision" in revision:
        return revision["revision"]
    annotations = revision["metadata"].get("annotations") or {}
    return [annotations.get(NUMBER), annotations.get(EARLIER)]


def _is_present(workload: KubernetesWorkload, manifest: Object, revision: Object) -> bool:
    """Whether a revision is the one in force."""
    if workload.kind != DEPLOYMENT:
        status = manifest.get("status") or {}
        return revision["metadata"]["name"] in (
            status.get("updateRevision"),
            status.get("currentRevision"),
        )
    return bool(
        _without_hash(revision["spec"]["template"]) == _without_hash(manifest["spec"]["template"])
    )


def _without_hash(template: Mapping[str, Any]) -> Object:
    metadata = dict(template.get("metadata") or {})
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH}
    return {
        **template,
        "metadata": {"labels": labels, "annotations": metadata.get("annotations") or {}},
    }


def _template(
    workload: KubernetesWorkload, manifest: Mapping[str, Any], original: Original
) -> Object:
    """A template without what a sweep changes."""
    template, names = _without_hash(manifest["spec"]["template"]), original.resources.names
    spec = template["spec"]
    containers = [
        _without(container, names) if container["name"] == original.container else container
        for container in spec["containers"]
    ]
    return {**template, "$patch": None, "spec": {**spec, "containers": containers}}


def _without(container: Mapping[str, Any], names: Collection[str]) -> Object:
    resources = {
        part: kept
        for part, amounts in (container.get("resources") or {}).items()
        if (kept := {key: value for key, value in amounts.items() if key not in names})
    }
    return {**container, "resources": resources}
