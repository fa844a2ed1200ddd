"""What a workload is besides what its sweep changes, in texts by name: a run goes on with the same
alone.

Values of a template may be secrets, so that all but images, replicas and resources is told by a
checksum.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.container.resources import LIMITS, REQUESTS
from deadzone_kubernetes.workload import POD, KubernetesWorkload, container_status

RESTARTED = "kubectl.kubernetes.io/restartedAt"
"""Annotation of a template that `kubectl rollout restart` writes; the workload is the same."""

OF_NO_POD = ("name", "image", "resources", "volumeMounts")
"""Keys of a container that are told apart, or differ from pod to pod."""


def image_of(pod: Object, container: str) -> str:
    """The image that a container runs, by its digest where the kubelet says it."""
    state = container_status(pod, container)
    return str(state.get("imageID") or state.get("image") or "unknown")


def identity(
    workload: KubernetesWorkload, manifest: Object, pod: Object, container: str, swept: set[str]
) -> dict[str, str]:
    """What a workload is. pod: one of its. container: that is swept. swept: the keys of its amounts
    that the sweep changes."""
    template, known = workload.template(manifest), dict[str, str]()
    for spec in template["containers"]:
        name = spec["name"]
        amounts = _amounts(spec, swept if name == container else set())
        own = {key: value for key, value in spec.items() if key not in OF_NO_POD}
        known[f"image of {name}"] = image_of(pod, name)
        known[f"resources of {name}"] = amounts or "none"
        known |= {f"{key} of {name}": _checksum(value) for key, value in own.items()}
    if workload.kind == POD:
        return known
    metadata = manifest["spec"]["template"].get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), RESTARTED: None}
    rest = {key: value for key, value in template.items() if key != "containers"}
    mounts = [spec.get("volumeMounts") for spec in template["containers"]]
    known["pod template"] = _checksum([rest, mounts, metadata.get("labels"), annotations])
    return {**known, "replicas": str(manifest["spec"].get("replicas", 1))}


def _amounts(container: Mapping[str, Any], swept: set[str]) -> str:
    parts = container.get("resources") or {}
    every = {
        f"{part}.{name}": amount
        for part in (LIMITS, REQUESTS)
        for name, amount in (parts.get(part) or {}).items()
    }
    return ", ".join(f"{key} {amount}" for key, amount in every.items() if key not in swept)


def _checksum(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
