"""The Job of a trial: one pod that waits, with the treatment's limit, until the trial is run in
it."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from deadzone.plugins import UNCHANGED, Level, Limits, is_number
from deadzone_kubernetes.api.cluster import Cluster
from deadzone_kubernetes.container.ephemeral_shell import BUSYBOX, COPY
from deadzone_kubernetes.container.resources import (
    CPU,
    FACTORS,
    LIMITS,
    MEMORY,
    REQUESTS,
    Resources,
    quantity,
)
from deadzone_kubernetes.specs import JobSpec, KubernetesTargetSpec

MANAGED_BY = "app.kubernetes.io/managed-by"
DEADZONE = "deadzone"
RUN_LABEL = "deadzone.dev/run"
LEASE_LABEL = "deadzone.dev/lease"
JOB_NAME_LABEL = "batch.kubernetes.io/job-name"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

CONTAINER = "trial"
HOME = PurePosixPath("/deadzone")
"""Where a volume of the pod is mounted, in which Deadzone writes."""

LENT = HOME / "lent"

TEMPLATE = Path(__file__).with_name("job.yaml")

HOLD = 'PATH="$1:$PATH"; trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'
"""What the pod does besides the trial: nothing."""

LONGEST_LABEL = 63


def remove(cluster: Cluster, name: str, namespace: str) -> None:
    """Remove a Job with its pod. Raises AbsentError where it is gone."""
    what, options = f"remove the Job {name}", {"propagation_policy": "Background"}
    cluster.call(what, "batch.delete_namespaced_job", name, namespace, **options)


def label_value(text: str) -> str:
    """A text as a label may be: letters, digits and a few signs, at most 63."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)[:LONGEST_LABEL].strip("-._") or "none"


def manifest(
    spec: KubernetesTargetSpec, name: str, run_id: str, lease: str, wanted: Limits
) -> dict[str, Any]:
    """The Job for one trial. wanted: the treatment's limits and requests."""
    job, lent = spec.job, spec.launcher_image
    assert job is not None
    own = {MANAGED_BY: DEADZONE, RUN_LABEL: label_value(run_id), LEASE_LABEL: label_value(lease)}
    labels = {**job.labels, **own}
    shell = [str(LENT / "busybox"), "sh"] if lent else ["/bin/sh"]
    values = {
        **job.model_dump(
            include={"image", "service_account", "priority_class", "security_context"}
        ),
        **job.model_dump(include={"node_selector", "tolerations"}),
        "name": name,
        "namespace": spec.namespace,
        "job_labels": {**labels, QUEUE_LABEL: job.queue} if job.queue else labels,
        "labels": labels,
        "longest_s": max(1, round(job.longest_s)),
        "has_account": job.service_account is not None,
        "secrets": [{"name": secret} for secret in job.image_pull_secrets],
        "launcher_image": lent,
        "pull_policy": job.image_pull_policy,
        "lend": [BUSYBOX, "sh", "-c", COPY, "lend", str(LENT)],
        "command": [*shell, "-c", HOLD, "hold", str(LENT / "bin")],
        "resources": resources(job, wanted),
        "env": [{"name": variable, "value": value} for variable, value in job.env.items()],
        "mounts": [*job.volume_mounts, {"name": "deadzone", "mountPath": str(HOME)}],
        "volumes": [*job.volumes, {"name": "deadzone", "emptyDir": {}}],
    }
    made: dict[str, Any] = _filled(yaml.safe_load(TEMPLATE.read_text(encoding="utf-8")), values)
    pod = made["spec"]["template"]["spec"]
    for part, is_wanted in (("affinity", job.one_a_node), ("initContainers", lent)):
        if not is_wanted:
            del pod[part]
    return made


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """A part of the template with its values; what has none is left out."""
    if isinstance(part, dict):
        found = ((key, _filled(inner, values)) for key, inner in part.items())
        return {key: value for key, value in found if value not in (None, (), [], {})}
    if isinstance(part, list):
        return [_filled(inner, values) for inner in part]
    return values[part[1:]] if isinstance(part, str) and part.startswith("$") else part


def resources(job: JobSpec, wanted: Limits) -> dict[str, Any]:
    """The resources of a trial's container: reserved is the limit itself, unless the study says
    otherwise."""
    amounts = {key: _amount(key, getattr(wanted, factor)) for factor, key in FACTORS.items()}
    cores = wanted.cpu_limit
    if amounts["requests.cpu"] is None and job.cpu_request is not None:
        reserved = min(job.cpu_request, float(cores)) if is_number(cores) else job.cpu_request
        amounts["requests.cpu"] = f"{round(reserved * 1000)}m"
    if wanted.memory_limit == UNCHANGED:
        amounts["limits.memory"] = job.memory
    for name in (CPU, MEMORY):
        amounts[f"{REQUESTS}.{name}"] = amounts[f"{REQUESTS}.{name}"] or amounts[f"{LIMITS}.{name}"]
    stated = Resources(
        {key: amount for key, amount in amounts.items() if amount is not None}
    ).as_patch()
    return {part: stated.get(part, {}) for part in (LIMITS, REQUESTS)}


def _amount(key: str, level: Level) -> str | None:
    return quantity(key, level) if is_number(level) else None
