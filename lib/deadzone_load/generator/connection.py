"""A non-blocking connection, plain or TLS, that never raises: whatever goes wrong is told as a kind
of failure."""

import errno
import select
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from deadzone.run.workloads.addresses import Address
from deadzone_load.generator.loop import READ, WRITE, Loop

Failure = Literal["refused", "timeout", "closed", "status", "garbage", "descriptors", "other"]

FAILURES: tuple[Failure, ...] = get_args(Failure)

PIECE_BYTES = 65_536

ERRORS: dict[Failure, tuple[int, ...]] = {
    "refused": (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH),
    "timeout": (errno.ETIMEDOUT,),
    "closed": (errno.ECONNRESET, errno.EPIPE),
    "descriptors": (
        errno.EMFILE,
        errno.ENFILE,
        errno.EADDRNOTAVAIL,
        errno.ENOBUFS,
        errno.EADDRINUSE,
    ),
}
"""The kernel's errors of each failure; running out of local ports counts as running out of
descriptors."""

KINDS = {number: kind for kind, numbers in ERRORS.items() for number in numbers}

BROKEN = select.EPOLLERR | select.EPOLLHUP

NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a socket raises that has nothing to read, or no room for what is written."""


def kind_of(error: OSError) -> Failure:
    """The kind of failure that an error of the kernel is; TLS that breaks on a standing connection
    has closed it."""
    return "closed" if isinstance(error, ssl.SSLError) else KINDS.get(error.errno or 0, "other")


def tls_context(verify: bool) -> ssl.SSLContext:
    """How TLS is spoken; without verify, any certificate is taken."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@dataclass(frozen=True)
class Wire:
    """How a server is reached: in which loop, where, and by which TLS, None for plain."""

    loop: Loop
    address: Address
    context: ssl.SSLContext | None


class Connection:
    """A TCP connection in a loop. on_open(), on_data(bytes) and on_close(failure) tell what happens
    to it.

    on_close is called once, and not after the owner's own close().
    """

    def __init__(
        self,
        wire: Wire,
        on_open: Callable[[], None],
        on_data: Callable[[bytes], None],
        on_close: Callable[[Failure], None],
    ) -> None:
        self._loop, self._address, self._context = wire.loop, wire.address, wire.context
        self._on_open, self._on_data, self._on_close = on_open, on_data, on_close
        self._socket: socket.socket | None = None
        self._descriptor = -1
        self._unsent = b""
        self.sent_bytes = self.received_bytes = 0

    def start(self) -> None:
        """Begin to connect; the outcome is told by on_open or on_close, never in this call except
        by on_close."""
        kind = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
        try:
            self._socket = socket.socket(self._address.family, kind)
        except OSError as error:
            self._on_close(kind_of(error))
            return
        self._descriptor = self._socket.fileno()
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = self._socket.connect_ex(self._address.sockaddr)
        if code in (0, errno.EINPROGRESS):
            self._loop.watch(self._descriptor, WRITE, self._connecting)
        else:
            self._fail(KINDS.get(code, "other"))

    def send(self, data: bytes) -> None:
        """Send now what the kernel takes, the rest when it takes more."""
        if self._socket is None:
            return
        self.sent_bytes += len(data)
        if self._unsent:
            self._unsent += data
        else:
            self._send_now(data)

    def close(self) -> None:
        """Close without a word to the owner."""
        if self._socket is not None:
            self._loop.forget(self._descriptor)
            self._socket.close()
            self._socket = None

    def _fail(self, kind: Failure) -> None:
        self.close()
        self._on_close(kind)

    def _connecting(self, events: int) -> None:
        assert self._socket is not None
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._fail(KINDS.get(code, "other"))
            return
        self._loop.forget(self._descriptor)
        if self._context is None:
            self._opened()
            return
        try:
            self._socket = self._context.wrap_socket(
                self._socket, server_hostname=self._address.host, do_handshake_on_connect=False
            )
        except (OSError, ValueError):
            self._fail("garbage")
            return
        self._loop.watch(self._descriptor, WRITE, self._shaking_hands)

    def _shaking_hands(self, events: int) -> None:
        assert isinstance(self._socket, ssl.SSLSocket)
        try:
            self._socket.do_handshake()
        except NOT_NOW as error:
            wants_write = isinstance(error, ssl.SSLWantWriteError)
            self._loop.change(self._descriptor, WRITE if wants_write else READ)
        except OSError as error:
            self._fail("garbage" if isinstance(error, ssl.SSLError) else kind_of(error))
        else:
            self._loop.forget(self._descriptor)
            self._opened()

    def _opened(self) -> None:
        self._loop.watch(self._descriptor, READ, self._ready)
        self._on_open()

    def _ready(self, events: int) -> None:
        if events & WRITE:
            self._send_now(self._unsent)
        if events & (READ | BROKEN) and self._socket is not None:
            self._receive()

    def _receive(self) -> None:
        while self._socket is not None:
            try:
                data = self._socket.recv(PIECE_BYTES)
            except NOT_NOW:
                return
            except OSError as error:
                self._fail(kind_of(error))
                return
            if not data:
                self._fail("closed")
                return
            self.received_bytes += len(data)
            self._on_data(data)
            if self._context is None and len(data) < PIECE_BYTES:
                return

    def _send_now(self, data: bytes) -> None:
        assert self._socket is not None
        try:
            rest = data[self._socket.send(data) :]
        except NOT_NOW:
            rest = data
        except OSError as error:
            self._fail(kind_of(error))
            return
        if bool(rest) != bool(self._unsent):
            self._loop.change(self._descriptor, READ | WRITE if rest else READ)
        self._unsent = rest
