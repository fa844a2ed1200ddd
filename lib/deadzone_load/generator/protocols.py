"""The protocols of a load as a client speaks them: HTTP/1.1 (RFC 9112), where one response ends and
whether the connection may be used again; STOMP 1.2 over WebSocket, frames to text and back
(stomp.github.io, specification 1.2); and WebSocket (RFC 6455), the upgrade and frames, which
websockets reads.
"""

import re
import string
from collections.abc import Mapping
from urllib.parse import quote

import httptools
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

MOST_HEAD_BYTES = 65_536
"""More than this before the empty line is no head of a response."""

LENGTHS = (b"content-length", b"transfer-encoding")


SUBPROTOCOL = "v12.stomp"

ESCAPES = str.maketrans({"\\": "\\\\", "\r": "\\r", "\n": "\\n", ":": "\\c"})

HEAD_END = re.compile(rb"\n\n|\r\n\r\n")

COMMANDS = (b"CONNECTED", b"MESSAGE", b"RECEIPT", b"ERROR")
"""What a server may send."""

MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""A longer message is taken for garbage rather than for something to keep in memory."""

MESSAGES = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)

SUBPROTOCOLS = "Sec-WebSocket-Protocol"


class GarbageError(Exception):
    """What came is no response in the protocol that was asked for."""


def request(method: str, path: str, host: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """A request as bytes."""
    lines = [f"{method} {quote(path, safe=string.punctuation)} HTTP/1.1"]
    if "host" not in map(str.lower, headers):
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode("latin-1", "replace") + body


class ResponseReader:
    """Takes the bytes of a connection and says when a response is complete; httptools finds its
    parts.

    status: of the last complete response. keeps_open: whether the connection may serve another
    request.
    """

    def __init__(self) -> None:
        self.status = 0
        self.keeps_open = True
        self._parser = httptools.HttpResponseParser(self)
        self._complete = self._has_length = self._in_body = False
        self._head_bytes = 0

    def feed(self, data: bytes) -> bool:
        """Whether a response has become complete with this data. Raises GarbageError if it is no
        HTTP/1.1."""
        self._complete = False
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise GarbageError from error
        if not self._complete and not self._in_body:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES:
                raise GarbageError
        return self._complete

    def closed(self) -> bool:
        """Whether the connection's end completes a response, as that of one without a length."""
        return self._in_body and not self._has_length

    def on_header(self, name: bytes, value: bytes) -> None:
        """Told by the parser."""
        if name.lower() in LENGTHS:
            self._has_length = True

    def on_headers_complete(self) -> None:
        """Told by the parser."""
        self.status = self._parser.get_status_code()
        self.keeps_open = self._parser.should_keep_alive()
        self._in_body = True

    def on_message_complete(self) -> None:
        """Told by the parser, also of the answer 100, after which the one that counts comes."""
        self._complete = self.status >= 200
        self._in_body = self._has_length = False
        self._head_bytes = 0


def write_frame(command: str, headers: Mapping[str, str]) -> bytes:
    """A frame without a body. Headers of CONNECT are not escaped, as the specification has it."""
    escape = (lambda text: text) if command == "CONNECT" else escaped
    lines = [
        command,
        *(f"{escape(name)}:{escape(value)}" for name, value in headers.items()),
        "",
        "",
    ]
    return "\n".join(lines).encode() + b"\0"


def escaped(text: str) -> str:
    """A header's name or value with the characters that would end it written otherwise."""
    return text.translate(ESCAPES)


def read_frame(message: bytes) -> tuple[bytes, bytes] | None:
    """Command and body of the server's frame in a WebSocket message; None for a heart-beat. Raises
    GarbageError if it is no STOMP."""
    text = message.lstrip(b"\r\n")
    if not text:
        return None
    head, *rest = HEAD_END.split(text, maxsplit=1)
    command = head.partition(b"\n")[0].rstrip(b"\r")
    if not rest or command not in COMMANDS:
        raise GarbageError
    return command, rest[0].rstrip(b"\n\r").removesuffix(b"\0")


class UpgradeRefusedError(Exception):
    """The server answered the upgrade with another status; the argument is that status."""


def text_frame(payload: bytes) -> bytes:
    """A text message in one frame, masked as a client must."""
    return Frame(Opcode.TEXT, payload).serialize(mask=True)


class FrameReader:
    """Takes the bytes of a connection, first the answer to the upgrade, then frames.

    is_upgraded: whether the server has agreed. answers: what is to be sent, the request at first,
    then frames (pongs, a close). is_closed: whether the server has said that it closes.
    """

    def __init__(self, url: str, headers: Mapping[str, str], subprotocol: str = "") -> None:
        """url: begins with ws:// or wss://. headers: of the request that asks for a WebSocket."""
        named_alike = {name.lower(): value for name, value in headers.items()}
        wanted = named_alike.get(SUBPROTOCOLS.lower(), subprotocol)
        named = [Subprotocol(name.strip()) for name in wanted.split(",")] if wanted else None
        self.is_upgraded = self.is_closed = False
        self._frames = ClientProtocol(
            parse_uri(url), subprotocols=named, max_size=MOST_MESSAGE_BYTES
        )
        asked = self._frames.connect()
        for name, value in headers.items():
            asked.headers.pop(name, None)
            asked.headers[name] = value
        self._frames.send_request(asked)
        self.answers = self._frames.data_to_send()
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete with this data.

        Raises GarbageError if it is no WebSocket, UpgradeRefusedError if the server declines.
        """
        frames, messages = self._frames, []
        frames.receive_data(data)
        for event in frames.events_received():
            if not isinstance(event, Frame):
                self.is_upgraded = frames.handshake_exc is None
            elif event.opcode in MESSAGES:
                self._parts.append(bytes(event.data))
                if event.fin:
                    messages.append(b"".join(self._parts))
                    self._parts.clear()
            elif event.opcode is Opcode.CLOSE:
                self.is_closed = True
        if isinstance(frames.handshake_exc, InvalidStatus):
            raise UpgradeRefusedError(frames.handshake_exc.response.status_code)
        if problem := frames.handshake_exc or frames.parser_exc:
            raise GarbageError from problem
        self.answers += filter(None, frames.data_to_send())
        return messages
