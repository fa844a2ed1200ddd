"""Keeping secrets out of reports: papermill stores parameters in the notebook for everybody to read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from deadzone.errors import ReportError
from deadzone.study.masking import AUTHORISATION, SECRET_QUERY, USER_AND_PASSWORD

SECRET_NAMES = (
    "token", "password", "passwd", "passphrase", "secret", "kubeconfig", "api_key", "apikey", "credential",
    "private_key", "access_key", "authorization", "bearer",
)  # fmt: skip
"""A parameter whose name holds one of these is refused, whatever its value."""

SECRET_VALUES = {
    "an address with a password in it": USER_AND_PASSWORD,
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "the contents of a kubeconfig": re.compile(r"client-(key|certificate)-data|^\s*current-context:", re.MULTILINE),
    "an authorisation header": AUTHORISATION,
    "a token": re.compile(r"\b(eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.|gh[pousr]_\w{20,}|glpat-[\w-]{15,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}\b)"),
    "a password in a query": SECRET_QUERY,
}  # fmt: skip
"""What a value looks like that nobody should read, and how the message names it."""


def refuse_secrets(parameters: Mapping[str, Any]) -> None:
    """Check the parameters of a notebook, nested ones included, by name and by value.

    Raises ReportError for the first that looks like a secret, without repeating its value.
    """
    for path, name, value in _walk(parameters, ""):
        lowered = name.lower().replace("-", "_")
        if any(word in lowered for word in SECRET_NAMES):
            raise ReportError(
                f"The parameter {path!r} looks like a secret, and parameters are stored in the executed notebook. "
                "Pass it in an environment variable."
            )
        for what, pattern in SECRET_VALUES.items():
            if isinstance(value, str) and pattern.search(value):
                raise ReportError(
                    f"The parameter {path!r} holds {what}, and parameters are stored in the executed notebook. "
                    "Pass it in an environment variable."
                )


def _walk(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """Every entry within mappings and lists: its path, its own name, its value."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            inner = f"{path}.{name}" if path else str(name)
            yield inner, str(name), part
            yield from _walk(part, inner)
    elif isinstance(value, list | tuple):
        for position, part in enumerate(value):
            inner = f"{path}[{position}]"
            yield inner, "", part
            yield from _walk(part, inner)
