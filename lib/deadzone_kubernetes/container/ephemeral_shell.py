"""Lending a busybox to a container that has no shell.

An ephemeral container of an image with a static /bin/busybox sees the processes of the target
container, and by /proc/1/root its files: it copies the busybox there and ends. Its entry stays in
the pod, which cannot be undone but by a new pod; so it is made only where the study names an image
for it.
"""

import secrets
from pathlib import PurePosixPath

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import MANAGER, Cluster, Object
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.workload import container_of, pod_now

BUSYBOX = "/bin/busybox"

LOOK_EVERY_S = 0.3

OTHER_ROOT = "/proc/1/root"
"""The files of the target container, whose first process an ephemeral one sees as its own."""

COPY = (
    'mkdir -p "$1/bin" && cp /bin/busybox "$1/busybox" && for a in $(/bin/busybox --list); do ln '
    '-sf ../busybox "$1/bin/$a"; done'
)
"""Run in an ephemeral container into the target's files, or in an init container into a volume of
the pod."""


def lend(
    cluster: Cluster, pod: Object, container: str, image: str, home: PurePosixPath, timeout_s: float
) -> PurePosixPath:
    """Bring a busybox into a running container; the folder in which it lies.

    Raises TargetError where the image cannot be run or nothing can be written.
    """
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    lender = f"deadzone-{secrets.token_hex(4)}"
    folder = home / "lent"
    own = container_of(pod["spec"], container, name).get("securityContext") or {}
    users = ("runAsUser", "runAsGroup", "runAsNonRoot")  # only the same user sees its files
    entry = {
        "name": lender,
        "image": image,
        "targetContainerName": container,
        "command": [BUSYBOX, "sh", "-c", COPY, "lend", f"{OTHER_ROOT}{folder}"],
        "securityContext": {key: own[key] for key in users if key in own},
    }
    what = f"lend a shell to the container {container} of pod {name} in the namespace {namespace}"
    body = {"spec": {"ephemeralContainers": [entry]}}
    method = "core.patch_namespaced_pod_ephemeralcontainers"
    cluster.call(what, method, name, namespace, body, field_manager=MANAGER)
    waiting: Object = {}
    for _ in cluster.looks(timeout_s, LOOK_EVERY_S):
        now = pod_now(cluster, pod)
        states = (now.get("status") or {}).get("ephemeralContainerStatuses") or []
        state: Object = next((status for status in states if status["name"] == lender), {})
        if ended := pod_problems.ended(state):
            if ended.get("exitCode") == 0:
                return folder
            raise TargetError(
                f"The image {image} could not {what} (exit code {ended.get('exitCode')}): it needs "
                f"a static /bin/busybox, and the right to write to {home.parent}."
            )
        waiting = (state.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in pod_problems.HOPELESS:
            break
    reason = waiting.get("message") or waiting.get("reason") or "it does not start"
    raise TargetError(f"The cluster was asked to {what} from the image {image}: {reason}.")
