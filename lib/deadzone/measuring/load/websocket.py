"""WebSocket as a client speaks it (RFC 6455): the upgrade, whose answer httptools reads, and frames, which websockets does."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping

import httptools
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side, State

from deadzone.measuring.load.http1 import MOST_HEAD_BYTES, GarbageError, request

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""The number that RFC 6455 has every server hash with the client's key."""

MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""A longer message is taken for garbage rather than for something to keep in memory."""

MESSAGES = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
SWITCHING = 101


class RefusedError(Exception):
    """The server answered the upgrade with another status; the argument is that status."""


def upgrade(path: str, host: str, headers: Mapping[str, str], subprotocol: str = "") -> tuple[bytes, bytes]:
    """The request that asks for a WebSocket, and what the server must answer it with."""
    key = base64.b64encode(os.urandom(16))
    wanted = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": key.decode(),
        "Sec-WebSocket-Version": "13",
        **({"Sec-WebSocket-Protocol": subprotocol} if subprotocol else {}),
        **headers,
    }
    accepted = base64.b64encode(hashlib.sha1(key + MAGIC, usedforsecurity=False).digest())
    return request("GET", path, host, wanted, b""), accepted


def text_frame(payload: bytes) -> bytes:
    """A text message in one frame, masked as a client must."""
    return Frame(Opcode.TEXT, payload).serialize(mask=True)


class FrameReader:
    """Takes the bytes of a connection, first the answer to the upgrade, then frames.

    is_upgraded: whether the server has agreed. answers: frames (pongs, a close) to be sent back. is_closed: whether the
    server has said that it closes.
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

        Raises GarbageError if it is no WebSocket, RefusedError if the server declines.
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
            raise RefusedError(self._status)
        if not self.is_upgraded and (self._status or self._head_bytes > MOST_HEAD_BYTES):
            raise GarbageError
        return data if self.is_upgraded else b""
