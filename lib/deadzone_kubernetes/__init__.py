"""Pods: a container that runs in a Kubernetes cluster, or a Job for each trial, as the target of a
study."""

from deadzone.plugins import Kind, Pack

PACK = Pack(
    "kubernetes",
    targets={
        "kubernetes": Kind(
            spec="deadzone_kubernetes.specs:KubernetesTargetSpec",
            make="deadzone_kubernetes.exec_target:make_target",
            give_back="deadzone_kubernetes.lease.restoring:give_back",
        )
    },
    checks=("deadzone_kubernetes.survey.trying:checks",),
    application="deadzone_kubernetes.patch.manifest:consequences",
    applied="deadzone_kubernetes.patch.manifest:applied",
    manifest="deadzone_kubernetes.patch.manifest:printed",
    examine_workload="deadzone_kubernetes.survey.trying:examine_workload",
    restore_clusters="deadzone_kubernetes.lease.restoring:restore_clusters",
)
