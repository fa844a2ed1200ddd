"""The Kubernetes target of a study: a container that runs there already, or a pod for each
trial."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from deadzone.plugins import UNCHANGED, Spec, TargetSpec
from deadzone.study.factors import FactorLevel, SizeLevel
from deadzone.study.target_spec import POD_LIMITS

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
"""Names of namespaces and containers."""

OBJECT_NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"

MOST_PARALLEL = 1_000
"""Trials at once beyond this are a slip of the keyboard, or no longer independent of each other."""


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"is {path!r}; a path in a container begins with /")
    return path.rstrip("/") or "/"


ContainerPath = Annotated[str, AfterValidator(_absolute)]


class JobSpec(Spec):
    """The pod that a Job makes for each trial."""

    image: str = Field(min_length=1)
    """image whose program is measured"""

    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """as in a pod; default the cluster's"""

    image_pull_secrets: tuple[str, ...] = ()
    """names of Secrets for the registry"""

    parallelism: int = Field(default=1, ge=1, le=MOST_PARALLEL)
    """trials of the study that run at once [count]"""

    one_a_node: bool = True
    """never two pods of Deadzone on one node; false where they may share one"""

    queue: str | None = Field(default=None, pattern=OBJECT_NAME)
    """Kueue LocalQueue that admits the Jobs"""

    cpu_request: float | None = Field(default=None, gt=0)
    """CPU reserved for a trial [cores]; default the limit itself"""

    memory: str | None = None
    """memory request and limit, as in a pod: 512Mi"""

    service_account: str | None = Field(default=None, pattern=OBJECT_NAME)
    """account of the pods"""

    priority_class: str | None = Field(default=None, pattern=OBJECT_NAME)
    """of the pods of the Job"""

    node_selector: dict[str, str] = Field(default_factory=dict)
    """labels that a node must have"""

    tolerations: tuple[dict[str, Any], ...] = ()
    """as in a pod"""

    volumes: tuple[dict[str, Any], ...] = ()
    """as in a pod"""

    volume_mounts: tuple[dict[str, Any], ...] = ()
    """as in a container"""

    env: dict[str, str] = Field(default_factory=dict)
    """environment of the container"""

    labels: dict[str, str] = Field(default_factory=dict)
    """labels added to Jobs and pods"""

    security_context: dict[str, Any] = Field(default_factory=dict)
    """as in a container"""

    longest_s: float = Field(default=86_400.0, gt=0)
    """a Job is ended by the cluster after this at the latest [s]"""


class KubernetesTargetSpec(TargetSpec):
    """A container in a Kubernetes cluster: of a workload that runs there, or of a fresh pod for
    each trial."""

    gone: ClassVar = {
        "prometheus_url": "ask it for the time of a trial, from its started_at for its wall_s",
        "selector": "name the one workload that has the labels: workload: deployment/NAME",
    }
    kind: Literal["kubernetes"]
    limits_here: ClassVar[bool] = False
    shares_limits: ClassVar[tuple[str, ...]] = POD_LIMITS
    mode: Literal["exec", "job"] = "exec"
    """exec: in a container that runs already; job: in a fresh pod for each trial"""

    context: str | None = None
    """context of the kubeconfig; default the current one"""

    namespace: str = Field(default="default", pattern=DNS_LABEL, max_length=63)
    """of the workload, or of the Jobs"""

    workload: str | None = Field(
        default=None, pattern=r"^(deployment|statefulset|pod)/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
    )
    """exec: the workload whose container is used, such as deployment/encoder"""

    container: str | None = Field(default=None, pattern=DNS_LABEL)
    """exec: the container; needed where the pod has several"""

    change: Literal["auto", "resize", "patch"] = "auto"
    """exec: how the limit is changed: in place, by patching the workload and waiting for the
    rollout, or in place where that is possible"""

    autoscaler: Literal["refuse", "pause"] = "refuse"
    """exec: what to do about autoscalers of the workload (HorizontalPodAutoscaler,
    VerticalPodAutoscaler, ScaledObject): refuse the sweep, or hold them meanwhile and give them
    back"""

    pods: Literal["one", "all"] = "one"
    """exec: which pods of the workload are at the level of a trial; all, where a load reaches all
    of them through a Service"""

    allow: bool = False
    """exec: sweep a workload that lacks the annotation deadzone.dev/sweep"""

    job: JobSpec | None = None
    """job: the pod of a trial"""

    cpu_limit: FactorLevel = UNCHANGED
    """CPU limit of every trial where it is no factor [cores]; unchanged: the workload's own, in a
    Job none"""

    cpu_request: FactorLevel = UNCHANGED
    """CPU request of every trial where it is no factor [cores]; unchanged: the workload's own, but
    never above the limit, in a Job as `job` says"""

    memory_limit: SizeLevel = UNCHANGED
    """memory limit of every trial where it is no factor [bytes]; unchanged: the workload's own, in
    a Job as `job` says"""

    memory_request: SizeLevel = UNCHANGED
    """memory request of every trial where it is no factor [bytes]; unchanged: the workload's own,
    but never above the limit, in a Job the limit"""

    launcher_image: str | None = None
    """image with a static /bin/busybox, for containers that have no shell: it is lent to them"""

    scratch: ContainerPath = "/tmp"
    """folder of the container in which trials may write"""

    inputs: dict[str, ContainerPath] = Field(default_factory=dict)
    """input files that lie in the container already, by file name; others are copied there"""

    start_timeout_s: float = Field(default=300.0, gt=0)
    """longest wait for a rollout, a resize or a pod to start [s]"""

    def _hangs_together(self) -> None:
        if self.mode == "job":
            if self.job is None:
                raise ValueError("has mode: job but no job; give at least job: {image: ...}")
            for name in ("workload", "container"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"has {name}, which is for mode: exec; a Job makes its own pod"
                    )
        elif self.job is not None:
            raise ValueError("has job, which is for mode: job")
        elif self.workload is None:
            raise ValueError("needs a workload, such as deployment/NAME")
