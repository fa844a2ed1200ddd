"""HTTP/1.1 as a client reads it: where one response ends, and whether the connection may be used again (RFC 9112)."""

from __future__ import annotations

from collections.abc import Mapping

import httptools

MOST_HEAD_BYTES = 65_536
"""More than this before the empty line is no head of a response."""

LENGTHS = (b"content-length", b"transfer-encoding")


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
    """Takes the bytes of a connection and says when a response is complete; httptools finds its parts.

    status: of the last complete response. keeps_open: whether the connection may serve another request.
    """

    def __init__(self) -> None:
        self.status = 0
        self.keeps_open = True
        self._parser = httptools.HttpResponseParser(self)
        self._complete = self._has_length = self._in_body = False
        self._head_bytes = 0

    def feed(self, data: bytes) -> bool:
        """Whether a response has become complete with this data. Raises GarbageError if it is no HTTP/1.1."""
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
