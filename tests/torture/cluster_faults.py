"""What goes wrong on a cluster: each fault meets a sweep that runs, at an instant that is drawn."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import node
import node_places

from torture.cluster import ClusterScene

CONTROL_PLANE = ("etcd", "kube-controller-manager", "kube-scheduler", "containerd")

LONGEST_AWAY_S = 8.0
"""Servers are away for up to so long; a sweep waits for three minutes."""

NOT_READY_AFTER_S = 120.0
"""The cluster calls a node not ready when its kubelet was silent for 50 s."""

REFUSED, LOST_LOCK, INTERRUPTED, STOPPED, NOT_GIVEN_BACK = 4, 4, 130, 3, 10


def sweep_killed(scene: ClusterScene) -> None:
    command = scene.instant()
    command.send(signal.SIGKILL)
    scene.settle(killed=True)


def sweep_interrupted(scene: ClusterScene) -> None:
    """Once, or again before it has ended."""
    command = scene.instant()
    number = scene.draw.choice([signal.SIGINT, signal.SIGTERM])
    scene.told(number.name)
    # Before the command's handlers are there the system's own end it, as they end any program.
    command.wait_for(command.heeds_signals)
    for _ in range(scene.draw.choice([1, 1, 2, 3])):
        command.send(number)
        time.sleep(scene.draw.choice([0, 0.02, 0.7]))
    scene.bears(INTERRUPTED, NOT_GIVEN_BACK)
    scene.settle()


def sweep_suspended(scene: ClusterScene) -> None:
    """For a while, now and then for longer than its lock lasts."""
    command = scene.instant()
    command.send(signal.SIGSTOP)
    time.sleep(33 if scene.draw.random() < 0.1 else scene.draw.uniform(0.1, 4))
    command.send(signal.SIGCONT)


def sweep_killed_in_an_outage(scene: ClusterScene) -> None:
    """Whoever interrupts a sweep because the cluster hangs, and then loses patience."""
    command = scene.instant()
    command.wait_for(command.heeds_signals)
    scene.link.hold()
    command.send(signal.SIGINT)
    scene.bears(INTERRUPTED, NOT_GIVEN_BACK)
    if scene.draw.random() < 0.5:
        command.wait(scene.draw.uniform(0, 2))
        command.send(signal.SIGKILL)
        scene.settle(killed=True)
        return
    command.wait(scene.draw.uniform(0, LONGEST_AWAY_S))
    scene.link.mend()
    scene.settle()


def restore_killed(scene: ClusterScene) -> None:
    """What gives back after a kill is killed too."""
    command = scene.instant()
    command.send(signal.SIGKILL)
    command.wait()
    restoring = scene.command("restore", "--namespace", scene.namespace)
    restoring.wait(scene.draw.uniform(0, 2))
    restoring.send(signal.SIGKILL)
    restoring.wait()
    scene.settle(killed=True)


def second_sweep_of_the_run(scene: ClusterScene) -> None:
    """A second sweep wants to go on with the run that a first one writes."""
    command = scene.instant()
    if scene.run() and command.runs():
        second = scene.start()
        scene.oracle_of(second, {0, STOPPED})


def second_sweep_of_the_workload(scene: ClusterScene) -> None:
    """From another repository: of a workload it is refused, Jobs of both go side by side."""
    scene.instant()
    second = scene.command("sweep", str(scene.study), home=scene.folder / "other")
    scene.oracle_of(second, {0, REFUSED} if scene.workload else {0})


def api_server_killed(scene: ClusterScene) -> None:
    scene.instant()
    os.kill(node.program_pid("kube-apiserver"), signal.SIGKILL)
    scene.await_node()


def api_server_suspended(scene: ClusterScene) -> None:
    _suspended_for_a_while(scene, "kube-apiserver")


def _suspended_for_a_while(scene: ClusterScene, name: str) -> None:
    scene.instant()
    with _suspended(name):
        time.sleep(scene.draw.uniform(0.5, LONGEST_AWAY_S))


def control_plane_suspended(scene: ClusterScene) -> None:
    name = scene.draw.choice(CONTROL_PLANE)
    scene.told(name)
    _suspended_for_a_while(scene, name)


def streams_cut(scene: ClusterScene) -> None:
    """Every connection ends at once: the stream of an exec, a request that is under way, those that
    are kept open."""
    scene.instant()
    scene.link.cut(reset=scene.draw.random() < 0.5)


def streams_cut_again_and_again(scene: ClusterScene) -> None:
    command = scene.instant()
    for _ in range(scene.draw.randint(3, 12)):
        scene.link.cut(reset=scene.draw.random() < 0.5)
        command.wait(scene.draw.uniform(0.05, 0.5))


def link_down(scene: ClusterScene) -> None:
    """Nobody listens for a while."""
    scene.instant()
    scene.link.refuse()
    time.sleep(scene.draw.uniform(0.2, LONGEST_AWAY_S))
    scene.link.mend()


def link_silent(scene: ClusterScene) -> None:
    """Nothing comes through for a while, and then all of it; or what was open is cut."""
    scene.instant()
    scene.link.hold()
    time.sleep(scene.draw.uniform(0.2, LONGEST_AWAY_S))
    if scene.draw.random() < 0.5:
        scene.link.cut(reset=True)
    scene.link.mend()


@contextlib.contextmanager
def _suspended(name: str) -> Iterator[None]:
    """A program of the node does nothing inside."""
    pid = node.program_pid(name)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def kubelet_suspended(scene: ClusterScene) -> None:
    _suspended_for_a_while(scene, "kubelet")


def kubelet_killed(scene: ClusterScene) -> None:
    scene.instant()
    os.kill(node.program_pid("kubelet"), signal.SIGKILL)
    scene.bears(REFUSED, STOPPED, NOT_GIVEN_BACK)


def node_not_ready(scene: ClusterScene) -> None:
    """The kubelet says nothing for so long that the cluster gives the node up for now."""
    scene.instant()
    with _suspended("kubelet"):
        scene.await_true(
            lambda: not scene.is_answering(), "the node is not ready", NOT_READY_AFTER_S
        )
    scene.bears(REFUSED, STOPPED, NOT_GIVEN_BACK)


def _a_pod(scene: ClusterScene) -> str | None:
    """One of the scene, where there is any at this instant."""
    scene.instant()
    pods = scene.pods()
    return scene.draw.choice(pods)["metadata"]["name"] if pods else None


def pod_evicted(scene: ClusterScene) -> None:
    if pod := _a_pod(scene):
        with contextlib.suppress(AssertionError):  # it may be gone by now
            scene.cluster.evict(scene.namespace, pod)
        scene.bears(REFUSED, STOPPED, NOT_GIVEN_BACK)


def pod_deleted(scene: ClusterScene) -> None:
    """With the time that it has to end, or without any. To a sweep that does nothing, or, where it
    was about to be used, it is an end with the reason."""
    if pod := _a_pod(scene):
        how = scene.draw.choice([("--grace-period=0", "--force"), ("--grace-period=1",), ()])
        with contextlib.suppress(AssertionError):
            scene.kubectl("delete", "pod", pod, "--wait=false", *how)
        scene.bears(REFUSED, STOPPED, NOT_GIVEN_BACK)


def container_killed(scene: ClusterScene) -> None:
    """Its first process; a workload's container is started again, the pod of a Job has failed."""
    scene.instant()
    # Of a container whose group was once out of memory containerd says OOMKilled whatever it ends
    # by.
    scene.harmed += scene.harmed > 0
    for pid in scene.first_processes()[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    scene.bears(REFUSED, STOPPED, NOT_GIVEN_BACK)


def memory_exhausted(scene: ClusterScene) -> None:
    """The program of one trial grows until the kernel kills it, at the limit of its container."""
    scene.instant()
    scene.harmed += 1
    scene.hungry.touch()
    scene.hungry.chmod(0o666)


def replaced_by_others(scene: ClusterScene) -> None:
    """Somebody removes the Jobs, or asks for a rollout of the workload."""
    scene.instant()
    with contextlib.suppress(AssertionError):
        if scene.workload:
            scene.kubectl("rollout", "restart", scene.workload)
        else:
            scene.kubectl("delete", "jobs", "--all", "--wait=false")
    scene.bears(REFUSED, STOPPED, NOT_GIVEN_BACK)


def edited_by_others(scene: ClusterScene) -> None:
    """Somebody sets a variable of the workload's environment: it stays, and the sweep stops."""
    if not scene.workload:
        replaced_by_others(scene)
        return
    scene.instant()
    variable = {"name": "EDITED", "value": str(scene.draw.randint(1, 999))}
    with contextlib.suppress(AssertionError):
        scene.kubectl("set", "env", scene.workload, "{name}={value}".format(**variable))
        scene.original["spec"]["template"]["spec"]["containers"][0]["env"] = [variable]
    scene.bears(STOPPED, REFUSED, NOT_GIVEN_BACK)


def autoscaler_appears(scene: ClusterScene) -> None:
    """A sweep that begins meanwhile is refused, the one that runs is stopped. One that is there is
    edited by others, and held again by the next sweep."""
    scene.instant()
    if scene.is_scaled:
        scene.told("edited")
        scene.most = scene.draw.randint(4, 9)
        edited = json.dumps({"spec": {"maxReplicas": scene.most}})
        scene.await_true(lambda: scene.edited(edited), "the autoscaler is edited")
        scene.bears(STOPPED)
        return
    if not scene.workload.startswith("deployment"):
        return
    with contextlib.suppress(AssertionError):
        scene.kubectl("autoscale", scene.workload, "--min=1", "--max=2", "--cpu-percent=60")
    _undone_later(scene, scene.unscale, REFUSED, STOPPED)


def node_cordoned(scene: ClusterScene) -> None:
    """No new pod finds a place for a while."""
    scene.instant()
    scene.cluster.kubectl("cordon", node_places.NODE)
    _undone_later(scene, scene.uncordon, REFUSED, STOPPED, NOT_GIVEN_BACK)


def _undone_later(scene: ClusterScene, undo: Callable[[], None], *codes: int) -> None:
    """Undo a fault after the end of the sweep, maybe with one of these codes, or after a while."""
    scene.repairs.append(undo)
    scene.bears(*codes)
    assert scene.current
    scene.current.wait(scene.draw.uniform(0.5, 8))
    undo()


def limits_forbidden(scene: ClusterScene) -> None:
    """A LimitRange or a quota comes that no limit of the study is within."""
    scene.instant()
    ranged = {"limits": [{"type": "Container", "max": {"cpu": "100m"}}]}
    of_one = {"hard": {"limits.cpu": "100m"}}
    kind, spec = scene.draw.choice([("LimitRange", ranged), ("ResourceQuota", of_one)])
    scene.told(kind)
    metadata = {"name": "small", "namespace": scene.namespace}
    scene.cluster.apply({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})
    _undone_later(scene, scene.unlimit, REFUSED, STOPPED, NOT_GIVEN_BACK)


def limit_beyond_the_node(scene: ClusterScene) -> None:
    """A second study, that asks for more than the node has, while the first is swept or not."""
    scene.instant()
    study = scene.folder / "large.yaml"
    study.write_text(scene.study.read_text().replace("cpu_limit:", "cpu_limit:\n  - 4096", 1))
    second = scene.command("sweep", str(study), home=scene.folder / "large")
    scene.oracle_of(second, {REFUSED})


def permissions_taken_away(scene: ClusterScene) -> None:
    scene.instant()
    scene.kubectl("delete", "rolebinding", "--all")
    _undone_later(scene, scene.permit, REFUSED, STOPPED, NOT_GIVEN_BACK)


def lock_stolen(scene: ClusterScene) -> None:
    """Somebody else has the lock now, and gives it up later, or dies; or somebody removed it."""
    command = scene.instant()
    command.wait_for(lambda: bool(scene.objects("leases")))
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    stolen = {
        "spec": {"holderIdentity": "thief@elsewhere/0/nobody", "renewTime": now, "acquireTime": now}
    }
    with contextlib.suppress(AssertionError):
        for name in scene.objects("leases"):
            if scene.draw.random() < 0.3:
                scene.kubectl("delete", "lease", name)
            else:
                patch = f"--patch={json.dumps(stolen)}"
                scene.kubectl("patch", "lease", name, "--type=merge", patch)
    scene.bears(LOST_LOCK, NOT_GIVEN_BACK)
    # The lock on Jobs is of one sweep alone: no later one takes it over from a thief that died.
    if scene.draw.random() < 0.7 or not scene.workload:
        command.wait()
        with contextlib.suppress(AssertionError):
            scene.kubectl("delete", "leases", "--all")
    else:
        # A sweep that another fault ended before it saw the thief says nothing of a lock.
        scene.is_owed = True
    scene.settle()


CLUSTER_FAULTS: dict[str, Callable[[ClusterScene], None]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        *(sweep_killed, sweep_interrupted, sweep_suspended),
        *(sweep_killed_in_an_outage, restore_killed),
        *(second_sweep_of_the_run, second_sweep_of_the_workload),
        *(api_server_killed, api_server_suspended, control_plane_suspended),
        *(streams_cut, streams_cut_again_and_again, link_down, link_silent),
        *(kubelet_suspended, kubelet_killed, node_not_ready),
        *(pod_evicted, pod_deleted, container_killed, memory_exhausted, replaced_by_others),
        *(edited_by_others, autoscaler_appears, node_cordoned),
        *(limits_forbidden, limit_beyond_the_node, permissions_taken_away, lock_stolen),
    )
}
"""Every fault on a cluster, by the name it is counted under."""
