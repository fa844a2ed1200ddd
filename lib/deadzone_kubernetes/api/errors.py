"""What a cluster's refusals mean to a person: each as one sentence that names the object and the
remedy."""

import json
import re
from typing import Any

from deadzone.errors import EXIT_STOPPED
from deadzone.plugins import LostError, TargetError

LACKS_A_VERB = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]*)"'
    r'(?: in API group "(?P<group>[^"]*)")?(?: in the namespace "(?P<namespace>[^"]*)")?'
)
"""How the API server's RBAC authorizer words a refusal."""

NAMESPACE_ENDS = "because it is being terminated"
"""How the API server's admission words that nothing more can be made in a namespace."""

OF_A_BUDGET = "disruption budget"
"""How the API server words that a pod may not be taken away, with a status that else asks for
patience (429)."""

HANDSHAKE = re.compile(r"Handshake status (?P<status>\d{3})")
"""How the web socket library words a refused stream, in which the client puts no status."""

MESSAGE = re.compile(r'"message":\s*"((?:[^"\\]|\\.)*)"')
"""The message of an answer, then those of its causes."""


class ClusterError(TargetError):
    """The cluster refused, or could not do, what was asked of it."""


class AbsentError(ClusterError, LostError):
    """The object does not exist (any more), or is being deleted with its namespace."""


class ConflictError(ClusterError):
    """Another client changed or made the object first."""


class MissingVerbError(ClusterError):
    """The account lacks a permission."""


class RefusedError(ClusterError):
    """The cluster's rules forbid the value: validation, a LimitRange, a quota, an admission
    policy."""


class CredentialsError(ClusterError):
    """The cluster does not accept the credentials (any more)."""


class UnreachableError(ClusterError):
    """The API server did not answer, also not after waiting for it."""


class ChangedError(ClusterError):
    """Others changed the workload since the sweep began, so the sweep is stopped."""

    exit_code = EXIT_STOPPED


class BusyError(ClusterError):
    """Another sweep that lives holds the lock."""


class StoppedError(ClusterError):
    """The sweep is being stopped; nothing further is asked of the cluster."""


def status_and_message(error: Any) -> tuple[int, str]:
    """HTTP status and message of an ApiException, also of one from a refused stream."""
    status, answer = int(error.status or 0), str(error.body or error.reason or "")
    if status == 0 and (match := HANDSHAKE.search(answer)):
        status = int(match["status"])
    # of a refused stream it stands as bytes, with quotes escaped twice
    texts = MESSAGE.findall(answer.replace('\\\\"', '\\"'))
    said = texts if OF_A_BUDGET in "".join(texts[:1]) else texts[:1]
    message = " ".join(map(_plain, said))
    return status, message or answer.strip()[:300] or "no reason given"


def _plain(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:  # bytes escape more than JSON does
        return text.replace('\\"', '"')


def translated(error: Any, what: str) -> ClusterError:
    """An ApiException as the error it means; what: the action in words, such as `read
    deployment/encoder`."""
    status, message = status_and_message(error)
    if status == 401:
        return CredentialsError(
            f"The cluster no longer accepts the credentials (401), asked to {what}. Log in again, "
            "or give the account a fresh token."
        )
    if status == 403 and (lacks := LACKS_A_VERB.search(message)):
        return MissingVerbError(_missing_verb(lacks, what))
    if status == 403 and NAMESPACE_ENDS in message:
        return AbsentError(
            f"The cluster was asked to {what}, but the namespace is being deleted: {message}."
        )
    if status == 404:
        return AbsentError(f"The cluster was asked to {what}, which does not exist: {message}.")
    if status == 409:
        return ConflictError(
            f"The cluster was asked to {what}, which something else changed meanwhile."
        )
    if status in (400, 403, 405, 415, 422, 429):
        return RefusedError(f"The cluster refuses to {what}: {message.rstrip('.')}.")
    return ClusterError(f"The cluster failed to {what}: {message.rstrip('.')} (HTTP {status}).")


def _missing_verb(lacks: re.Match[str], what: str) -> str:
    group = f" of the API group {lacks['group']}" if lacks["group"] else ""
    where = f" in the namespace {lacks['namespace']}" if lacks["namespace"] else ""
    return (
        f"{lacks['user']} lacks the verb {lacks['verb']!r} for {lacks['resource']}{group}{where}, "
        f"needed to {what}. deploy/rbac.yaml holds all verbs that a sweep uses."
    )
