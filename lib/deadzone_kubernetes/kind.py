"""The target of a study that names Kubernetes: in a container that runs already, or in a Job; and
what it left there."""

from collections.abc import Callable

from deadzone.plugins import PlannedTarget, Surroundings, Target
from deadzone_kubernetes.exec_target import ExecTarget
from deadzone_kubernetes.job_target import JobTarget
from deadzone_kubernetes.lease.restoring import restore_reachable
from deadzone_kubernetes.specs import KubernetesTargetSpec


def make_target(planned: PlannedTarget, around: Surroundings) -> Target:
    """The target that a plan names."""
    spec = planned.spec
    assert isinstance(spec, KubernetesTargetSpec)
    if spec.mode == "job":
        return JobTarget(spec, planned.limits, around)
    return ExecTarget(spec, planned.limits, around, planned.is_asked)


def give_back(spec: KubernetesTargetSpec, note: Callable[[str], None]) -> None:
    """Give back what killed sweeps left in the namespace of a target. note: is told what was done,
    and what could not be."""
    result = restore_reachable(spec.context, note, (spec.namespace,), only=True)
    for sentence in (*result.done, *result.busy, *result.problems):
        note(sentence)
    if result.problems:
        note("What killed sweeps left in that cluster, `deadzone restore` gives back.")
