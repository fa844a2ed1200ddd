"""The Job of a trial: one pod that waits, with the treatment's limit, until the trial is run in
it."""

import re
from pathlib import PurePosixPath
from typing import Any

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

REMOVED_AFTER_S = 600
"""A Job that ended by itself, because whoever made it is gone, is removed after this [s]."""

APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {MANAGED_BY: DEADZONE}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}
"""Never two pods of Deadzone on one node, of whichever studies: they would disturb each other."""

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
    job = spec.job
    assert job is not None
    own = {MANAGED_BY: DEADZONE, RUN_LABEL: label_value(run_id), LEASE_LABEL: label_value(lease)}
    labels = {**job.labels, **own}
    queued = {**labels, QUEUE_LABEL: job.queue} if job.queue else labels
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": spec.namespace, "labels": queued},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": max(1, round(job.longest_s)),
            "ttlSecondsAfterFinished": REMOVED_AFTER_S,
            "template": {"metadata": {"labels": labels}, "spec": _pod(spec, job, wanted)},
        },
    }


def _pod(spec: KubernetesTargetSpec, job: JobSpec, wanted: Limits) -> dict[str, Any]:
    lent = spec.launcher_image
    shell = [str(LENT / "busybox"), "sh"] if lent else ["/bin/sh"]
    mount = {"name": DEADZONE, "mountPath": str(HOME)}
    lender = {
        "name": "lend",
        "image": lent,
        "imagePullPolicy": job.image_pull_policy,
        "command": [BUSYBOX, "sh", "-c", COPY, "lend", str(LENT)],
        "volumeMounts": [mount],
    }
    container = {
        "name": CONTAINER,
        "image": job.image,
        "imagePullPolicy": job.image_pull_policy,
        "command": [*shell, "-c", HOLD, "hold", str(LENT / "bin")],
        "resources": resources(job, wanted),
        "env": [{"name": variable, "value": value} for variable, value in job.env.items()],
        "securityContext": job.security_context,
        "volumeMounts": [*job.volume_mounts, mount],
    }
    return _stated(
        {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": job.service_account is not None,
            "serviceAccountName": job.service_account,
            "priorityClassName": job.priority_class,
            "nodeSelector": job.node_selector,
            "tolerations": list(job.tolerations),
            "imagePullSecrets": [{"name": secret} for secret in job.image_pull_secrets],
            "affinity": APART if job.one_a_node else None,
            "initContainers": [_stated(lender)] if lent else None,
            "containers": [_stated(container)],
            "volumes": [*job.volumes, {"name": DEADZONE, "emptyDir": {}}],
        }
    )


def _stated(part: dict[str, Any]) -> dict[str, Any]:
    """Without what the study does not say."""
    return {key: value for key, value in part.items() if value not in (None, [], {})}


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
