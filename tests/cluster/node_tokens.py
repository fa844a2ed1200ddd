"""Tokens of service accounts that expire in seconds, signed with the node's own key.

The API server gives none for less than ten minutes; it accepts any that its key has signed, and
refuses an expired one, so a test of an expired token need not wait.
"""

import base64
import json
import subprocess
import time

from node_places import state

LEEWAY_S, CACHED_S = 60, 10
"""How long the API server takes a token beyond its expiry, for clocks that differ, and how long it
remembers a token that it accepted [s]."""


def short_lived_token(namespace: str, account: str, uid: str, lifetime_s: float) -> str:
    """A token that the cluster of `make cluster` takes for this service account for so long [s].

    uid: metadata.uid of the ServiceAccount. What was accepted once may be accepted for CACHED_S
    longer.
    """
    now = int(time.time())
    claims = {
        "aud": ["https://kubernetes.default.svc"],
        "exp": now + round(lifetime_s) - LEEWAY_S,
        "iat": now - 2 * LEEWAY_S,
        "nbf": now - 2 * LEEWAY_S,
        "iss": "https://kubernetes.default.svc",
        "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": account, "uid": uid}},
        "sub": f"system:serviceaccount:{namespace}:{account}",
    }
    signed = f"{_encoded({'alg': 'RS256', 'typ': 'JWT'})}.{_encoded(claims)}"
    key = state().certificates / "service-accounts.key"
    sign = ("openssl", "dgst", "-sha256", "-sign", str(key))
    signature = subprocess.run(sign, input=signed.encode(), capture_output=True, check=True).stdout
    return f"{signed}.{_base64(signature)}"


def _encoded(document: dict[str, object]) -> str:
    return _base64(json.dumps(document).encode())


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
