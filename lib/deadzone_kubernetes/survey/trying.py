"""Whether the cluster would take every level of a sweep, asked before the first trial and without
changing anything.

A resize is tried by the API server itself (`dryRun=All`). Of a rollout it says nothing before a pod
is made, so quotas and ranges are read as well.
"""

from collections.abc import Sequence

from deadzone.plugins import Limits
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.container import resources
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.survey import room
from deadzone_kubernetes.workload import POD, KubernetesWorkload, container_of, try_resize


def try_levels(
    cluster: Cluster,
    workload: KubernetesWorkload,
    container: str,
    original: Resources,
    pods: Sequence[Object],
    levels: Sequence[Limits],
    change: str,
) -> list[str]:
    """Ask whether each level may be; returns what a person should know of them before the sweep.

    original: what the template has. pods: those that are at the level of a trial. levels: limits
    and requests. change: how they are put in force, as the target says.

    Raises TargetError where one may not: by validation, a quota, a range or an admission policy.
    """
    rolled: list[Resources] = []
    for level in levels:
        must = resources.required(original, level)
        wanted = [_by_resize(pod, container, must) for pod in pods]
        if change != "patch" and None not in wanted:
            for pod, amounts in zip(pods, wanted, strict=True):
                assert amounts is not None
                try_resize(cluster, pod, container, amounts)
        elif workload.kind != POD and change != "resize":
            rolled.append(resources.for_template(original, level))
    if not rolled:
        return []
    manifest = workload.read(cluster)
    for template in rolled:
        workload.patch_template(cluster, container, template, manifest, dry_run=True)
    room.check(cluster, workload, manifest, container, [original, *rolled])
    room.check_budgets(cluster, workload, manifest)
    pod = {"spec": workload.template(manifest)}
    now = resources.qos_class(pod["spec"]["containers"])
    classes = ((amounts, resources.qos_class_with(pod, container, amounts)) for amounts in rolled)
    return [
        f"with {amounts} the pods of {workload} are of the QoS class {other}, now {now}"
        for amounts, other in classes
        if other != now
    ]


def _by_resize(pod: Object, name: str, must: Resources) -> Resources | None:
    """What a pod's container is resized to; None where it cannot be."""
    container = container_of(pod["spec"], name, pod["metadata"]["name"])
    why_not = resources.why_not_resizable(pod, container, must)
    return None if why_not else resources.for_resize(pod, container, must)
