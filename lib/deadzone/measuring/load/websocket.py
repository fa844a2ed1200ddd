"""WebSocket as a client speaks it: the upgrade, and frames in both directions (RFC 6455)."""

from __future__ import annotations

import base64
import hashlib
import os
import random
from collections.abc import Mapping

from deadzone.measuring.load.http1 import MOST_HEAD_BYTES, GarbageError, request

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""The number that RFC 6455 has every server hash with the client's key."""

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""A longer message is taken for garbage rather than for something to keep in memory."""


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
    return frame(TEXT, payload)


def frame(opcode: int, payload: bytes) -> bytes:
    """A final frame, masked."""
    length = len(payload)
    if length < 126:
        head = bytes((0x80 | opcode, 0x80 | length))
    elif length < 65_536:
        head = bytes((0x80 | opcode, 0x80 | 126)) + length.to_bytes(2)
    else:
        head = bytes((0x80 | opcode, 0x80 | 127)) + length.to_bytes(8)
    mask = random.getrandbits(32).to_bytes(4)
    stream = (mask * (length // 4 + 1))[:length]
    masked = int.from_bytes(payload) ^ int.from_bytes(stream)
    return head + mask + masked.to_bytes(length)


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
        self._buffer = b""
        self._message: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that have become complete.

        Raises GarbageError if it is no WebSocket, RefusedError if the server declines.
        """
        buffer = self._buffer + data if self._buffer else data
        if not self.is_upgraded:
            rest = self._read_upgrade(buffer)
            if rest is None:
                return []
            buffer = rest
        messages: list[bytes] = []
        at, size = 0, len(buffer)
        while size - at >= 2:
            first, second = buffer[at], buffer[at + 1]
            if first & 0x70 or second & 0x80:
                raise GarbageError
            length, head = second, at + 2
            if length == 126:
                if size - head < 2:
                    break
                length, head = int.from_bytes(buffer[head : head + 2]), head + 2
            elif length == 127:
                if size - head < 8:
                    break
                length, head = int.from_bytes(buffer[head : head + 8]), head + 8
            if length > MOST_MESSAGE_BYTES:
                raise GarbageError
            if size - head < length:
                break
            at = head + length
            if first == 0x80 | TEXT:
                messages.append(buffer[head:at])
            else:
                self._take(first, buffer[head:at], messages)
        self._buffer = buffer[at:]
        return messages

    def _take(self, first: int, payload: bytes, messages: list[bytes]) -> None:
        """Frames other than a whole text message."""
        opcode, final = first & 0x0F, bool(first & 0x80)
        if opcode == PING:
            self.answers.append(frame(PONG, payload))
        elif opcode == CLOSE:
            self.is_closed = True
            self.answers.append(frame(CLOSE, payload[:2]))
        elif opcode in (CONTINUATION, TEXT, BINARY):
            self._message.append(payload)
            if sum(map(len, self._message)) > MOST_MESSAGE_BYTES:
                raise GarbageError
            if final:
                messages.append(b"".join(self._message))
                self._message.clear()
        elif opcode != PONG:
            raise GarbageError

    def _read_upgrade(self, buffer: bytes) -> bytes | None:
        """What follows the server's answer, or None while that is incomplete."""
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(buffer) > MOST_HEAD_BYTES or not b"HTTP/1."[: len(buffer)] == buffer[:7]:
                raise GarbageError
            self._buffer = buffer
            return None
        first, *lines = buffer[:end].split(b"\r\n")
        words = first.split(b" ", 2)
        if len(words) < 2 or not words[1].isdigit():
            raise GarbageError
        if words[1] != b"101":
            raise RefusedError(int(words[1]))
        told = dict(line.split(b":", 1) for line in lines if b":" in line)
        accept = next(
            (value.strip() for name, value in told.items() if name.lower() == b"sec-websocket-accept"), b""
        )
        if accept != self._accepted:
            raise GarbageError
        self.is_upgraded = True
        self._buffer = b""
        return buffer[end + 4 :]
