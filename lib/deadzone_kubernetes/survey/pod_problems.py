"""Why a pod does not run, or a rollout does not end, read from what the cluster itself says of
it."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

HOPELESS = {
    "ErrImageNeverPull": "the image is not on the node, and may not be pulled",
    "ImagePullBackOff": "the image cannot be pulled",
    "InvalidImageName": "the image has no valid name",
    "CreateContainerConfigError": "the container cannot be made as it is configured",
    "CreateContainerError": "the container cannot be made",
    "CrashLoopBackOff": "the container ends again and again",
    "RunContainerError": "the container cannot be started",
}
"""Reasons of a waiting container that waiting does not cure, in words."""

REFUSED = "ReplicaFailure"
"""The condition of a workload that may make no pod: a quota, a LimitRange, an admission policy."""

OUT_OF_MEMORY = "OOMKilled"

NO_HOPE_AFTER_S = 5.0
"""A reason that waiting does not cure must have stood for so long: a retry may just be under way
[s]."""


class Standing:
    """Whether something stands without a break, such as a reason that waiting does not cure, look
    by look."""

    def __init__(self) -> None:
        self._since = 0.0

    def for_long(self, it: object, seconds: float = NO_HOPE_AFTER_S) -> bool:
        """Take in what is there now; whether something has been for so long [s]."""
        self._since = (self._since or time.monotonic()) if it else 0.0
        return bool(it) and time.monotonic() - self._since >= seconds


def incurable(manifest: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> str | None:
    """Why a rollout will never end as it is: no pod may be made, or the newest one that is
    hopeless; None while there is hope."""
    return condition(manifest, REFUSED) or next(filter(None, map(hopeless, reversed(pods))), None)


def condition(manifest: Mapping[str, Any], kind: str, *states: str) -> str | None:
    """What the cluster says of a condition of an object that is in one of the states (default
    True); None if it is not."""
    for condition_of in (manifest.get("status") or {}).get("conditions") or []:
        if condition_of["type"] == kind and condition_of["status"] in (states or ("True",)):
            return str(condition_of.get("message") or condition_of.get("reason"))
    return None


def hopeless(pod: Mapping[str, Any]) -> str | None:
    """Why a pod will never run as it is; None while there is hope."""
    status = pod.get("status") or {}
    for state in [
        *(status.get("initContainerStatuses") or []),
        *(status.get("containerStatuses") or []),
    ]:
        waiting = (state.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in HOPELESS:
            message = f" ({waiting['message']})" if waiting.get("message") else ""
            return f"{HOPELESS[waiting['reason']]}: {state.get('image', '')}{message}"
    if status.get("phase") == "Failed":
        told = [status, *map(ended, status.get("containerStatuses") or [])]
        reasons = (one.get("message") or one.get("reason") for one in told)
        return f"the pod failed: {next(filter(None, reasons), 'no reason given')}"
    return None


def not_yet(pod: Mapping[str, Any]) -> str:
    """What a pod that does not run yet waits for."""
    status = pod.get("status") or {}
    if unscheduled := condition(pod, "PodScheduled", "False"):
        return f"no node takes it: {unscheduled}"
    for state in status.get("containerStatuses") or []:
        waiting = (state.get("state") or {}).get("waiting") or {}
        if waiting:
            sentence = f": {waiting['message']}" if waiting.get("message") else ""
            return f"its container waits, {waiting.get('reason', 'without a reason')}{sentence}"
    return f"it is {str(status.get('phase') or 'unknown').lower()}"


def of_rollout(workload: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> str:
    """What keeps a rollout from ending, the surest reason first."""
    if forbidden := condition(workload, REFUSED):
        return f"no pod may be made: {forbidden}"
    reasons = [hopeless(pod) or not_yet(pod) for pod in reversed(pods) if not _runs(pod)]
    if reasons:
        return f"its newest pod does not get ready: {reasons[0]}"
    return condition(workload, "Progressing", "False", "Unknown") or "the cluster gives no reason"


def _runs(pod: Mapping[str, Any]) -> bool:
    states = (pod.get("status") or {}).get("containerStatuses") or []
    return bool(states) and all(state.get("ready") for state in states)


def ended(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """How a container ended last: reason, exit code; empty if it never ended."""
    for key in ("state", "lastState"):
        if terminated := (status.get(key) or {}).get("terminated"):
            return dict(terminated)
    return {}
