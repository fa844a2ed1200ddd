"""The cluster's certificates and keys, made by openssl for one node's life."""

import subprocess
from pathlib import Path

from node_places import API_SERVICE_ADDRESS, NODE_ADDRESS, NotPossibleHere

DAYS = 30

API_SERVER_NAMES = (
    "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:localhost,"
    f"IP:{NODE_ADDRESS},IP:{API_SERVICE_ADDRESS},IP:127.0.0.1"
)


def make_certificates(folder: Path) -> None:
    """Write ca, apiserver and apiserver-to-kubelet (.crt, .key), and the key that signs service
    accounts' tokens.

    Raises NotPossibleHere if openssl is missing or fails.
    """
    folder.mkdir(parents=True)
    subject = ("-subj", "/CN=deadzone-cluster")
    _openssl(
        folder, "req", "-x509", *_new_key("ca"), *subject, "-days", str(DAYS), "-out", "ca.crt"
    )
    _sign(folder, "apiserver", "/CN=kube-apiserver", f"subjectAltName={API_SERVER_NAMES}")
    _sign(folder, "apiserver-to-kubelet", "/O=system:masters/CN=kube-apiserver-kubelet-client", "")
    _openssl(folder, "genrsa", "-out", "service-accounts.key", "2048")
    _openssl(
        folder, "rsa", "-in", "service-accounts.key", "-pubout", "-out", "service-accounts.pub"
    )


def make_client_certificate(authority: Path, folder: Path, name: str, subject: str) -> None:
    """Write a certificate and its key (name.crt, name.key) by which the cluster of an authority
    knows a client."""
    _sign(folder, name, subject, "", authority)


def _new_key(name: str) -> tuple[str, ...]:
    return ("-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key")


def _sign(folder: Path, name: str, subject: str, extension: str, authority: Path = Path()) -> None:
    _openssl(folder, "req", *_new_key(name), "-subj", subject, "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(f"extendedKeyUsage=serverAuth,clientAuth\n{extension}\n")
    signer = ("-CA", f"{authority / 'ca.crt'}", "-CAkey", f"{authority / 'ca.key'}")
    signer += ("-CAcreateserial",)
    names = ("-in", f"{name}.csr", "-extfile", f"{name}.ext", "-out", f"{name}.crt")
    _openssl(folder, "x509", "-req", *signer, "-days", str(DAYS), *names)


def _openssl(folder: Path, *arguments: str) -> None:
    try:
        answer = subprocess.run(
            ("openssl", *arguments), cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise NotPossibleHere("openssl is not installed") from error
    if answer.returncode:
        raise NotPossibleHere(f"openssl {arguments[0]} failed: {answer.stderr.strip()[-500:]}")
