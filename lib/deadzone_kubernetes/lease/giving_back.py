"""Giving back what a sweep changed at a workload: until its pods run with it, and never over what
others wrote since.

What others set is told by the API server's managedFields, see `changes`.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from deadzone.errors import NotGivenBackError
from deadzone_kubernetes.api.cluster import MANAGER, Cluster, Object
from deadzone_kubernetes.api.errors import AbsentError, MissingVerbError
from deadzone_kubernetes.container.resources import Resources, in_words
from deadzone_kubernetes.lease import history
from deadzone_kubernetes.lease.originals import ANNOTATION, Original, ResizedPod
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.survey.pod_problems import Hopeless
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.watch.changes import Change, disowned, is_ours, owner_of, path_of
from deadzone_kubernetes.workload import (
    DEPLOYMENT,
    LOOK_EVERY_S,
    POD,
    KubernetesWorkload,
    container_of,
    is_ending,
    resize,
)

TIMEOUT_S = 120.0
"""How long pods are waited for where no study says it [s]."""

RESIZE_BACK_TIMEOUT_S = 60.0
"""A resize takes a fraction of a second; a node that takes longer has it in its books and does it
later [s]."""

SETTLED_S = 10.0
"""Pods that have what they had are given back, also where their rollout does not end for a reason
of its own [s]."""


def give_back(
    cluster: Cluster,
    workload: KubernetesWorkload,
    original: Original,
    timeout_s: float = TIMEOUT_S,
    note: Callable[[str], None] | None = None,
) -> list[str]:
    """Restore every changed resource, wait until pods run with it, then remove the annotation; says
    what was done.

    timeout_s: how long the pods may take. note: told of what others set at an autoscaler, by
    default among what was done. Raises NotGivenBackError where pods keep what the sweep gave them,
    another TargetError where something could not be restored; the annotation stays then.
    """
    try:
        done, is_changed = _template_back(cluster, workload, original)
        # A changed template replaces every pod, the resized ones too.
        for resized in () if is_changed else original.pods:
            done += _resized_back(cluster, workload, original, resized)
        if original.rolled and not is_changed and workload.kind != POD:
            # What is written at a workload has its controller try again at once; by itself it may
            # pause for minutes.
            again = replace(original, tries=original.tries + 1)
            workload.annotate(cluster, {ANNOTATION: again.dumps()})
        if original.rolled or is_changed:
            _await_pods(cluster, workload, original, timeout_s)
        done += autoscaler.let_go(
            cluster, workload, original.autoscalers or {}, note or done.append
        )
        _close_note(cluster, workload, original)
    except AbsentError:
        return [f"{workload} is gone"]
    return done or [f"{workload}: nothing was changed"]


def taken_over(workload: KubernetesWorkload, manifest: Object, original: Original) -> Original:
    """What is to be given back now that others set resources of the template: theirs, in place of
    what was there before."""
    now = _of_template(workload, manifest, original)
    wanted, _ = _merged(manifest, workload.kind, original, original.resources, now)
    return replace(original, resources=wanted)


def pods_taken_over(pods: Sequence[Object], original: Original) -> Original:
    """The same for pods that others resized: theirs is given back to these."""
    by_uid = {pod["metadata"]["uid"]: pod for pod in pods}
    known = tuple(
        _pod_taken_over(by_uid[resized.uid], resized, original)
        if resized.uid in by_uid
        else resized
        for resized in original.pods
    )
    return replace(original, pods=known)


def _pod_taken_over(pod: Object, resized: ResizedPod, original: Original) -> ResizedPod:
    now = _of_pod(pod, original, resized)
    return replace(resized, resources=_merged(pod, POD, original, resized.resources, now)[0])


def _of_pod(pod: Object, original: Original, resized: ResizedPod) -> Resources:
    container = container_of(pod["spec"], original.container, resized.name)
    return Resources.of(container, resized.resources.names)


def _of_template(workload: KubernetesWorkload, manifest: Object, original: Original) -> Resources:
    container = container_of(workload.template(manifest), original.container, str(workload))
    return Resources.of(container, original.resources.names)


def _template_back(
    cluster: Cluster, workload: KubernetesWorkload, original: Original
) -> tuple[list[str], bool]:
    """What was done to the template, and whether it was changed."""
    if workload.kind == POD:
        return [], False

    def attempt() -> tuple[list[str], bool]:
        manifest = workload.read(cluster)
        now = _of_template(workload, manifest, original)
        wanted, kept = _merged(manifest, workload.kind, original, original.resources, now)
        sentences = [f"{workload}: {change} stays" for change in kept]
        if now.same(wanted):
            return sentences, False
        workload.patch_template(cluster, original.container, wanted, manifest)
        return [f"{workload}: {wanted} again, was {now}", *sentences], True

    return cluster.without_conflict(attempt)


def _merged(
    manifest: Object, kind: str, original: Original, before: Resources, now: Resources
) -> tuple[Resources, list[Change]]:
    """What a container is to have: what it had before, but for what others set since; and what that
    is."""
    wanted: dict[str, str | None] = {}
    kept = []
    for key, had in before.amounts.items():
        path, has = path_of(kind, original.container, key), now.amounts[key]
        is_theirs = has != had and not is_ours(manifest, path, original.manager)
        wanted[key] = has if is_theirs else had
        if is_theirs:
            kept.append(Change(f"the {in_words(key)} {has}, set", owner_of(manifest, path)))
    return Resources(wanted), kept


def _resized_back(
    cluster: Cluster, workload: KubernetesWorkload, original: Original, resized: ResizedPod
) -> list[str]:
    where = KubernetesWorkload(POD, workload.namespace, resized.name)

    def attempt() -> list[str]:
        pod = where.read(cluster)
        if pod["metadata"]["uid"] != resized.uid or is_ending(pod):
            return []  # a rollout has replaced it, by one with the template's resources
        now = _of_pod(pod, original, resized)
        wanted, kept = _merged(pod, POD, original, resized.resources, now)
        sentences = [f"{where}: {change} stays" for change in kept]
        if now.same(wanted):
            return sentences
        resize(cluster, pod, original.container, wanted, RESIZE_BACK_TIMEOUT_S)
        return [f"{where}: {wanted} again, was {now}", *sentences]

    with contextlib.suppress(AbsentError):
        return cluster.without_conflict(attempt)
    return []


def _await_pods(
    cluster: Cluster, workload: KubernetesWorkload, original: Original, timeout_s: float
) -> None:
    """Wait until every pod has its template's resources. Raises NotGivenBackError, with those that
    have not."""
    hopeless, settled_since = Hopeless(), 0.0
    for _ in cluster.looks(timeout_s, LOOK_EVERY_S):
        manifest, pods = workload.read(cluster), workload.pods(cluster)
        wanted = _of_template(workload, manifest, original)
        left = _at_a_level(pods, original, wanted)
        if not left:
            settled_since = settled_since or time.monotonic()
            if workload.is_rolled_out(manifest) or time.monotonic() - settled_since > SETTLED_S:
                return
            continue
        settled_since = 0.0
        if hopeless.for_long(pod_problems.incurable(manifest, pods)):
            break
    if left:
        named = "; ".join(f"pod {name} still has {have}" for name, have in left)
        why = pod_problems.of_rollout(manifest, pods)
        raise NotGivenBackError(
            f"{workload} says {wanted} again, but {named}: {why}. "
            f"{_mends(workload, manifest, left[0][0])}"
        )


def _at_a_level(
    pods: Sequence[Object], original: Original, wanted: Resources
) -> list[tuple[str, Resources]]:
    """Pods with other amounts than the template's where the sweep set them, but for those that
    others resized."""
    at_level = []
    for pod in pods:
        container = container_of(pod["spec"], original.container, pod["metadata"]["name"])
        have = Resources.of(container, wanted.names)
        by_others = any(
            entry.get("subresource") == "resize" and entry.get("manager") != MANAGER
            for entry in pod["metadata"].get("managedFields") or []
            if not str(entry.get("manager")).startswith("kubelet")
        )
        if not have.holds(wanted.only(original.swept)) and not by_others:
            at_level.append((str(pod["metadata"]["name"]), have))
    return at_level


def _mends(workload: KubernetesWorkload, manifest: Object, pod: str) -> str:
    """The command after which the pods are replaced."""
    kubectl = f"kubectl -n {workload.namespace}"
    strategy = (manifest["spec"].get("strategy") or {}).get("type", "RollingUpdate")
    if workload.kind == DEPLOYMENT and strategy == "RollingUpdate":
        patch = '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}'
        instead = (
            f"let the rollout end a pod before it makes one: `{kubectl} patch deployment "
            f"{workload.name} -p '{patch}'`"
        )
    else:
        instead = f"replace the pod: `{kubectl} delete pod {pod}`"
    return f"Remove that obstacle, or {instead}."


def _close_note(cluster: Cluster, workload: KubernetesWorkload, original: Original) -> None:
    """The history as it was, and nothing of the sweep at the workload any more."""
    manifest = workload.read(cluster)
    kept = original.history
    if workload.kind != POD and kept:
        with contextlib.suppress(MissingVerbError):
            history.remove_of_sweep(cluster, workload, manifest, original)

    def note_away(manifest: Object) -> Object:
        limit = history.limit_back(manifest, kept) if kept else {}
        return {
            "metadata": {"annotations": {ANNOTATION: None}},
            **({"spec": limit} if limit else {}),
        }

    manifest = _patched(cluster, workload, "remove the note", note_away)
    if workload.kind != POD:
        # By a patch of its own, for with another change in it the sweep would be a manager again.
        _patched(cluster, workload, "leave no field to the sweep", disowned)
        with contextlib.suppress(MissingVerbError):
            history.numbers_back(cluster, workload, manifest, kept, ANNOTATION)


def _patched(
    cluster: Cluster,
    workload: KubernetesWorkload,
    what: str,
    change: Callable[[Object], Object | None],
) -> Object:
    """Change a workload as it is; as it was read before.

    change: from the workload to the patch; None where there is nothing to change.
    """

    def attempt() -> Object:
        manifest = workload.read(cluster)
        if body := change(manifest):
            body["metadata"]["resourceVersion"] = manifest["metadata"]["resourceVersion"]
            workload.patch(cluster, what, body)
        return manifest

    return cluster.without_conflict(attempt)
