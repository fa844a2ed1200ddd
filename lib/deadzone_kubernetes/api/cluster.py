"""The connection to a cluster: who we are there, patience with an API server that restarts, and
plain answers.

Objects travel as the plain mappings of the API (camelCase), not as the client's classes, so that
what is decided from them can be tried on recorded ones.

What a cluster's refusals mean to a person: each as one sentence that names the object and the
remedy.
"""

import contextlib
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml

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


class ChangedError(ClusterError):
    """Others changed the workload since the sweep began, so the sweep is stopped."""

    exit_code = EXIT_STOPPED


class BusyError(ClusterError):
    """Another sweep that lives holds the lock."""


def status_and_message(error: Any) -> tuple[int, str]:
    """HTTP status and message of an ApiException, also of one from a refused stream."""
    status, answer = int(error.status or 0), str(error.body or error.reason or "")
    if status == 0 and (match := HANDSHAKE.search(answer)):
        status = int(match["status"])
    # of a refused stream it stands as bytes, with quotes escaped twice
    texts = MESSAGE.findall(answer.replace('\\\\"', '\\"'))
    said = texts if OF_A_BUDGET in "".join(texts[:1]) else texts[:1]
    return status, " ".join(map(_plain, said)) or answer.strip()[:300] or "no reason given"


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
        return ClusterError(
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


Object = dict[str, Any]

Answer = TypeVar("Answer")

MANAGER = "deadzone"
"""The name under which a sweep's changes stand in the managedFields of an object."""

OURS = {"app.kubernetes.io/managed-by": "deadzone"}
"""The label of what Deadzone makes."""

REQUEST_TIMEOUT_S = (5.0, 30.0)
"""To connect, and between two pieces of an answer [s]."""

OUTAGE_S = 180.0
"""An API server that restarts, or a load balancer that finds the next one, is back within this
[s]."""

MOST_CONFLICTS = 20
"""A Deployment in a rollout changes a few times a second; one that always does is not ours to wait
for [count]."""

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 5.0

TEMPORARY = (0, 429, 500, 502, 503, 504)
"""HTTP states after which asking again helps; 0 is a connection that broke."""

STARTING_S = 20.0
"""A server that has just started does not know all accounts and their rights yet [s]."""

OF_AN_ACCOUNT = (401, 403)
"""HTTP states of a missing login, and of a missing right."""

CLEANING_PATIENCE_S = 30.0
"""How long an API server that does not answer is waited for at the end; what is left then,
`restore` gives back [s]."""

SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
"""Set in every pod by the kubelet."""

OWN_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class Cluster:
    """One cluster, as one user. Safe to use from several threads."""

    def __init__(
        self,
        context: str | None = None,
        note: Callable[[str], None] = lambda sentence: None,
        patience_s: float = OUTAGE_S,
    ) -> None:
        """note: told of an API server that is waited for. patience_s: how long it is waited for.

        Raises TargetError where neither a kubeconfig nor a pod's service account says how to reach
        a cluster.
        """
        self._context = context
        self._note = note
        self.patience_s = patience_s
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._failed_s = -math.inf
        self._load()

    def _load(self) -> None:
        from kubernetes import client

        # from now on the same context, whichever becomes the current one
        self.configuration, self.default_namespace, self._context = _configuration(self._context)
        self.api_client = client.ApiClient(self.configuration)
        apis = {
            "core": client.CoreV1Api,
            "apps": client.AppsV1Api,
            "custom": client.CustomObjectsApi,
            "batch": client.BatchV1Api,
            "coordination": client.CoordinationV1Api,
            "version": client.VersionApi,
        }
        self._apis = {name: api(self.api_client) for name, api in apis.items()}

    def call(self, what: str, method: str, *arguments: Any, **options: Any) -> Object:
        """Ask the API server for something, waiting for one that does not answer.

        what: the action in words, for messages. method: api and method, such as
        `core.read_namespaced_pod`. Asking twice must do no harm: a create that is repeated meets
        ConflictError, which the caller judges.

        Raises ClusterError, in its kinds.
        """

        def ask() -> Object:
            api, _, name = method.partition(".")
            function = getattr(self._apis[api], name)
            answer = function(*arguments, **options, _request_timeout=REQUEST_TIMEOUT_S)
            return dict(self.api_client.sanitize_for_serialization(answer))

        return self.patiently(what, ask)

    def patiently(self, what: str, ask: Callable[[], Answer]) -> Answer:
        """What the API server answers; one that does not is waited for, and asked again, with
        pauses that grow.

        Raises ClusterError when the patience is at an end or the sweep is being stopped, and the
        kinds of it as the server refuses.
        """
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        began, pause, is_noted, reloaded = time.monotonic(), FIRST_PAUSE_S, False, False
        while True:
            try:
                return ask()
            except ApiException as error:
                status, message = status_and_message(error)
                if status == 401 and not reloaded:
                    reloaded = True
                    with self._lock:
                        self._load()  # a token file or a login helper may have a fresh one
                    continue
                may_be_starting = time.monotonic() - self._failed_s < STARTING_S
                is_temporary = status in TEMPORARY and OF_A_BUDGET not in message
                if not is_temporary and not (status in OF_AN_ACCOUNT and may_be_starting):
                    raise translated(error, what) from error
                why = message
            except (HTTPError, OSError) as error:
                status, why = 0, _why(error)
            if status in TEMPORARY:
                self._failed_s = time.monotonic()
            if time.monotonic() - began + pause > self.patience_s:
                raise ClusterError(
                    f"The API server {self.configuration.host} did not answer for "
                    f"{self.patience_s:g} s when asked to {what}: {why}."
                )
            if not is_noted and time.monotonic() - began > 2:
                is_noted = True
                self._note(f"waiting for the API server: {why}")
            self.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def pause(self, seconds: float) -> None:
        """Sleep, but not through the end of the sweep. Raises ClusterError then."""
        if self.stopping.wait(seconds):
            raise ClusterError("The sweep is being stopped.")

    def looks(self, seconds: float, every_s: float) -> Iterator[None]:
        """Moments at which to look whether something has come to pass, for so long [s] and once
        more, with pauses between.

        Raises ClusterError when the sweep is being stopped.
        """
        deadline = time.monotonic() + seconds
        while True:
            yield
            if time.monotonic() > deadline:
                return
            self.pause(every_s)

    @contextlib.contextmanager
    def cleaning_up(self) -> Iterator[None]:
        """Inside, calls are made although the sweep is being stopped, with a patience of their
        own."""
        stopping, patience = self.stopping, self.patience_s
        self.stopping, self.patience_s = threading.Event(), CLEANING_PATIENCE_S
        try:
            yield
        finally:
            self.stopping, self.patience_s = stopping, patience

    def without_conflict(self, attempt: Callable[[], Answer]) -> Answer:
        """What an attempt gives; it is made again where something else changes an object between
        its look and its patch."""
        for _ in range(MOST_CONFLICTS - 1):
            with contextlib.suppress(ConflictError):
                return attempt()
            self.pause(FIRST_PAUSE_S)
        return attempt()

    def create(self, what: str, method: str, *arguments: Any) -> Object | None:
        """Create an object; None where one of that name exists already."""
        try:
            return self.call(what, method, *arguments)
        except ConflictError:
            return None


def is_configured() -> bool:
    """Whether this machine knows of any cluster."""
    return bool(_kubeconfigs()) or SERVICE_HOST in os.environ


def _kubeconfigs() -> list[str]:
    files = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    # `Path.is_file` raises an error where a folder may not be looked into
    return [name for name in files.split(os.pathsep) if os.path.isfile(name)]  # noqa: PTH113


def _configuration(context: str | None) -> tuple[Any, str, str | None]:
    """The client's configuration, the namespace it names, and the context of the kubeconfig; None
    in the pod this runs in."""
    from kubernetes import client, config
    from kubernetes.config import ConfigException

    configuration = client.Configuration()
    configuration.retries = False
    named = _kubeconfigs()
    if not named and SERVICE_HOST not in os.environ:
        raise ClusterError(
            "There is no cluster to reach: no kubeconfig (KUBECONFIG, or ~/.kube/config), and this "
            "is no pod."
        )
    try:
        if not named:
            config.load_incluster_config(client_configuration=configuration)
            own = Path(OWN_NAMESPACE)
            return configuration, own.read_text().strip() if own.is_file() else "default", None
        # Said here, for the client looks at KUBECONFIG once, when it is imported.
        files = os.pathsep.join(named)
        config.load_kube_config(files, context=context, client_configuration=configuration)
        contexts, current = config.list_kube_config_contexts(files)
    except (
        ConfigException, yaml.YAMLError, OSError, ValueError, TypeError, AttributeError, LookupError
    ) as error:  # fmt: skip
        raise ClusterError(f"The cluster's configuration cannot be used: {error}.") from error
    chosen = next((entry for entry in contexts if entry["name"] == context), current) or {}
    namespace = chosen.get("context", {}).get("namespace") or "default"
    return configuration, namespace, chosen.get("name", context)


def _why(error: Exception) -> str:
    message = str(error).rpartition("] ")[2] or str(error)
    return message.strip().rstrip(".)") or type(error).__name__
