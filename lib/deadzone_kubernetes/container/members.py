"""The pods of a workload that are at the level of a trial, each with the container that is swept
and the launcher in it."""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from deadzone.run.targets.limits.base import Counters
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.streams import Spot
from deadzone_kubernetes.container import ephemeral_shell, trial
from deadzone_kubernetes.container.container import PodContainer, Probe, clean
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.lease.originals import Original
from deadzone_kubernetes.specs import KubernetesTargetSpec
from deadzone_kubernetes.workload import KubernetesWorkload, container_of


class Members:
    """One pod of a workload, or all of them; trials run in the first one. Empty before `choose` and
    after `leave`."""

    def __init__(
        self,
        cluster: Cluster,
        workload: KubernetesWorkload,
        name: str,
        spec: KubernetesTargetSpec,
        home: PurePosixPath,
    ) -> None:
        """name: of the container. home: folder of Deadzone's files in it."""
        self._cluster, self._workload, self._name = cluster, workload, name
        self._spec, self._home = spec, home
        self._every: list[tuple[Object, PodContainer]] = []
        self.probe: Probe

    def __iter__(self) -> Iterator[tuple[Object, PodContainer]]:
        return iter(self._every)

    def __bool__(self) -> bool:
        return bool(self._every)

    @property
    def pod(self) -> Object:
        """The pod that trials run in."""
        return self._every[0][0]

    @property
    def container(self) -> PodContainer:
        """The container that trials run in."""
        return self._every[0][1]

    def specification(self, pod: Object) -> Object:
        """The container's specification as a pod has it."""
        return container_of(pod["spec"], self._name, str(self._workload))

    def choose(self, original: Original) -> None:
        """Take the newest ready pod of the workload, and all others where the target says so.

        original: what the workload had before the sweep, with the pods that were resized.
        """
        resized = {pod.uid for pod in original.pods}
        first = self._workload.await_rollout(
            self._cluster, self._name, self._spec.start_timeout_s, original.swept, resized
        )
        container = self._entered(first)
        self._every = [(first, container)]
        self.probe = container.open()
        if self._spec.pods == "one":
            return
        for pod in self._workload.pods(self._cluster):
            if pod["metadata"]["uid"] != first["metadata"]["uid"]:
                self._every.append((pod, self._entered(pod)))
                self._every[-1][1].open()

    def _entered(self, pod: Object) -> PodContainer:
        cluster, name, image = self._cluster, self._name, self._spec.launcher_image
        timeout_s = self._spec.start_timeout_s
        lent = (
            ephemeral_shell.lend(cluster, pod, name, image, self._home, timeout_s)
            if image
            else None
        )
        return PodContainer(cluster, Spot.of(pod, name), self._home, lent)

    def are_there(self) -> bool:
        """Whether the pods are those of before, and run; their specifications are read anew."""
        now = [trial.as_it_is(self._cluster, pod, self._name) for pod, _ in self]
        self._every = [
            (new or pod, container) for new, (pod, container) in zip(now, self._every, strict=True)
        ]
        if None in now:
            return False
        if self._spec.pods == "one":
            return True
        ours = {pod["metadata"]["uid"] for pod, _ in self}
        return ours == {pod["metadata"]["uid"] for pod in self._workload.pods(self._cluster)}

    def have(self, must: Resources) -> bool:
        """Whether the container of every pod has the amounts, as its specification says."""
        return all(Resources.of(self.specification(pod), must.names).holds(must) for pod, _ in self)

    def change(self, changed: Callable[[Object], Object]) -> None:
        """Change every pod. changed: changes one and gives it as it is then."""
        for i, (pod, container) in enumerate(self._every):
            self._every[i] = changed(pod), container

    def count(self) -> Counters:
        """The accounting of the containers together."""
        return Counters.sum([container.count() for _, container in self])

    def leave(self, note: Callable[[str], None]) -> None:
        """Kill what trials left running in the pods, and remove the folder; a pod that is gone has
        neither."""
        every, self._every = self._every, []
        for _, container in every:
            if problem := clean(container):
                note(problem)
