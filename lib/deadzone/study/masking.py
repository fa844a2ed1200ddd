"""Credentials in addresses, masked: what is stored, printed or published names a service, never its
password."""

import re
from typing import Any

MASK = "***"

USER_AND_PASSWORD = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/?#\"'<>]+@", re.IGNORECASE)
"""`user:password@`, or a token alone, before the host of an address."""

SECRET_QUERY = re.compile(
    r"(?P<name>[?&;](?:[\w.-]*(?:token|passw(?:or)?d|secret|credential|signature)[\w.-]*|api[_-]?key|access[_-]?key|key|auth|sig|pwd|code)=)"
    r"[^&\s#\"'<>]+",
    re.IGNORECASE,
)
"""A parameter of a query whose name says that its value is a secret."""

AUTHORISATION = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization\b['\"]?\s*[:=]\s*['\"]?)(?:(?:basic|bearer|token|digest|negotiate|ntlm|hmac|oauth|hawk|dpop|splunk|[\w-]*key)\s+)?[^\s,'\"]+",
    re.IGNORECASE,
)
"""The header by which a client proves who it is."""

SECRET_HEADERS = ("authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token")
"""Headers of a request whose whole value is a secret."""

SECRET_NAME = (
    r"(?:[\w.-]*[_.-])?(?:token|passw(?:or)?d|passphrase|secret|credentials?|pwd"
    r"|(?:api|access|private|secret)[_-]?key)"
)
SECRET_ARGUMENT = re.compile(
    rf"(?P<name>(?<![\w.?&;-])-{{0,2}}{SECRET_NAME}=|(?<!\S)--?{SECRET_NAME}\s+"
    rf"|\b(?:{'|'.join(SECRET_HEADERS)}):\s*"
    r"|(?<!\S)(?:-u|--user)[=\s]\s*[^\s:'\"]+:)"
    r"['\"]?[^\s'\"]+",
    re.IGNORECASE,
)
"""What a line gives by a name that says that it is a secret: a variable, an option, a header, or a
user with a password."""


def masked_document(value: Any) -> Any:
    """A document with the secrets in its texts masked; keys may be paths, such as
    workload.headers.Cookie."""
    if isinstance(value, dict):
        headers = {name for name in value if str(name).rpartition(".")[2].lower() in SECRET_HEADERS}
        return {
            name: MASK if name in headers and isinstance(part, str) else masked_document(part)
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked_document(part) for part in value]
    return masked(value) if isinstance(value, str) else value


def masked(text: str) -> str:
    """The text with the credentials of every address and authorisation header in it replaced by
    `***`."""
    text = USER_AND_PASSWORD.sub(rf"\g<scheme>{MASK}@", text)
    text = SECRET_QUERY.sub(rf"\g<name>{MASK}", text)
    return AUTHORISATION.sub(rf"\g<name>{MASK}", text)


def masked_line(line: str) -> str:
    """A command line in which secrets are masked that its own names tell of, too."""
    return SECRET_ARGUMENT.sub(rf"\g<name>{MASK}", masked(line))
