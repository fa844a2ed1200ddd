"""The resources a workload had before a sweep: kept in an annotation of it, and given back from there.

The annotation is written before the first change and removed after the last is undone, so a workload without it
is as its owner left it, and one with it can be restored by anybody who finds it, from any machine.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from deadzone.errors import TargetError
from deadzone.measuring.targets.kubernetes.cluster import Cluster, Object
from deadzone.measuring.targets.kubernetes.errors import AbsentError
from deadzone.measuring.targets.kubernetes.resources import CpuResources
from deadzone.measuring.targets.kubernetes.workload import POD, Workload, container_of, is_ending, resize

ANNOTATION = "deadzone.dev/original-resources"

RESIZE_BACK_TIMEOUT_S = 60.0
"""A resize takes a fraction of a second; a node that takes longer has it in its books and does it later [s]."""


@dataclass(frozen=True)
class ResizedPod(CpuResources):
    """What a pod had that was resized in place, and which one it is."""

    name: str
    uid: str


@dataclass(frozen=True)
class Original:
    """What a workload's container had before the sweep.

    limit, request: of the template (of the pod, where the workload is one). run: the run that changes them.
    pods: those that were resized in place. scratch: folder of the container that trials write in.
    """

    container: str
    limit: str | None
    request: str | None
    run: str
    started_at: str
    scratch: str
    pods: tuple[ResizedPod, ...] = ()

    @property
    def cpu(self) -> CpuResources:
        """The cpu resources to give back to the template."""
        return CpuResources(self.limit, self.request)

    def with_pod(self, pod: Mapping[str, Any], cpu: CpuResources) -> Original:
        """The same with one more pod that is about to be resized; one that is known already keeps its entry."""
        uid = pod["metadata"]["uid"]
        if any(known.uid == uid for known in self.pods):
            return self
        resized = ResizedPod(cpu.limit, cpu.request, pod["metadata"]["name"], uid)
        return replace(self, pods=(*self.pods, resized))

    def dumps(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def loads(cls, text: str, where: str) -> Original:
        """Raises TargetError for an annotation that something else changed."""
        try:
            document = json.loads(text)
            resized = tuple(ResizedPod(**entry) for entry in document.pop("pods"))
            return cls(**document, pods=resized)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise TargetError(
                f"The annotation {ANNOTATION} of {where} cannot be read, so what it had before is not known: {text!r}. "
                "Set its resources by hand, then remove the annotation."
            ) from error


def kept(found: Object, where: str) -> Original | None:
    """The original resources that an object's annotation keeps; None without one."""
    text = (found["metadata"].get("annotations") or {}).get(ANNOTATION)
    return None if text is None else Original.loads(text, where)


def give_back(cluster: Cluster, workload: Workload, original: Original) -> list[str]:
    """Restore every changed resource, then remove the annotation; says what was done.

    Raises TargetError where something could not be restored; the annotation stays then.
    """
    try:
        found = workload.read(cluster)
    except AbsentError:
        return [f"{workload} is gone"]
    done = []
    if workload.kind != POD:
        now = CpuResources.of(container_of(workload.template(found), original.container, str(workload)))
        if not now.same(original.cpu):
            workload.patch_template(cluster, original.container, original.cpu)
            done.append(f"{workload}: {original.cpu} again, was {now}")
    # A changed template replaces every pod, the resized ones too.
    for resized in () if done else original.pods:
        said = _resize_back(cluster, workload, original, resized)
        done += [said] if said else []
    workload.annotate(cluster, {ANNOTATION: None})
    return done or [f"{workload}: nothing was changed"]


def _resize_back(cluster: Cluster, workload: Workload, original: Original, resized: ResizedPod) -> str | None:
    where = Workload(POD, workload.namespace, resized.name)
    with contextlib.suppress(AbsentError):
        pod = where.read(cluster)
        if pod["metadata"]["uid"] != resized.uid or is_ending(pod):
            return None  # a rollout has replaced it, by one with the template's resources
        now = CpuResources.of(container_of(pod["spec"], original.container, str(where)))
        if not now.same(resized):
            resize(cluster, pod, original.container, resized, RESIZE_BACK_TIMEOUT_S)
            return f"{where}: {resized} again, was {now}"
    return None
