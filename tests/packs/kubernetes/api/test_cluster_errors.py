"""Refusals as API servers word them (recorded from Kubernetes 1.34), and what a person is told."""

import json

import pytest
from kubernetes.client.exceptions import ApiException

from deadzone_kubernetes.api.cluster import (
    AbsentError,
    ClusterError,
    ConflictError,
    MissingVerbError,
    RefusedError,
    translated,
)

FORBIDDEN = (
    'pods "w-1" is forbidden: User "system:serviceaccount:a:b" cannot patch resource "pods/resize" '
    'in API group "" in the namespace "a"'
)
QUOTA = (
    'pods "w-1" is forbidden: exceeded quota: small, requested: limits.cpu=1500m, used: '
    "limits.cpu=1"
)


def error(status: int, message: str) -> ApiException:
    made = ApiException(status=status, reason="X")
    made.body = json.dumps({"kind": "Status", "message": message, "code": status})
    return made


@pytest.mark.parametrize(
    ("status", "message", "kind", "words"),
    [(401, "Unauthorized", ClusterError, "no longer accepts the credentials"),
     (403, FORBIDDEN, MissingVerbError,
      "lacks the verb 'patch' for pods/resize in the namespace a"),
     (403, FORBIDDEN.replace('""', '"batch"'), MissingVerbError,
      "for pods/resize of the API group batch in the namespace a"),
     (403, QUOTA, RefusedError, "exceeded quota: small"),
     (404, 'pods "w" not found', AbsentError, "does not exist"),
     (409, "the object has been modified", ConflictError, "changed meanwhile"),
     (422, "Pod is invalid: spec", RefusedError, "Pod is invalid: spec"),
     (500, "etcd is away", ClusterError, "etcd is away (HTTP 500)")],
)  # fmt: skip
def test_each_refusal_is_a_sentence_of_its_kind(status, message, kind, words):
    found = translated(error(status, message), "change a thing")
    assert type(found) is kind
    assert words in str(found)
    assert "change a thing" in str(found)


def test_a_refused_stream_names_the_verb_as_well():
    body = json.dumps({"kind": "Status", "message": FORBIDDEN.replace("patch", "get"), "code": 403})
    reason = f"Handshake status 403 Forbidden -+-+- {{'date': 'x'}} -+-+- b'{body}'"
    refused = ApiException(status=0, reason=reason)
    found = translated(refused, "run a command")
    assert type(found) is MissingVerbError
    assert "lacks the verb 'get' for pods/resize" in str(found)
