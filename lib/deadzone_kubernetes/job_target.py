"""Trials in fresh pods, one Job each, several at once where the study says so."""

import contextlib
import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from deadzone.plugins import (
    UNCHANGED,
    Command,
    Limits,
    Measurement,
    Surroundings,
    Target,
    TargetError,
    Treatment,
    is_number,
)
from deadzone_kubernetes.api.cluster import (
    OURS,
    AbsentError,
    Cluster,
    ClusterError,
    MissingVerbError,
    Object,
)
from deadzone_kubernetes.cluster_target import ClusterTarget
from deadzone_kubernetes.container import trial
from deadzone_kubernetes.container.container import BUSYBOX, COPY, PodContainer, verified
from deadzone_kubernetes.container.resources import (
    CPU,
    FACTORS,
    LIMITS,
    MEMORY,
    REQUESTS,
    Resources,
    for_template,
    number_of,
    quantity,
    resources_of,
)
from deadzone_kubernetes.lease.lease import Lease
from deadzone_kubernetes.specs import JobSpec, KubernetesTargetSpec
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.workload import check_as_asked, is_running, pods_of

RUN_LABEL = "deadzone.dev/run"
LEASE_LABEL = "deadzone.dev/lease"
JOB_NAME_LABEL = "batch.kubernetes.io/job-name"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

CONTAINER = "trial"
VOLUME, HOME = "deadzone", PurePosixPath("/deadzone")
"""A volume of the pod in which Deadzone writes, and where it is mounted."""

LENT = HOME / "lent"

REMOVED_AFTER_S = 600
"""A Job that ended by itself, because whoever made it is gone, is removed after this [s]."""

APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": OURS}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
"""Never two pods of Deadzone on one node, of whichever studies: they would disturb each other."""

HOLD = 'PATH="$1:$PATH"; trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'
"""What the pod does besides the trial: nothing."""

LONGEST_LABEL = 63

LOOK_EVERY_S = 0.3


NO_SHELL = (
    " The image has no shell: give target.launcher_image, an image with a static /bin/busybox, and "
    "one is lent to it."
)

CREATE, READ = (f"batch.{verb}_namespaced_job" for verb in ("create", "read"))


class JobTarget(ClusterTarget):
    """Fresh pods in a namespace of a cluster; as many workers as trials may run at once."""

    must_give_back = False
    place: trial.PodPlace

    def __init__(
        self, spec: KubernetesTargetSpec, levels: Sequence[Limits], around: Surroundings
    ) -> None:
        """levels: the limits and requests the study will ask for."""
        super().__init__(spec, levels, around)
        assert spec.job is not None
        self.home = (
            HOME / "run" if spec.scratch == "/tmp" else PurePosixPath(spec.scratch) / "deadzone"
        )
        self.scratch = Path(self.home / "work")
        self.numbers = itertools.count()
        # Name of the lock that says that this sweep lives; its Jobs bear it as a label.
        self.lease_name = f"deadzone-jobs-{self.token}"
        self._workers = tuple(JobWorker(self) for _ in range(spec.job.parallelism))
        self.place = self._workers[0].place

    def _open(self) -> None:
        # Only where nodes may be listed.
        with contextlib.suppress(MissingVerbError):
            nodes = self.cluster.call("list the nodes", "core.list_node")["items"]
            cores = (number_of(node["status"]["allocatable"][CPU]) for node in nodes)
            most = max(cores, default=math.inf)
            self._check_fits(most, f"every node: the largest has {most:g} cores to give")
        run, where = self.around.run_id, (self.cluster, self.spec.namespace)
        self._lease = Lease(*where, self.lease_name, f"the Jobs of run {run}", run)
        self._lease.acquire()
        # What is wrong with image, account or permissions shows before any trial; at the least
        # level, for a quota may ask for a limit.
        limited = (level for level in self.levels if is_number(level.cpu_limit))
        least = min(limited, key=lambda level: float(level.cpu_limit), default=self.levels[0])
        self._workers[0].start(least)

    def _close(self) -> str | None:
        problems = [problem for worker in self._workers if (problem := worker.stop())]
        if self._lease:
            self._lease.release()
        remedy = "`deadzone restore` removes the Jobs of this run."
        return f"{problems[0]} {remedy}" if problems else None

    def workers(self) -> "tuple[JobWorker, ...]":
        """One for each trial that may run at once."""
        return self._workers

    def stop(self) -> None:
        """Let all workers end soon."""
        self.cluster.stopping.set()

    def prepare(self, treatment: Treatment) -> None:
        """As the first worker does."""
        self._workers[0].prepare(treatment)

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """As the first worker does."""
        return self._workers[0].execute(command, timeout_s)

    def identity(self) -> dict[str, str]:
        """The image of its pods; the study says all else."""
        return {"image": trial.image_of(self._workers[0].pod, CONTAINER)}

    def facts(self) -> dict[str, Any]:
        """What the pods are, and how limits are put in force, for the provenance."""
        job, worker = self.spec.job, self._workers[0]
        assert job is not None
        return {
            **trial.where_and_how(self.spec, worker.pod, CONTAINER, worker.probe),
            "namespace": self.spec.namespace,
            "image": job.image,
            "limits_mechanism": "Kubernetes, a fresh pod for each trial",
            "parallelism": job.parallelism,
            "one_a_node": job.one_a_node,
        }


class JobWorker(Target):
    """One trial after the other, each in a pod of its own."""

    place: trial.PodPlace

    def __init__(self, target: JobTarget) -> None:
        self._target = target
        self.place = trial.PodPlace(target.spec.inputs)
        self.scratch = target.scratch
        self._job = ""
        self.pod: Object = {}
        self.container: PodContainer | None = None

    def prepare(self, treatment: Treatment) -> None:
        """A fresh pod with the treatment's limits and requests, seen in its own control group."""
        self._target.check_lease()
        self.start(self._target.wanted(treatment))

    def start(self, wanted: Limits) -> None:
        """Replace the pod by a new one that waits for a trial, with the limits and requests that it
        is to have."""
        if problem := self.stop():
            raise TargetError(problem)
        target = self._target
        spec, cluster = target.spec, target.cluster
        self._job = f"deadzone-{target.token}-{next(target.numbers)}"
        body = manifest(spec, self._job, target.around.run_id, target.lease_name, wanted)
        cluster.create(f"make the Job {self._job}", CREATE, spec.namespace, body)
        self.pod = self._await_pod()
        asked = [key for factor, key in FACTORS.items() if getattr(wanted, factor) != UNCHANGED]
        given = body["spec"]["template"]["spec"]["containers"][0]
        must = Resources.of(given, resources_of(asked)).only(asked)
        check_as_asked(f"the Job {self._job}", self.pod, CONTAINER, must)
        lent = LENT if spec.launcher_image else None
        self.container = PodContainer(cluster, self.pod, CONTAINER, target.home, lent)
        self.container.open()
        self.probe = verified(self.container, must)
        self.place.enter(self.container)

    def _await_pod(self) -> Object:
        target = self._target
        cluster, namespace = target.cluster, target.spec.namespace
        hopeless, alone = pod_problems.Standing(), pod_problems.Standing()
        while True:
            job = cluster.call(f"read the Job {self._job}", READ, self._job, namespace)
            pods = pods_of(
                cluster, f"the Job {self._job}", namespace, f"{JOB_NAME_LABEL}={self._job}"
            )
            pod = pods[-1] if pods else None
            if pod and is_running(pod, CONTAINER):
                return pod
            failed = pod_problems.condition(job, "Failed")
            reason = (pod_problems.hopeless(pod) if pod else None) or failed
            if hopeless.for_long(reason, pod_problems.NO_HOPE_AFTER_S if pod else 0.0):
                raise TargetError(
                    f"The pod of the Job {self._job} cannot run: "
                    f"{reason}.{NO_SHELL if '/bin/sh' in str(reason) else ''}"
                )
            # While another one has a pod, this one may just have to wait for it.
            is_alone = not any(other.container for other in target.workers())
            if alone.for_long(is_alone, target.spec.start_timeout_s):
                raise TargetError(
                    f"The pod of the Job {self._job} does not run after "
                    f"{target.spec.start_timeout_s:g} s: {self._waits_for(job, pod)}."
                )
            cluster.pause(LOOK_EVERY_S)

    def _waits_for(self, job: Object, pod: Object | None) -> str:
        """What the cluster says of the pod, or of the Job, such as a quota that forbids its pod."""
        if pod:
            return pod_problems.not_yet(pod)
        if job["spec"].get("suspend"):
            return "the Job is suspended, so its queue does not admit it"
        where, of_it = self._target.spec.namespace, f"involvedObject.name={self._job},type=Warning"
        what, method = f"list the events of the Job {self._job}", "core.list_namespaced_event"
        try:
            listed = self._target.cluster.call(what, method, where, field_selector=of_it)
            return str(listed["items"][-1].get("message"))
        except ClusterError as error:
            return str(error)
        except IndexError:
            return "the cluster makes no pod for it, and says nothing of it"

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run the command in the pod; a pod that is gone meanwhile makes the trial lost."""
        assert self.container is not None
        return trial.execute(self.container, command, timeout_s, self._target.around.note)

    def stop(self) -> str | None:
        """Remove the Job with its pod; what could not be done, in words."""
        self.container = None
        self.place.enter(None)
        if not self._job:
            return None
        name, namespace = self._job, self._target.spec.namespace
        try:
            remove(self._target.cluster, name, namespace)
        except ClusterError as error:
            return f"The Job {name} in the namespace {namespace} could not be removed: {error}"
        self._job = ""
        return None


def remove(cluster: Cluster, name: str, namespace: str) -> None:
    """Remove a Job with its pod, unless it is gone."""
    what, options = f"remove the Job {name}", {"propagation_policy": "Background"}
    with contextlib.suppress(AbsentError):
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
    labels = {**job.labels, **OURS, RUN_LABEL: label_value(run_id), LEASE_LABEL: label_value(lease)}
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
    mount = {"name": VOLUME, "mountPath": str(HOME)}
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
            "volumes": [*job.volumes, {"name": VOLUME, "emptyDir": {}}],
        }
    )


def _stated(part: dict[str, Any]) -> dict[str, Any]:
    """Without what the study does not say."""
    return {key: value for key, value in part.items() if value not in (None, [], {})}


def resources(job: JobSpec, wanted: Limits) -> dict[str, Any]:
    """The resources of a trial's container: reserved is the limit itself, unless the study says
    otherwise."""
    reserved = None if job.cpu_request is None else quantity("requests.cpu", job.cpu_request)
    own = dict.fromkeys(FACTORS.values()) | {"requests.cpu": reserved, "limits.memory": job.memory}
    amounts = dict(for_template(Resources(own), wanted).amounts)
    for name in (CPU, MEMORY):
        amounts[f"{REQUESTS}.{name}"] = amounts[f"{REQUESTS}.{name}"] or amounts[f"{LIMITS}.{name}"]
    return Resources({key: amount for key, amount in amounts.items() if amount}).as_patch()
