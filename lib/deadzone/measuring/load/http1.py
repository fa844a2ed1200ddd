"""HTTP/1.1 as a client reads it: where one response ends, and whether the connection may be used again (RFC 9112)."""

from __future__ import annotations

from collections.abc import Mapping

MOST_HEAD_BYTES = 65_536
"""More than this before the empty line is no head of a response."""

EMPTY_STATUS = (204, 304)


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
    """Takes the bytes of a connection and says when a response is complete.

    status: of the last complete response. keeps_open: whether the connection may serve another request.
    """

    def __init__(self) -> None:
        self.status = 0
        self.keeps_open = True
        self._buffer = b""
        self._state = "head"
        self._left = 0

    def feed(self, data: bytes) -> bool:
        """Whether a response has become complete with this data. Raises GarbageError if it is no HTTP/1.1."""
        self._buffer = self._buffer + data if self._buffer else data
        while True:
            if self._state == "head":
                if not self._read_head():
                    return False
            elif self._state == "counted":
                return self._read_counted()
            elif self._state == "chunked":
                return self._read_chunks()
            else:
                self._buffer = b""
                return False
            if self._state == "head":
                if self.status >= 200:
                    return True
                continue

    def closed(self) -> bool:
        """Whether the connection's end completes a response, as that of one without a length."""
        if self._state == "until closed":
            self._state = "head"
            return True
        return False

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MOST_HEAD_BYTES or not b"HTTP/1."[: len(self._buffer)] == self._buffer[:7]:
                raise GarbageError
            return False
        first, _, rest = self._buffer[:end].partition(b"\r\n")
        self._buffer = self._buffer[end + 4 :]
        words = first.split(b" ", 2)
        if (
            len(words) < 2
            or not words[0].startswith(b"HTTP/1.")
            or len(words[1]) != 3
            or not words[1].isdigit()
        ):
            raise GarbageError
        self.status = int(words[1])
        headers = _headers(rest)
        told = headers.get(b"connection", b"")
        self.keeps_open = b"close" not in told if words[0] != b"HTTP/1.0" else b"keep-alive" in told
        if self.status < 200 or self.status in EMPTY_STATUS:
            return True
        if b"chunked" in headers.get(b"transfer-encoding", b""):
            self._state = "chunked"
        elif b"content-length" in headers:
            length = headers[b"content-length"]
            if not length.isdigit():
                raise GarbageError
            self._left = int(length)
            if self._left:
                self._state = "counted"
        else:
            self._state, self.keeps_open = "until closed", False
        return True

    def _read_counted(self) -> bool:
        taken = min(self._left, len(self._buffer))
        self._left -= taken
        self._buffer = self._buffer[taken:]
        if self._left:
            return False
        self._state = "head"
        return True

    def _read_chunks(self) -> bool:
        while True:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                return False
            try:
                size = int(self._buffer[:end].split(b";")[0], 16)
            except ValueError as error:
                raise GarbageError from error
            if size:
                if len(self._buffer) < end + size + 4:
                    return False
                self._buffer = self._buffer[end + size + 4 :]
                continue
            trailer = self._buffer.find(b"\r\n\r\n", end)
            if trailer < 0:
                return False
            self._buffer = self._buffer[trailer + 4 :]
            self._state = "head"
            return True


def _headers(lines: bytes) -> dict[bytes, bytes]:
    found = {}
    for line in lines.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if line and not colon:
            raise GarbageError
        found[name.strip().lower()] = value.strip().lower()
    return found
