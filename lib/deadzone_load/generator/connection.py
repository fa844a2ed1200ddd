"""A non-blocking connection, plain or TLS, that never raises: whatever goes wrong is told as a kind
of failure.

One thread that waits for sockets and moments: epoll, and timers to a few tens of microseconds.

asyncio's timers are rounded up to a millisecond and every event costs it some 15 us of bookkeeping;
a generator that watches its own lag to fractions of a millisecond needs neither. epoll's own
time-out is whole milliseconds too, so the loop waits for the epoll descriptor in select(2), whose
time-out is microseconds.
"""

import errno
import heapq
import select
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from deadzone.run.workloads.addresses import Address

READ = select.EPOLLIN
WRITE = select.EPOLLOUT

LONGEST_WAIT_S = 0.1
MOST_EVENTS = 256
"""So many sockets are served before the clock is looked at again, so that a flood of answers makes
no send late."""


class Loop:
    """Calls handlers when their sockets are ready, and functions when their time has come."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._timers: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbered = 0
        self._running = False

    def watch(self, descriptor: int, events: int, handler: Callable[[int], None]) -> None:
        """Call handler(events) whenever the descriptor is ready."""
        self._handlers[descriptor] = handler
        self._epoll.register(descriptor, events)

    def change(self, descriptor: int, events: int) -> None:
        """Wait for other events of a watched descriptor."""
        self._epoll.modify(descriptor, events)

    def forget(self, descriptor: int) -> None:
        """Watch the descriptor no longer; call it before closing."""
        if self._handlers.pop(descriptor, None) is not None:
            self._epoll.unregister(descriptor)

    def at(self, moment: float, call: Callable[[float], None]) -> None:
        """Call a function with the time when time.monotonic() has reached a moment."""
        self._numbered += 1
        heapq.heappush(self._timers, (moment, self._numbered, call))

    def run(self) -> None:
        """Serve until stop() is called."""
        self._running = True
        timers, handlers, epoll = self._timers, self._handlers, self._epoll
        own = [epoll.fileno()]
        clock, wait, ready = time.monotonic, select.select, epoll.poll
        while self._running:
            now = clock()
            due = []
            while timers and timers[0][0] <= now:
                due.append(heapq.heappop(timers)[2])
            for call in due:  # one that asks to be called at once is called after the sockets
                call(clock())
            if not self._running:
                return
            now = clock()
            pause = min(timers[0][0] - now, LONGEST_WAIT_S) if timers else LONGEST_WAIT_S
            if not wait(own, (), (), max(pause, 0.0))[0]:
                continue
            for descriptor, events in ready(0, MOST_EVENTS):
                handler = handlers.get(descriptor)
                if handler is not None:
                    handler(events)

    def stop(self) -> None:
        """Leave run() soon."""
        self._running = False

    def close(self) -> None:
        """Give the descriptor back."""
        self._epoll.close()


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

    on_close is called once, and not after the owner's own close(). is_open: whether the connection
    stands.
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
        self.is_open = False
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
            self.is_open = False

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
        except ssl.SSLWantReadError:
            self._loop.change(self._descriptor, READ)
        except ssl.SSLWantWriteError:
            self._loop.change(self._descriptor, WRITE)
        except OSError as error:
            self._fail("garbage" if isinstance(error, ssl.SSLError) else kind_of(error))
        else:
            self._loop.forget(self._descriptor)
            self._opened()

    def _opened(self) -> None:
        self.is_open = True
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
