"""The Job of a trial: one pod that waits, with the treatment's limit, until the trial is run in it."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from deadzone.measuring.targets.kubernetes.lending import BUSYBOX, COPY
from deadzone.measuring.targets.kubernetes.resources import cpu_quantity
from deadzone.study.target_specs import JobSpec
from deadzone.study.target_specs import KubernetesTarget as KubernetesSpec

MANAGED_BY = "app.kubernetes.io/managed-by"
DEADZONE = "deadzone"
RUN_LABEL = "deadzone.dev/run"
LEASE_LABEL = "deadzone.dev/lease"
JOB_NAME_LABEL = "batch.kubernetes.io/job-name"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
HOST = "kubernetes.io/hostname"

CONTAINER = "trial"
HOME = PurePosixPath("/deadzone")
"""Where a volume of the pod is mounted, in which Deadzone writes."""

LENT = HOME / "lent"

KEPT_S = 600
"""A Job that ended by itself, because whoever made it is gone, is removed after this [s]."""

HOLD = 'PATH="$1:$PATH"; trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'
"""What the pod does besides the trial: nothing."""

LONGEST_LABEL = 63


def label_value(text: str) -> str:
    """A text as a label may be: letters, digits and a few signs, at most 63."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)[:LONGEST_LABEL].strip("-._") or "none"


def manifest(spec: KubernetesSpec, name: str, run_id: str, lease: str, cores: float | None) -> dict[str, Any]:
    """The Job for one trial. cores: the treatment's limit, None for no limit."""
    job = spec.job
    assert job is not None
    labels = {
        **job.labels,
        MANAGED_BY: DEADZONE,
        RUN_LABEL: label_value(run_id),
        LEASE_LABEL: label_value(lease),
    }
    queue = {QUEUE_LABEL: job.queue} if job.queue else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": spec.namespace, "labels": {**labels, **queue}},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": max(1, round(job.longest_s)),
            "ttlSecondsAfterFinished": KEPT_S,
            "template": {"metadata": {"labels": labels}, "spec": _pod(spec, job, cores)},
        },
    }


def _pod(spec: KubernetesSpec, job: JobSpec, cores: float | None) -> dict[str, Any]:
    lent = spec.launcher_image
    shell = [str(LENT / "busybox"), "sh"] if lent else ["/bin/sh"]
    mount = {"name": "deadzone", "mountPath": str(HOME)}
    pull = {"imagePullPolicy": job.image_pull_policy} if job.image_pull_policy else {}
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": job.image,
        **pull,
        "command": [*shell, "-c", HOLD, "hold", str(LENT / "bin")],
        "resources": resources(job, cores),
        "volumeMounts": [*map(dict, job.volume_mounts), mount],
        "env": [{"name": name, "value": value} for name, value in job.env.items()],
    }
    if job.security_context:
        container["securityContext"] = dict(job.security_context)
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "automountServiceAccountToken": job.service_account is not None,
        "containers": [container],
        "volumes": [*map(dict, job.volumes), {"name": "deadzone", "emptyDir": {}}],
    }
    optional = {
        "serviceAccountName": job.service_account,
        "priorityClassName": job.priority_class,
        "nodeSelector": dict(job.node_selector),
        "tolerations": [dict(toleration) for toleration in job.tolerations],
        "imagePullSecrets": [{"name": name} for name in job.image_pull_secrets],
        "affinity": _apart() if job.one_a_node else None,
        "initContainers": [_lender(lent, mount, job)] if lent else None,
    }
    return {**pod, **{key: value for key, value in optional.items() if value}}


def _lender(image: str, mount: Mapping[str, Any], job: JobSpec) -> dict[str, Any]:
    pull = {"imagePullPolicy": job.image_pull_policy} if job.image_pull_policy else {}
    return {
        "name": "lend",
        "image": image,
        **pull,
        "command": [BUSYBOX, "sh", "-c", COPY, "lend", str(LENT)],
        "volumeMounts": [dict(mount)],
    }


def _apart() -> dict[str, Any]:
    """Never two pods of Deadzone on one node, whichever study they are of: they would disturb each other."""
    term = {"labelSelector": {"matchLabels": {MANAGED_BY: DEADZONE}}, "topologyKey": HOST}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def resources(job: JobSpec, cores: float | None) -> dict[str, Any]:
    """The resources of a trial's container: reserved is the limit itself, unless the study says otherwise."""
    limits, requests = {}, {}
    if cores is not None:
        limits["cpu"] = cpu_quantity(cores)
    reserved = cores if job.cpu_request is None else min(job.cpu_request, cores or job.cpu_request)
    if reserved is not None:
        requests["cpu"] = f"{round(reserved * 1000)}m"
    if job.memory:
        limits["memory"] = requests["memory"] = job.memory
    return {"limits": limits, "requests": requests}
