"""What a sweep of a workload would meet in its cluster, looked at without changing anything: for
`deadzone doctor --kubernetes`."""

from collections.abc import Callable, Iterator
from functools import partial

from deadzone.check import State
from deadzone.plugins import Check, DeadzoneError, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import ClusterError
from deadzone_kubernetes.api.streams import NoProgramError, Spot, run
from deadzone_kubernetes.container.container import SHELLS
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
    manifest = workload.read(cluster)
    lines = [
        *_rights(cluster, workload),
        _annotation(workload, manifest),
        *_containers(workload, manifest),
    ]
    pods = workload.pods(cluster)
    lines += _pods(cluster, workload, manifest, pods)
    lines += _rollout(cluster, workload, manifest)
    lines += [_autoscaler(cluster, workload), *_owner(manifest, workload)]
    return lines


def _rights(cluster: Cluster, workload: KubernetesWorkload) -> Iterator[Check]:
    lacks: dict[str, list[str]] = {}
    for resource, (group, verbs) in RIGHTS.items():
        if resource in ("deployments", "statefulsets") and resource != f"{workload.kind}s":
            continue
        plain, _, below = resource.partition("/")
        for verb in verbs.split():
            attributes = {
                "namespace": workload.namespace,
                "verb": verb,
                "group": group,
                "resource": plain,
            }
            asked = {
                "spec": {
                    "resourceAttributes": {
                        **attributes,
                        **({"subresource": below} if below else {}),
                    }
                }
            }
            answer = cluster.call(
                "ask for its rights", "authorization.create_self_subject_access_review", asked
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


def _annotation(workload: KubernetesWorkload, manifest: Object) -> Check:
    try:
        workload.check_allowed(manifest, allow=False)
    except TargetError:
        command = (
            f"kubectl annotate -n {workload.namespace} {workload.kind} {workload.name} "
            f"{PERMISSION}={ALLOWED}"
        )
        return Check(
            "permission",
            "missing",
            f"no annotation {PERMISSION}: {ALLOWED}",
            f"its owner gives it: {command}",
        )
    return Check("permission", "works", f"{PERMISSION}: {ALLOWED}")


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
    yield _shell(cluster, workload, manifest, pods[-1])
    try:
        services = services_of(cluster, workload.namespace, pods[-1])
    except ClusterError:
        return
    names = ", ".join(service["metadata"]["name"] for service in services) or "none"
    several = services and len(pods) > 1
    remedy = "a load through it reaches all: write `pods: all` under target" if several else ""
    yield Check("pods", "works", f"{len(pods)}, behind the Services: {names}", remedy)


def _shell(cluster: Cluster, workload: KubernetesWorkload, manifest: Object, pod: Object) -> Check:
    container = workload.template(manifest)["containers"][0]["name"]
    for shell in SHELLS:
        try:
            if (
                run(
                    cluster, Spot.of(pod, container), (*shell, "-c", "exit 0"), timeout_s=30.0
                ).returncode
                == 0
            ):
                return Check("shell", "works", f"{' '.join(shell)} in the container {container}")
        except NoProgramError:
            continue
        except DeadzoneError as error:
            return Check("shell", "missing", str(error))
    remedy = "name an image with a static busybox: target.launcher_image"
    return Check("shell", "missing", f"none in the container {container}", remedy)


def _rollout(cluster: Cluster, workload: KubernetesWorkload, manifest: Object) -> Iterator[Check]:
    """What may be in the way of a rollout; nothing of a pod by itself, which has none."""
    if workload.kind == POD:
        return
    container = workload.template(manifest)["containers"][0]
    now = Resources.of(container)
    yield _tried(
        "quota and range",
        partial(try_rollout, cluster, workload, manifest, container["name"], now),
        "use target.change: resize, or ask for more room",
        "a rollout at the limit of now fits; a sweep tries each level before its first trial",
    )
    yield _tried(
        "budget",
        partial(try_eviction, cluster, workload, manifest),
        "use target.change: resize, which takes no pod away",
        "no PodDisruptionBudget is short of pods in a rollout",
    )


def _tried(name: str, attempt: Callable[[], None], remedy: str, otherwise: str) -> Check:
    try:
        attempt()
    except TargetError as error:
        return Check(name, "optional", str(error), remedy)
    return Check(name, "works", otherwise)


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


def _owner(manifest: Object, workload: KubernetesWorkload) -> Iterator[Check]:
    metadata = manifest["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    named = [f"{who} ({key})" for key, who in GITOPS.items() if key in marks]
    managers = {str(entry.get("manager")) for entry in metadata.get("managedFields") or []}
    reverting = sorted(manager for manager in managers if manager.startswith(REVERTS))
    if named or reverting:
        who = ", ".join([*named, *reverting])
        remedy = (
            "pause its synchronisation for the sweep: it would set the limits back, which stops a "
            "sweep"
        )
        yield Check("owner", "optional", f"made by {who}", remedy)
        return
    container = workload.template(manifest)["containers"][0]["name"]
    owner = owner_of(manifest, path_of(workload.kind, container, "limits.cpu"))
    yield Check(
        "owner",
        "works",
        f"its limits were set by {owner.manager} last"
        if owner
        else "it is not known who set its limits",
    )
