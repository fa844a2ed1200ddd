"""Whether the cluster would take every level of a sweep, asked before the first trial and without changing anything.

A resize is tried by the API server itself (`dryRun=All`). Of a rollout it says nothing before a pod is made, so quotas and ranges are
read as well.
"""

from collections.abc import Sequence

from deadzone.measuring.targets.kubernetes import resources, room
from deadzone.measuring.targets.kubernetes.cluster import Cluster, Object
from deadzone.measuring.targets.kubernetes.resources import CpuResources
from deadzone.measuring.targets.kubernetes.workload import POD, Workload, container_of, try_resize


def try_levels(
    cluster: Cluster,
    workload: Workload,
    container: str,
    original: CpuResources,
    pods: Sequence[Object],
    levels: Sequence[float | None],
    change: str,
) -> list[str]:
    """Ask whether each level may be; returns what a person should know of them before the sweep.

    original: what the template has. pods: those that are at the level of a trial. levels: CPU limits, None for no limit [cores].
    change: how they are put in force, as the target says.

    Raises TargetError where one may not: by validation, a quota, a range or an admission policy.
    """
    rolled: list[CpuResources] = []
    for cores in levels:
        wanted = [_by_resize(pod, container, cores) for pod in pods]
        if change != "patch" and None not in wanted:
            for pod, one in zip(pods, wanted, strict=True):
                assert one is not None
                try_resize(cluster, pod, container, one)
        elif workload.kind != POD and change != "resize":
            rolled.append(resources.for_template(original, cores))
    if not rolled:
        return []
    found = workload.read(cluster)
    for template in rolled:
        workload.patch_template(cluster, container, template, found, dry_run=True)
    room.check(cluster, workload, found, container, [original, *rolled])
    pod = {"spec": workload.template(found)}
    now = resources.qos_class(pod["spec"]["containers"])
    classes = ((one, resources.qos_class_with(pod, container, one)) for one in rolled)
    return [
        f"with {one} the pods of {workload} are of the QoS class {other}, now {now}"
        for one, other in classes
        if other != now
    ]


def _by_resize(pod: Object, name: str, cores: float | None) -> CpuResources | None:
    """What a pod's container is resized to for a limit; None where it cannot be."""
    container = container_of(pod["spec"], name, pod["metadata"]["name"])
    if cores is None or resources.why_not_resizable(pod, container, cores):
        return None
    return resources.for_resize(pod, container, cores)
