"""Giving back what a sweep changed at a workload: until its pods run with it, and never over what
others wrote since.

What others set is told by the API server's managedFields, see `owners`.

The resources a workload had before a sweep: kept in an annotation of it, and given back from
there.

The annotation is written before the first change and removed after the last is undone, so a
workload without it is as its owner left it, and one with it can be restored by anybody who finds
it, from any machine.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

from deadzone.errors import NotGivenBackError
from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import (
    MANAGER,
    AbsentError,
    ClusterError,
    MissingVerbError,
    Object,
)
from deadzone_kubernetes.container.resources import FACTORS, Resources, in_words
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.watch.changes import (
    Owned,
    is_ours,
    last_set,
    managers_of,
    owned_again,
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
    label_selector,
    resize,
)

ANNOTATION = "deadzone.dev/original-resources"


@dataclass(frozen=True)
class ResizedPod:
    """What a pod had that was resized in place, which one it is, and who owned these amounts."""

    resources: Resources
    name: str
    uid: str
    owned: Owned = field(default_factory=list)


@dataclass(frozen=True)
class Original:
    """What a workload's container had before the sweep.

    resources: of the template (of the pod, where the workload is one). swept: the amounts among
    them that levels set. run: the run that changes them. pods: those that were resized in place.
    scratch: folder of the container that trials write in. rolled: whether the template was changed,
    so that pods may have a level by it. tries: how often pods were waited for in vain. owned: who
    owned these amounts. removed: the amounts that a level takes away; another one that is gone,
    others removed. autoscalers: what each had that is held, by kind and name.
    """

    container: str
    resources: Resources
    run: str
    scratch: str
    pods: tuple[ResizedPod, ...] = ()
    rolled: bool = False
    tries: int = 0
    swept: tuple[str, ...] = ("limits.cpu",)
    owned: Owned = field(default_factory=list)
    removed: tuple[str, ...] = tuple(FACTORS.values())
    autoscalers: Mapping[str, autoscaler.Had] = field(default_factory=dict)

    def with_pod(self, pod: Mapping[str, Any], have: Resources) -> "Original":
        """The same with one more pod that is about to be resized; one that is known already keeps
        its entry."""
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        if any(known.uid == uid for known in self.pods):
            return self
        paths = [path_of(POD, self.container, key) for key in have.amounts]
        return replace(self, pods=(*self.pods, ResizedPod(have, name, uid, owners(pod, paths))))

    def dumps(self) -> str:
        """As one line of JSON."""
        return WRITTEN.dump_json(self).decode()


WRITTEN = TypeAdapter(Original)
"""How it stands in the annotation."""


def kept(manifest: Object, where: str) -> Original | None:
    """The original resources that an object's annotation keeps; None without one. Raises
    TargetError for an annotation that something else changed."""
    text = (manifest["metadata"].get("annotations") or {}).get(ANNOTATION)
    try:
        return None if text is None else WRITTEN.validate_json(text)
    except ValidationError as error:
        raise TargetError(
            f"The annotation {ANNOTATION} of {where} cannot be read, so what it had before is "
            f"not known: {text!r}. Set its resources by hand, then remove the annotation."
        ) from error


TIMEOUT_S = 120.0
"""How long pods are waited for where no study says it [s]."""

RESIZE_BACK_TIMEOUT_S = 60.0
"""A resize takes a fraction of a second; a node that takes longer has it in its books and does it
later [s]."""

SETTLED_S = 10.0
"""Pods that have what they had are given back, also where their rollout does not end for a reason
of its own [s]."""


def give_back(
    workload: KubernetesWorkload,
    original: Original,
    timeout_s: float = TIMEOUT_S,
    note: Callable[[str], None] | None = None,
) -> list[str]:
    """Restore every changed resource, wait until pods run with it, then remove the annotation; says
    what was done.

    timeout_s: how long the pods may take. note: told of what others set at an autoscaler, by
    default among what was done. Raises NotGivenBackError where pods keep what the sweep
    gave them, another TargetError where something could not be restored; the annotation stays then.
    """
    done: list[str] = []
    let_go = partial(autoscaler.let_go, workload, original.autoscalers, note or done.append)
    try:
        is_changed = False
        if workload.kind != POD:
            back, is_changed = _back(workload, original, original.resources)
            done += back
        # A changed template replaces every pod, the resized ones too.
        for resized in () if is_changed else original.pods:
            pod = replace(workload, kind=POD, name=resized.name)
            with contextlib.suppress(AbsentError):
                done += _back(pod, original, resized.resources, resized.uid)[0]
                # Who owns its fields must not keep the rest from being given back.
                with contextlib.suppress(ClusterError):
                    _leave(pod, resized.owned, resized.uid)
        if original.rolled and not is_changed and workload.kind != POD:
            # What is written at a workload has its controller try again at once; by itself it may
            # pause for minutes.
            workload.annotate({ANNOTATION: replace(original, tries=original.tries + 1).dumps()})
        if original.rolled or is_changed:
            _await_pods(workload, original, timeout_s)
        done += let_go()
        manifest = _leave(workload, original.owned)
        if workload.kind == DEPLOYMENT:
            _remove_note_of_revisions(workload, manifest)
    except AbsentError:
        done += let_go()
        return [f"{workload} is gone", *done]
    now = f"its pods have {original.resources} again" if original.rolled else "nothing was changed"
    return done or [f"{workload}: {now}"]


def _of(workload: KubernetesWorkload, manifest: Object, original: Original) -> Resources:
    """What the container has in a template, or in a pod."""
    container = container_of(workload.template(manifest), original.container, str(workload))
    return Resources.of(container, original.resources.names)


def _merged(
    workload: KubernetesWorkload, manifest: Object, original: Original, before: Resources
) -> tuple[Resources, list[str], Resources]:
    """What a container is to have: what it had before, but for what others set since; what that is;
    and what it has now."""
    now = _of(workload, manifest, original)
    wanted: dict[str, str | None] = {}
    kept = []
    for key, had in before.amounts.items():
        path, has = path_of(workload.kind, original.container, key), now.amounts[key]
        is_removed = has is None and key not in original.removed
        wanted[key] = had
        if has != had and (is_removed or not is_ours(manifest, path)):
            wanted[key] = has
            what = f"the {in_words(key)} {has}, set" if has else f"the {in_words(key)}, removed,"
            kept.append(" ".join(filter(None, (what, last_set(manifest, path)))))
    return Resources(wanted), kept, now


def _back(
    where: KubernetesWorkload, original: Original, before: Resources, uid: str | None = None
) -> tuple[list[str], bool]:
    """What was done to a template or a pod, and whether it was changed. uid: of the pod, which a
    rollout may have replaced by one with the template's resources."""

    def attempt() -> tuple[list[str], bool]:
        manifest = where.read()
        if uid and (manifest["metadata"]["uid"] != uid or is_ending(manifest)):
            return [], False
        wanted, kept, now = _merged(where, manifest, original, before)
        sentences = [f"{where}: {theirs} stays" for theirs in kept]
        if now.holds(wanted):
            return sentences, False
        if where.kind == POD:
            resize(where.cluster, manifest, original.container, wanted, RESIZE_BACK_TIMEOUT_S)
        else:
            where.patch_template(original.container, wanted, manifest)
        return [f"{where}: {wanted} again, was {now}", *sentences], True

    return where.cluster.without_conflict(attempt)


def _await_pods(workload: KubernetesWorkload, original: Original, timeout_s: float) -> None:
    """Wait until every pod has its template's resources. Raises NotGivenBackError, with those that
    have not."""
    hopeless, settled = pod_problems.Standing(), pod_problems.Standing()
    for _ in workload.cluster.looks(timeout_s, LOOK_EVERY_S):
        manifest, pods = workload.read(), workload.pods()
        wanted = _of(workload, manifest, original)
        left = _at_a_level(workload, pods, original, wanted)
        if settled.for_long(not left, 0.0 if workload.is_rolled_out(manifest) else SETTLED_S):
            return
        if left and hopeless.for_long(pod_problems.incurable(manifest, pods)):
            break
    if left:
        named = "; ".join(f"pod {name} still has {have}" for name, have in left)
        why = pod_problems.of_rollout(manifest, pods)
        raise NotGivenBackError(
            f"{workload} says {wanted} again, but {named}: {why}. Remove that obstacle, then "
            f"`deadzone restore --namespace {workload.namespace}` tries again."
        )


def _at_a_level(
    workload: KubernetesWorkload, pods: Sequence[Object], original: Original, wanted: Resources
) -> list[tuple[str, Resources]]:
    """Pods with other amounts than the template's where the sweep set them, but for those that
    others resized."""
    swept = wanted.only(original.swept)
    every = [(pod, _of(replace(workload, kind=POD), pod, original)) for pod in pods]
    return [
        (str(pod["metadata"]["name"]), have)
        for pod, have in every
        if not have.holds(swept) and not any(map(_is_resize_by_others, managers_of(pod)))
    ]


def _is_resize_by_others(entry: Object) -> bool:
    manager = str(entry.get("manager"))
    is_other = manager != MANAGER and not manager.startswith("kubelet")
    return is_other and entry.get("subresource") == "resize"


def _leave(where: KubernetesWorkload, owned: Owned, uid: str | None = None) -> Object:
    """A workload, or a pod, with the owners of its fields as they were, and nothing of the sweep
    any more. uid: of the pod; another one of its name is left alone."""

    def attempt() -> Object:
        manifest = where.read()
        if uid and manifest["metadata"]["uid"] != uid:
            return manifest
        body = owned_again(manifest, owned)
        body["metadata"] |= {
            "resourceVersion": manifest["metadata"]["resourceVersion"],
            "annotations": {ANNOTATION: None},
        }
        return where.patch("give fields back to their owners", body)

    return where.cluster.without_conflict(attempt)


def _remove_note_of_revisions(workload: KubernetesWorkload, manifest: Object) -> None:
    """A Deployment's annotations stand on its ReplicaSets too, from where `kubectl rollout undo`
    would bring the note back."""
    where, selector = workload.namespace, label_selector(manifest["spec"]["selector"])
    call, method = workload.cluster.call, "apps.{}_namespaced_replica_set"
    what = f"remove the note from the revisions of {workload}"
    away = {"metadata": {"annotations": {ANNOTATION: None}}}
    with contextlib.suppress(MissingVerbError, AbsentError):
        for revision in call(what, method.format("list"), where, label_selector=selector)["items"]:
            if ANNOTATION in (revision["metadata"].get("annotations") or {}):
                call(what, method.format("patch"), revision["metadata"]["name"], where, away)
