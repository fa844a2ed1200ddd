"""The protocols of a load as a client speaks them: HTTP/1.1 (RFC 9112), where one response ends and
whether the connection may be used again; STOMP 1.2 over WebSocket, frames to text and back
(stomp.github.io, specification 1.2); and WebSocket (RFC 6455): the upgrade, whose answer httptools
reads, and frames, which websockets does.
"""

import re
from collections.abc import Mapping

import httptools
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side, State
from websockets.utils import accept_key, generate_key

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

SWITCHING = 101


class GarbageError(Exception):
    """What came is no response in the protocol that was asked for."""


def request(method: str, path: str, host: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """A request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
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


def upgrade(
    path: str, host: str, headers: Mapping[str, str], subprotocol: str = ""
) -> tuple[bytes, bytes]:
    """The request that asks for a WebSocket, and what the server must answer it with."""
    key = generate_key()
    wanted = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Version": "13",
        **({"Sec-WebSocket-Protocol": subprotocol} if subprotocol else {}),
        **headers,
    }
    return request("GET", path, host, wanted, b""), accept_key(key).encode()


def text_frame(payload: bytes) -> bytes:
    """A text message in one frame, masked as a client must."""
    return Frame(Opcode.TEXT, payload).serialize(mask=True)


class FrameReader:
    """Takes the bytes of a connection, first the answer to the upgrade, then frames.

    is_upgraded: whether the server has agreed. answers: frames (pongs, a close) to be sent back.
    is_closed: whether the server has said that it closes.
    """

    def __init__(self, accepted: bytes) -> None:
        self._accepted = accepted
        self.is_upgraded = False
        self.is_closed = False
        self.answers: list[bytes] = []
        self._head = httptools.HttpResponseParser(self)
        self._head_bytes = self._status = 0
        self._agreed = b""
        self._frames = Protocol(Side.CLIENT, state=State.OPEN, max_size=MOST_MESSAGE_BYTES)
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete with this data.

        Raises GarbageError if it is no WebSocket, UpgradeRefusedError if the server declines.
        """
        if not self.is_upgraded:
            data = self._read_upgrade(data)
        frames, messages = self._frames, []
        frames.receive_data(data)
        for frame in frames.events_received():
            assert isinstance(frame, Frame)
            if frame.opcode in MESSAGES:
                self._parts.append(bytes(frame.data))
                if frame.fin:
                    messages.append(b"".join(self._parts))
                    self._parts.clear()
            elif frame.opcode is Opcode.CLOSE:
                self.is_closed = True
        if frames.parser_exc is not None:
            raise GarbageError from frames.parser_exc
        self.answers += filter(None, frames.data_to_send())
        return messages

    def on_header(self, name: bytes, value: bytes) -> None:
        """Told by the parser of the answer to the upgrade."""
        if name.lower() == b"sec-websocket-accept":
            self._agreed = value.strip()

    def on_headers_complete(self) -> None:
        """Told by the parser of the answer to the upgrade."""
        self._status = self._head.get_status_code()

    def _read_upgrade(self, data: bytes) -> bytes:
        """What follows the server's answer; nothing while that is incomplete."""
        self._head_bytes += len(data)
        try:
            self._head.feed_data(data)
        except httptools.HttpParserUpgrade as switched:
            self.is_upgraded = self._status == SWITCHING and self._agreed == self._accepted
            data = data[switched.args[0] :]
        except httptools.HttpParserError as error:
            raise GarbageError from error
        if self._status and self._status != SWITCHING:
            raise UpgradeRefusedError(self._status)
        if not self.is_upgraded and (self._status or self._head_bytes > MOST_HEAD_BYTES):
            raise GarbageError
        return data if self.is_upgraded else b""
