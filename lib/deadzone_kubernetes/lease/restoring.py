"""Giving back what killed sweeps left changed in a cluster: resources, programs in containers,
Jobs, locks.

Nothing needs to be remembered for it: every changed workload carries its original resources, every
Job a label with the lock of its sweep. A sweep that still lives holds its lock, and is left alone.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

import yaml

from deadzone import places
from deadzone.errors import NotGivenBackError
from deadzone.plugins import DeadzoneError, TargetError
from deadzone.store.run import STUDY_FILE
from deadzone_kubernetes import job_target
from deadzone_kubernetes.api.cluster import (
    OURS,
    AbsentError,
    BusyError,
    Cluster,
    ClusterError,
    MissingVerbError,
    Object,
    is_configured,
)
from deadzone_kubernetes.container.container import PodContainer
from deadzone_kubernetes.lease import giving_back
from deadzone_kubernetes.lease.lease import Lease, is_free
from deadzone_kubernetes.specs import KubernetesTargetSpec
from deadzone_kubernetes.workload import METHODS, KubernetesWorkload, label_selector

JOBS, LEASES = "batch.{}_namespaced_job", "coordination.{}_namespaced_lease"

MADE = label_selector({"matchLabels": OURS})
"""What Deadzone made."""

Left = tuple[Lease, Callable[[], list[str]]]
"""What a sweep left: the lock that it holds while it lives, and what gives it back and says so."""

PATIENCE_S = 10.0
"""How long a cluster is waited for that does not answer [s]."""

RESTORER = "restore"
"""Whose lock it is while something is given back."""


@dataclass
class Restored:
    """What was done, what is left to sweeps that live, and what could not be done: one sentence
    each.

    is_left: whether something keeps what a sweep gave it.
    """

    done: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_left: bool = False


def restore_cluster(
    cluster: Cluster, namespaces: Iterable[str] = (), *, only: bool = False
) -> Restored:
    """Find and give back whatever killed sweeps left in a cluster.

    namespaces: where to look if the account may not look everywhere; by default the namespace of
    its context. only: look nowhere else even where the account may.

    One that cannot be asked, or no longer, is a problem among the others.
    """
    looked_at = tuple(dict.fromkeys(namespaces)) or (cluster.default_namespace,)
    result, search = Restored(), _Search(cluster, looked_at, only)
    # Locks last: those of the others have been given up by then.
    try:
        for lease, give_back in itertools.chain(_annotated(search), _jobs(search), _locks(search)):
            _give_back(lease, give_back, result)
    except DeadzoneError as error:  # of a list, after others were gone through
        result.problems.append(str(error))
    result.problems = [*dict.fromkeys(result.problems), *search.unseen_in_words()]
    return result


def _give_back(lease: Lease, give_back: Callable[[], list[str]], result: Restored) -> None:
    """Give back what one sweep left, unless it lives."""
    try:
        lease.acquire()
        try:
            result.done += give_back()
        finally:
            lease.release()
    except AbsentError:
        pass  # removed meanwhile, or goes with its namespace
    except BusyError as error:
        result.busy.append(str(error))
    except DeadzoneError as error:
        result.is_left |= isinstance(error, NotGivenBackError)
        result.problems.append(str(error))


def restore_reachable(
    context: str | None, note: Callable[[str], None], namespaces: Iterable[str], *, only: bool
) -> Restored:
    """As `restore_cluster`, in the cluster of a context; one that cannot be asked is a problem
    among the others.

    note: told of an API server that is waited for.
    """
    try:
        return restore_cluster(Cluster(context, note, PATIENCE_S), namespaces, only=only)
    except DeadzoneError as error:
        return Restored(problems=[str(error)])


def give_back(spec: KubernetesTargetSpec, note: Callable[[str], None]) -> None:
    """Give back what killed sweeps left in the namespace of a target. note: is told what was done,
    and what could not be."""
    result = restore_reachable(spec.context, note, (spec.namespace,), only=True)
    for sentence in (*result.done, *result.busy, *result.problems):
        note(sentence)
    if result.problems:
        note("What killed sweeps left in that cluster, `deadzone restore` gives back.")


@dataclass(frozen=True)
class _Search:
    """Where objects are looked for. namespaces: those named. only: nowhere else. unseen: the
    namespaces that cannot be looked at, by what was looked for."""

    cluster: Cluster
    namespaces: tuple[str, ...]
    only: bool
    unseen: dict[str, list[str]] = field(default_factory=dict)

    def objects(self, what: str, method: str, **options: str) -> list[Object]:
        """Those of all namespaces, or of those named: where no other is asked for, or the account
        may not list all."""
        inside = method.format("list")
        everywhere = f"{inside.replace('_namespaced', '')}_for_all_namespaces"
        with contextlib.suppress(MissingVerbError):
            if not self.only:
                return list(self.cluster.call(f"list all {what}", everywhere, **options)["items"])
        objects: list[Object] = []
        for namespace in self.namespaces:
            where = f"list the {what} in the namespace {namespace}"
            try:
                objects += self.cluster.call(where, inside, namespace, **options)["items"]
            except MissingVerbError:
                self.unseen.setdefault(what, []).append(namespace)
        return objects

    def unseen_in_words(self) -> list[str]:
        """What the account may not look at, in a sentence for the namespaces that are alike."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for what, namespaces in self.unseen.items():
            alike.setdefault(tuple(namespaces), []).append(what)
        return [
            f"This account may not list {', '.join(kinds)} in {', '.join(namespaces)}: what was "
            "left there is not known. `--namespace` names where to look."
            for namespaces, kinds in alike.items()
        ]


def _annotated(search: _Search) -> Iterator[Left]:
    for kind, method in METHODS.items():
        for metadata in (item["metadata"] for item in search.objects(f"{kind}s", method)):
            if giving_back.ANNOTATION in (metadata.get("annotations") or {}):
                workload = KubernetesWorkload(
                    search.cluster, kind, metadata["namespace"], metadata["name"]
                )
                yield Lease.of(workload, RESTORER), partial(restore_workload, workload)


def _jobs(search: _Search) -> Iterator[Left]:
    """The Jobs of sweeps, by namespace and the lock that their sweep holds while it lives."""
    sweeps: dict[tuple[str, str], list[str]] = {}
    for metadata in (job["metadata"] for job in search.objects("Jobs", JOBS, label_selector=MADE)):
        lock = (metadata.get("labels") or {}).get(job_target.LEASE_LABEL)
        if lock and not metadata.get("deletionTimestamp"):
            sweeps.setdefault((metadata["namespace"], lock), []).append(metadata["name"])
    for (namespace, lock), names in sweeps.items():
        subject = f"{len(names)} Jobs in the namespace {namespace}, the first is {names[0]}"
        lease = Lease(search.cluster, namespace, lock, subject, RESTORER)
        yield lease, partial(_remove_jobs, search.cluster, namespace, names)


def _locks(search: _Search) -> Iterator[Left]:
    """Locks alone, of sweeps that were killed before they changed anything, or after they gave all
    back; not those of a sweep that may still be alive."""
    for lock in search.objects("locks", LEASES, label_selector=MADE):
        namespace, name = lock["metadata"]["namespace"], lock["metadata"]["name"]
        if is_free(lock):
            sentence = f"lease/{name} in the namespace {namespace}: removed"
            lease = Lease(search.cluster, namespace, name, sentence, RESTORER)
            yield lease, partial(list, [sentence])


def restore_workload(
    workload: KubernetesWorkload, timeout_s: float = giving_back.TIMEOUT_S
) -> list[str]:
    """End what trials left running in the workload's pods, then give back its resources, if its
    annotation keeps any; says what was done.

    Whoever calls this holds the workload's lock.
    """
    original = giving_back.kept(workload.read(), str(workload))
    if original is None:
        return []
    with contextlib.suppress(ClusterError, TargetError):
        _stop_trials(workload, original)
    return giving_back.give_back(workload, original, timeout_s)


def _stop_trials(workload: KubernetesWorkload, original: giving_back.Original) -> None:
    name, home = original.container, PurePosixPath(original.scratch)
    for pod in workload.pods():
        for lent in (None, home / "lent"):
            with contextlib.suppress(ClusterError, TargetError):
                if PodContainer(workload.cluster, pod, name, home, lent).clean():
                    break


def _remove_jobs(cluster: Cluster, namespace: str, names: list[str]) -> list[str]:
    """Remove the Jobs of one sweep that is dead."""
    for name in names:
        job_target.remove(cluster, name, namespace)
    return [f"job/{name} in the namespace {namespace}: removed" for name in names]


def restore_clusters(
    context: str | None, namespaces: Sequence[str], note: Callable[[str], None]
) -> list[Restored]:
    """What was given back in each cluster that is asked for, or that a recorded run swept; nothing
    where no cluster is named, as on most machines. context: of the kubeconfig. namespaces: those to
    look in; empty for all. note: is told what takes a while."""
    if not is_configured():
        return []
    # each context with the namespaces asked for, else with those of its runs to fall back to
    clusters: dict[str | None, list[str]] = {context: []}
    for recorded, namespace in _recorded():
        if context in (None, recorded):
            clusters.setdefault(recorded, []).append(namespace)
    return [
        restore_reachable(name, note, namespaces or known, only=bool(namespaces))
        for name, known in clusters.items()
    ]


def _recorded() -> Iterator[tuple[str | None, str]]:
    """Context and namespace of each target in a cluster of a recorded run, those of its
    environments too."""
    for path in sorted(places.runs_folder().glob(f"*/*/{STUDY_FILE}")):
        try:
            text = path.read_text(encoding="utf-8")
            study = yaml.safe_load(text) if "kind: kubernetes" in text else {}
            places_of = [study, *(study.get("environments") or {}).values()]
            targets = [place.get("target") for place in places_of]
        except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError, AttributeError):
            continue
        for target in targets:
            if isinstance(target, dict) and target.get("kind") == "kubernetes":
                yield target.get("context"), target.get("namespace") or "default"
