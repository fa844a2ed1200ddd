"""Whether the cluster would take every level of a sweep, asked of its API server before the first
trial and without changing anything (`dryRun=All`).

A rolling change runs a new pod beside the old ones, so one of each level is asked for beside those
of now (Kubernetes documentation, "Deployments", "Max Surge", and "Resource Quotas").

What `deadzone doctor` says of a cluster, and with --kubernetes what a sweep of a workload would
meet there, tried without changing anything.

Which pods a load reaches: those that a Service selects, so that none of them has another level
than the trial says.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from deadzone.plugins import Check, DeadzoneError, Limits, TargetError
from deadzone_kubernetes.api.cluster import (
    Cluster,
    MissingVerbError,
    Object,
    RefusedError,
    is_configured,
)
from deadzone_kubernetes.container import resources
from deadzone_kubernetes.container.container import PodContainer
from deadzone_kubernetes.lease.giving_back import Original
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.workload import (
    DEPLOYMENT,
    POD,
    KubernetesWorkload,
    container_of,
    is_ending,
    label_selector,
    pods_of,
    try_resize,
)

EXCEEDED = "exceeded quota"
"""How the API server words that a quota has no room for one pod more."""


def try_levels(
    workload: KubernetesWorkload,
    original: Original,
    pods: Sequence[Object],
    levels: Sequence[Limits],
    change: str,
    note: Callable[[str], None],
) -> None:
    """Ask whether each level may be.

    original: what the template has. pods: those that are at the level of a trial. levels: limits
    and requests. change: how they are put in force, as the target says. note: told of a QoS class
    that changes.

    Raises TargetError where one may not: by validation, a quota, a range, an admission policy, or a
    budget.
    """
    rolled: list[resources.Resources] = []
    for level in levels:
        must = resources.required(original.resources, level)
        whether = (_why_no_resize(workload.cluster, pod, original.container, must) for pod in pods)
        why_not = "the study says so" if change == "patch" else next(filter(None, whether), None)
        if not why_not:
            continue
        if change == "resize" or workload.kind == POD:
            instead = "target.change: auto or patch" if workload.kind != POD else "its Deployment"
            raise TargetError(
                f"The resources of {workload} cannot be changed to {must} by a resize: "
                f"{why_not.rstrip('.')}. Use {instead}."
            )
        rolled.append(resources.for_template(original.resources, level))
    if not rolled:
        return
    manifest = workload.read()
    now = pods[0]["status"]["qosClass"]
    for template in rolled:
        other = try_rollout(workload, manifest, original.container, template)
        if other not in (None, now):
            note(f"with {template} the pods of {workload} are of the QoS class {other}, now {now}")
    try_eviction(workload, manifest)


def _why_no_resize(
    cluster: Cluster, pod: Object, name: str, must: resources.Resources
) -> str | None:
    """Why a pod's container cannot be resized; None where it can be."""
    container = container_of(pod["spec"], name, pod["metadata"]["name"])
    if why_not := resources.why_not_resizable(container, must):
        return why_not
    try:
        before = resources.Resources.of(container, must.names)
        try_resize(cluster, pod, name, resources.for_resize(pod, must, before))
    except RefusedError as error:
        return str(error)
    return None


def try_rollout(
    workload: KubernetesWorkload, manifest: Object, container: str, level: resources.Resources
) -> str | None:
    """Ask for a template with a level, and for a pod of it beside those of now; the QoS class that
    this pod would have.

    Raises TargetError where the server refuses one. A quota is no obstacle where an old pod ends
    first. An account without the verb to make pods is not told of quotas, ranges and classes.
    """
    made = workload.patch_template(container, level, manifest, dry_run=True)["spec"]
    template, what = made["template"], f"make a pod of {workload} with {level} beside those of now"
    claims = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}}
        for name in (claim["metadata"]["name"] for claim in made.get("volumeClaimTemplates") or [])
    ]
    pod = {
        "metadata": {**template["metadata"], "generateName": f"{workload.name}-"},
        "spec": {
            **template["spec"],
            "volumes": [*(template["spec"].get("volumes") or []), *claims],
        },
    }
    try:
        with contextlib.suppress(MissingVerbError):
            method = "core.create_namespaced_pod"
            tried = workload.cluster.call(what, method, workload.namespace, pod, dry_run="All")
            return str(tried["status"]["qosClass"])
    except RefusedError as error:
        if EXCEEDED not in str(error) or not _ends_pods_first(workload, manifest):
            raise TargetError(
                f"{error} Nothing was changed. Use other levels, target.change: resize, or ask for "
                "more room."
            ) from error
    return None


def try_eviction(workload: KubernetesWorkload, manifest: Object) -> None:
    """Ask for a pod to be taken away, where a rollout takes one away before it makes another.

    The API server lets a rollout do so, for budgets bind evictions alone (Kubernetes documentation,
    "Disruptions"); but what the owner promised of his pods holds for a sweep too. Raises
    TargetError where a PodDisruptionBudget forbids it; an account without the verb is not told.
    """
    if not _ends_pods_first(workload, manifest):
        return
    what = f"take a pod of {workload} away before another is there, as its rollout does"
    for name in map(_name, workload.pods()[-1:]):
        eviction = {"metadata": {"name": name, "namespace": workload.namespace}}
        where = ("core.create_namespaced_pod_eviction", name, workload.namespace)
        try:
            with contextlib.suppress(MissingVerbError):
                workload.cluster.call(what, *where, eviction, dry_run="All")
        except RefusedError as error:
            raise TargetError(
                f"{error} Nothing was changed. Use target.change: resize, or a strategy that makes "
                "a new pod before it ends an old one (maxUnavailable: 0)."
            ) from error


def _ends_pods_first(workload: KubernetesWorkload, manifest: Object) -> bool:
    """Whether a rollout takes a pod away before it makes another."""
    rolling = (manifest["spec"].get("strategy") or {}).get("rollingUpdate")
    if workload.kind != DEPLOYMENT or not rolling or str(rolling.get("maxSurge")) in ("0", "0%"):
        return True  # without a surge it takes away one at least
    share, replicas = str(rolling["maxUnavailable"]), int(manifest["spec"].get("replicas", 1))
    percent = share.removesuffix("%")
    return (float(percent) * replicas / 100 if percent != share else float(share)) >= 1


def check_reached(workload: KubernetesWorkload, pod: Object, *, is_all: bool) -> None:
    """Raise TargetError where a Service of a swept pod sends to pods that are not at the level of a
    trial. is_all: whether every pod of the workload is at the level."""
    at_level = set(map(_name, workload.pods())) if is_all else {_name(pod)}
    what, method = f"list the Services of {workload}", "core.list_namespaced_service"
    labels = pod["metadata"].get("labels") or {}
    for service in workload.cluster.call(what, method, workload.namespace)["items"]:
        selector, where = service["spec"].get("selector"), f"the Service {_name(service)}"
        if not selector or not selector.items() <= labels.items():
            continue
        fits = label_selector({"matchLabels": selector})
        every = pods_of(workload.cluster, where, workload.namespace, fits)
        running = [one for one in every if one["status"].get("phase") in ("Pending", "Running")]
        reached = {_name(one) for one in running if not is_ending(one)}
        if beside := sorted(reached - at_level):
            scale = f"kubectl -n {workload.namespace} scale {workload.kind}/{workload.name}"
            raise TargetError(
                f"A load through {where} reaches {len(reached)} pods, and these would not be at "
                f"the level of a trial: {', '.join(beside)}. Write `pods: all` under target, scale "
                f"it down first (`{scale} --replicas=1`), or use a Service of {workload} alone."
            )


def _name(found: Object) -> str:
    return str(found["metadata"]["name"])


MOST_SAID = 200
"""How much of what a cluster answers is shown [characters]."""

NEEDED = ("permission", "lock", "autoscaler", "shell")
"""Without these nothing can be swept; of a resize and a rollout one is enough."""


def examine_workload(context: str | None, named: str) -> list[Check]:
    """What a sweep would meet. named: NAMESPACE/WORKLOAD, the workload with or without its kind:
    shop/deployment/burner, shop/burner.

    Raises TargetError where the name is none, there is no such workload, or it has no pod.
    """
    namespace, _, name = named.partition("/")
    if not namespace or not name:
        raise TargetError(
            f"--kubernetes {named}: write NAMESPACE/WORKLOAD, such as shop/deployment/burner."
        )
    cluster, full = Cluster(context), name if "/" in name else f"deployment/{name}"
    checks = []
    for what, attempt in _attempts(KubernetesWorkload.find(cluster, namespace, full)).items():
        try:
            checks.append(Check(what, "works", str(attempt() or "nothing is in the way")))
        except TargetError as error:
            checks.append(Check(what, "missing" if what in NEEDED else "optional", str(error)))
    return checks


def _attempts(workload: KubernetesWorkload) -> dict[str, Callable[[], object]]:
    """What a sweep does before its first trial, by name."""
    manifest, pods, cluster = workload.read(), workload.pods(), workload.cluster
    if not pods:
        raise TargetError(f"{workload} has no pod; scale it to one or more.")
    container = workload.template(manifest)["containers"][0]
    name, now = container["name"], resources.Resources.of(container)
    inside = PodContainer(cluster, pods[-1], name, PurePosixPath("/tmp"))

    def scaled() -> str:
        unseen: list[str] = []
        scalers = autoscaler.at_work(workload, unseen.append)
        autoscaler.check(scalers, workload, int(manifest["spec"].get("replicas", 1)))
        return "; ".join(unseen)

    def locked() -> None:
        lock, method = {"metadata": {"generateName": "d-"}}, "coordination.create_namespaced_lease"
        cluster.call("make a lock", method, workload.namespace, lock, dry_run="All")

    attempts: dict[str, Callable[[], object]] = {
        "permission": partial(workload.check_allowed, manifest, allow=False),
        "lock": locked,
        "autoscaler": scaled,
        "shell": lambda: f"{' '.join(inside.find_shell())} in the container {name}",
        "resize": partial(try_resize, cluster, pods[-1], name, now),
    }
    if workload.kind != POD:
        rollout = partial(try_rollout, workload, manifest, name, now)
        attempts["rollout"] = lambda: f"of the QoS class {rollout() or 'that is not known'}"
        attempts["budget"] = partial(try_eviction, workload, manifest)
    return attempts


def checks() -> Iterator[Check]:
    """Ask the API server that the kubeconfig, or the pod this runs in, names."""
    problem = "no kubeconfig, and not inside a pod"
    if is_configured():
        try:
            version = Cluster(patience_s=0).call("tell its version", "version.get_code")
            yield Check("Kubernetes", "works", f"API server {version['gitVersion']}")
            return
        except DeadzoneError as error:
            problem = str(error)
            problem = problem if len(problem) <= MOST_SAID else f"{problem[:MOST_SAID]}..."
    yield Check("Kubernetes", "optional", f"no cluster: {problem}", "set KUBECONFIG")
