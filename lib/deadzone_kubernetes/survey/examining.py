"""What a sweep of a workload would meet in its cluster, looked at without changing anything: for
`deadzone doctor --kubernetes`."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from deadzone.check import State
from deadzone.plugins import Check, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import ClusterError
from deadzone_kubernetes.api.streams import Spot
from deadzone_kubernetes.container.container import PodContainer
from deadzone_kubernetes.container.resources import CPU, MEMORY, Resources, qos_class
from deadzone_kubernetes.survey.reached import services_of
from deadzone_kubernetes.survey.trying import try_eviction, try_rollout
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.watch.owners import owner_of, path_of
from deadzone_kubernetes.workload import ALLOWED, PERMISSION, POD, KubernetesWorkload

RIGHTS = {
    "pods": ("", "get list create"),
    "pods/eviction": ("", "create"),
    "pods/exec": ("", "get create"),
    "pods/resize": ("", "patch"),
    "deployments": ("apps", "get patch"),
    "statefulsets": ("apps", "get patch"),
    "leases": ("coordination.k8s.io", "get create update delete"),
    "replicasets": ("apps", "list patch delete"),
    "controllerrevisions": ("apps", "list patch delete"),
    "services": ("", "list"),
    "horizontalpodautoscalers": ("autoscaling", "list patch"),
}
"""Verbs that a sweep by exec uses, by resource with its API group, as deploy/rbac.yaml has them."""

NEEDED = ("pods", "pods/exec", "deployments", "statefulsets", "leases")
"""Without these nothing can be swept; without the others something is not seen or not kept."""

REMEDY = "apply the Role of deploy/rbac.yaml in the namespace"

GITOPS = {
    "app.kubernetes.io/instance": "Argo CD or Helm",
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
    "meta.helm.sh/release-name": "Helm",
}
"""Labels and annotations of those who make a workload from a repository, and may revert a sweep."""

REVERTS = ("argocd", "kustomize-controller", "helm-controller", "fleet")
"""Managers in managedFields that set a workload back to what their repository says, again and
again."""


def examine_workload(context: str | None, named: str) -> list[Check]:
    """What a sweep would meet. named: NAMESPACE/WORKLOAD, the workload with or without its kind:
    shop/deployment/burner, shop/burner.

    Raises TargetError where the name is none, or there is no such workload.
    """
    namespace, _, name = named.partition("/")
    if not namespace or not name:
        raise TargetError(
            f"--kubernetes {named}: write NAMESPACE/WORKLOAD, such as shop/deployment/burner."
        )
    cluster = Cluster(context)
    full = name if "/" in name else f"deployment/{name}"
    workload = KubernetesWorkload.find(cluster, namespace, full)
    manifest, pods = workload.read(cluster), workload.pods(cluster)
    may = partial(workload.check_allowed, manifest, allow=False)
    return [
        *_rights(cluster, workload),
        _tried("permission", may, f"{PERMISSION}: {ALLOWED}", "its owner gives it"),
        *_containers(workload, manifest),
        *_pods(cluster, workload, manifest, pods),
        *_rollout(cluster, workload, manifest),
        _autoscaler(cluster, workload),
        _owner(manifest, workload),
    ]


def _tried(
    name: str,
    attempt: Callable[[], Sequence[str] | None],
    works: str,
    remedy: str,
    otherwise: State = "missing",
) -> Check:
    """What an attempt comes to. works: what is said where it does, before what it found. otherwise:
    the state where it raises TargetError."""
    try:
        found = attempt()
    except TargetError as error:
        return Check(name, otherwise, str(error), remedy)
    return Check(name, "works", works + (" ".join(found) if found else ""))


def _rights(cluster: Cluster, workload: KubernetesWorkload) -> Iterator[Check]:
    lacks: dict[str, list[str]] = {}
    for resource, (group, verbs) in RIGHTS.items():
        if resource in ("deployments", "statefulsets") and resource != f"{workload.kind}s":
            continue
        plain, _, below = resource.partition("/")
        asked = {"namespace": workload.namespace, "group": group, "resource": plain}
        for verb in verbs.split():
            attributes = {**asked, "subresource": below, "verb": verb}
            answer = cluster.call(
                *("ask for its rights", "authorization.create_self_subject_access_review"),
                {"spec": {"resourceAttributes": attributes}},
            )
            if not answer["status"].get("allowed"):
                lacks.setdefault(resource, []).append(verb)
    for resource, verbs_lacked in lacks.items():
        # pods are made by dryRun alone
        is_needed = resource in NEEDED and (resource, verbs_lacked) != ("pods", ["create"])
        state: State = "missing" if is_needed else "optional"
        yield Check("rights", state, f"lacks {', '.join(verbs_lacked)} for {resource}", REMEDY)
    if not lacks:
        yield Check("rights", "works", "all that a sweep uses")


def _containers(workload: KubernetesWorkload, manifest: Object) -> Iterator[Check]:
    containers = workload.template(manifest)["containers"]
    sentence = "; ".join(
        f"{container['name']}: {Resources.of(container, (CPU, MEMORY))}" for container in containers
    )
    remedy = "name the one that is meant: target.container" if len(containers) > 1 else ""
    yield Check("containers", "works", sentence, remedy)
    quality = qos_class(containers)
    yield Check("QoS class", "works", f"{quality}; a resize keeps it, change: patch may not")


def _pods(
    cluster: Cluster, workload: KubernetesWorkload, manifest: Object, pods: list[Object]
) -> Iterator[Check]:
    if not pods:
        yield Check("pods", "missing", "there is none", "scale the workload to one or more")
        return
    name = workload.template(manifest)["containers"][0]["name"]
    container = PodContainer(cluster, Spot.of(pods[-1], name), PurePosixPath("/tmp"))
    yield _tried("shell", container.find_shell, f"in the container {name}: ", "")
    try:
        services = services_of(cluster, workload.namespace, pods[-1])
    except ClusterError:
        return
    names = ", ".join(service["metadata"]["name"] for service in services) or "none"
    several = services and len(pods) > 1
    remedy = "a load through it reaches all: write `pods: all` under target" if several else ""
    yield Check("pods", "works", f"{len(pods)}, behind the Services: {names}", remedy)


def _rollout(cluster: Cluster, workload: KubernetesWorkload, manifest: Object) -> Iterator[Check]:
    """What may be in the way of a rollout; nothing of a pod by itself, which has none."""
    if workload.kind == POD:
        return
    container = workload.template(manifest)["containers"][0]
    now = Resources.of(container)
    yield _tried(
        "quota and range",
        partial(try_rollout, cluster, workload, manifest, container["name"], now),
        "a rollout at the limit of now fits; a sweep tries each level before its first trial",
        "use target.change: resize, or ask for more room",
        "optional",
    )
    yield _tried(
        "budget",
        partial(try_eviction, cluster, workload, manifest),
        "no PodDisruptionBudget is short of pods in a rollout",
        "use target.change: resize, which takes no pod away",
        "optional",
    )


def _autoscaler(cluster: Cluster, workload: KubernetesWorkload) -> Check:
    unseen: list[str] = []
    scalers = autoscaler.at_work(cluster, workload, unseen.append)
    try:
        autoscaler.check(scalers, workload, is_paused=True)
    except TargetError as error:
        return Check("autoscaler", "missing", str(error))
    if scalers:
        sentence = ", ".join(f"{scaler.kind.name} {scaler.name}" for scaler in scalers)
        return Check("autoscaler", "optional", sentence, "write `autoscaler: pause` under target")
    if unseen:
        return Check("autoscaler", "optional", "; ".join(unseen), REMEDY)
    return Check("autoscaler", "works", "none")


def _owner(manifest: Object, workload: KubernetesWorkload) -> Check:
    metadata = manifest["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    named = [f"{who} ({key})" for key, who in GITOPS.items() if key in marks]
    managers = {str(entry.get("manager")) for entry in metadata.get("managedFields") or []}
    reverting = sorted(manager for manager in managers if manager.startswith(REVERTS))
    if makers := ", ".join([*named, *reverting]):
        remedy = "pause its synchronisation: it would set the limits back, which stops a sweep"
        return Check("owner", "optional", f"made by {makers}", remedy)
    container = workload.template(manifest)["containers"][0]["name"]
    owner = owner_of(manifest, path_of(workload.kind, container, "limits.cpu"))
    who = f"{owner.manager} set its limits last" if owner else "it is not known who set its limits"
    return Check("owner", "works", who)
