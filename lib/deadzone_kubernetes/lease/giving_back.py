"""Giving back what a sweep changed at a workload: until its pods run with it, and never over what
others wrote since.

What others set is told by the API server's managedFields, see `owners`.
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
from deadzone_kubernetes.watch.changes import Change
from deadzone_kubernetes.watch.owners import (
    Owned,
    Path,
    is_ours,
    owned_again,
    owner_of,
    owners,
    path_of,
)
from deadzone_kubernetes.workload import (
    DEPLOYMENT,
    LOOK_EVERY_S,
    POD,
    KubernetesWorkload,
    container_of,
    is_ending,
    resize,
)

NOTE: Path = ("metadata", "annotations", ANNOTATION)

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
        done: list[str] = []
        is_changed = False
        if workload.kind != POD:
            done, is_changed = _back(
                *(cluster, workload, original, original.resources),
                lambda manifest, wanted: workload.patch_template(
                    cluster, original.container, wanted, manifest
                ),
            )
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
            *(cluster, workload, original.autoscalers or {}, original.owned, note or done.append)
        )
        _close_note(cluster, workload, original)
    except AbsentError:
        return [f"{workload} is gone"]
    now = f"its pods have {original.resources} again" if original.rolled else "nothing was changed"
    return done or [f"{workload}: {now}"]


def taken_over(workload: KubernetesWorkload, manifest: Object, original: Original) -> Original:
    """What is to be given back now that others set resources of the template: theirs, in place of
    what was there before."""
    wanted, _, now = _merged(workload, manifest, original, original.resources)
    known = original.owned.get(workload.key, [])
    owned = [(path, owner) for path, owner in known if is_ours(manifest, tuple(path))]
    owned += owned_now(workload, manifest, original.container, now)
    return replace(original, resources=wanted, owned={**original.owned, workload.key: owned})


def pods_taken_over(pods: Sequence[Object], original: Original) -> Original:
    """The same for pods that others resized: theirs is given back to these."""
    by_uid = {pod["metadata"]["uid"]: pod for pod in pods}

    def taken(resized: ResizedPod) -> ResizedPod:
        pod = by_uid.get(resized.uid)
        if pod is None:
            return resized
        wanted, *_ = _merged(KubernetesWorkload.of(pod), pod, original, resized.resources)
        return replace(resized, resources=wanted)

    return replace(original, pods=tuple(map(taken, original.pods)))


def owned_now(
    workload: KubernetesWorkload, manifest: Object, container: str, amounts: Resources
) -> Owned:
    """Who else than the sweep owns what it changes at a workload. amounts: of the container."""
    paths: list[Path] = [path_of(workload.kind, container, key) for key in amounts.amounts]
    return owners(manifest, [*paths, ("spec", history.LIMIT)])


def _of(workload: KubernetesWorkload, manifest: Object, original: Original) -> Resources:
    """What the container has in a template, or in a pod."""
    container = container_of(workload.template(manifest), original.container, str(workload))
    return Resources.of(container, original.resources.names)


def _merged(
    workload: KubernetesWorkload, manifest: Object, original: Original, before: Resources
) -> tuple[Resources, list[Change], Resources]:
    """What a container is to have: what it had before, but for what others set since; what that is;
    and what it has now."""
    now = _of(workload, manifest, original)
    wanted: dict[str, str | None] = {}
    kept = []
    for key, had in before.amounts.items():
        path, has = path_of(workload.kind, original.container, key), now.amounts[key]
        is_removed = has is None and key not in original.removed
        is_theirs = has != had and (is_removed or not is_ours(manifest, path))
        wanted[key] = has if is_theirs else had
        if is_theirs:
            what = f"the {in_words(key)} {has}, set" if has else f"the {in_words(key)}, removed,"
            kept.append(Change(what, owner_of(manifest, path)))
    return Resources(wanted), kept, now


def _back(
    cluster: Cluster,
    where: KubernetesWorkload,
    original: Original,
    before: Resources,
    change: Callable[[Object, Resources], Object],
    uid: str | None = None,
) -> tuple[list[str], bool]:
    """What was done to a template or a pod, and whether it was changed. uid: of the pod, which a
    rollout may have replaced by one with the template's resources."""

    def attempt() -> tuple[list[str], bool]:
        manifest = where.read(cluster)
        if uid and (manifest["metadata"]["uid"] != uid or is_ending(manifest)):
            return [], False
        wanted, kept, now = _merged(where, manifest, original, before)
        sentences = [f"{where}: {theirs} stays" for theirs in kept]
        if now.same(wanted):
            return sentences, False
        change(manifest, wanted)
        return [f"{where}: {wanted} again, was {now}", *sentences], True

    return cluster.without_conflict(attempt)


def _resized_back(
    cluster: Cluster, workload: KubernetesWorkload, original: Original, resized: ResizedPod
) -> list[str]:
    where = KubernetesWorkload(POD, workload.namespace, resized.name)
    with contextlib.suppress(AbsentError):
        return _back(
            *(cluster, where, original, resized.resources),
            lambda pod, wanted: resize(
                cluster, pod, original.container, wanted, RESIZE_BACK_TIMEOUT_S
            ),
            uid=resized.uid,
        )[0]
    return []


def _await_pods(
    cluster: Cluster, workload: KubernetesWorkload, original: Original, timeout_s: float
) -> None:
    """Wait until every pod has its template's resources. Raises NotGivenBackError, with those that
    have not."""
    hopeless, settled_since = Hopeless(), 0.0
    for _ in cluster.looks(timeout_s, LOOK_EVERY_S):
        manifest, pods = workload.read(cluster), workload.pods(cluster)
        wanted = _of(workload, manifest, original)
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
        have = _of(KubernetesWorkload.of(pod), pod, original)
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
    """The history and the owners as they were, and nothing of the sweep at the workload any
    more."""
    kept, owned = original.history, original.owned.get(workload.key, [])
    if workload.kind != POD:
        with contextlib.suppress(MissingVerbError):
            if kept:
                history.remove_of_sweep(cluster, workload, workload.read(cluster), original)
        _patched(
            *(cluster, workload, "give back the limit of the history"),
            lambda manifest: history.limit_back(manifest, kept) if kept else None,
        )
        _patched(
            *(cluster, workload, "give fields back to their owners"),
            lambda manifest: owned_again(manifest, owned, NOTE),
        )
    away: Object = {"metadata": {"annotations": {ANNOTATION: None}}}
    manifest = _patched(cluster, workload, "remove the note", lambda manifest: away)
    if workload.kind != POD:
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
            version = {"resourceVersion": manifest["metadata"]["resourceVersion"]}
            body = {**body, "metadata": {**body.get("metadata", {}), **version}}
            workload.patch(cluster, what, body)
        return manifest

    return cluster.without_conflict(attempt)
