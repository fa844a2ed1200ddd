"""STOMP 1.2 as a client speaks it over WebSocket: frames to text and back (stomp.github.io, specification 1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deadzone.measuring.load.http1 import GarbageError

SUBPROTOCOL = "v12.stomp"

ESCAPES = (("\\", "\\\\"), ("\r", "\\r"), ("\n", "\\n"), (":", "\\c"))

COMMANDS = (b"CONNECTED", b"MESSAGE", b"RECEIPT", b"ERROR")
"""What a server may send."""


@dataclass(frozen=True)
class Frame:
    """A frame of the server: its command, headers and body."""

    command: bytes
    headers: dict[bytes, bytes]
    body: bytes


def write_frame(command: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """A frame of the client. Headers of CONNECT are not escaped, as the specification has it."""
    told = {**headers, **({"content-length": str(len(body))} if body else {})}
    escape = (lambda text: text) if command == "CONNECT" else escaped
    lines = [command, *(f"{escape(name)}:{escape(value)}" for name, value in told.items()), "", ""]
    return "\n".join(lines).encode() + body + b"\0"


def escaped(text: str) -> str:
    """A header's name or value with the characters that would end it written otherwise."""
    for plain, written in ESCAPES:
        text = text.replace(plain, written)
    return text


def read_frame(message: bytes) -> Frame | None:
    """The frame in a WebSocket message; None for a heart-beat. Raises GarbageError if it is no STOMP."""
    text = message.lstrip(b"\r\n")
    if not text:
        return None
    head, separator, body = text.partition(b"\n\n")
    if b"\r\n\r\n" in text and (not separator or text.find(b"\r\n\r\n") < len(head)):
        head, separator, body = text.partition(b"\r\n\r\n")
    command, *lines = head.split(b"\n")
    command = command.rstrip(b"\r")
    if not separator or command not in COMMANDS:
        raise GarbageError
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, _, value = line.rstrip(b"\r").partition(b":")
        headers.setdefault(name, value)
    return Frame(command, headers, body.rstrip(b"\n\r").removesuffix(b"\0"))
