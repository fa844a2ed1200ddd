"""HTTP requests at a constant arrival rate, over connections that are kept open and grow in number
as they are needed."""

from collections import deque
from itertools import count

from deadzone_load.generator.connection import Connection, Failure, Wire
from deadzone_load.generator.plan import ID, LoadPlan
from deadzone_load.generator.protocols import GarbageError, ResponseReader, request
from deadzone_load.generator.recording import Recorder
from deadzone_load.generator.sessions import HTTP_ERRORS
from deadzone_load.generator.window import WindowedLoad

REPEATABLE = ("GET", "PUT", "DELETE")
"""Methods that may be sent again where a kept connection turns out closed before an answer (RFC
9112, 9.3.1)."""


class Channel:
    """A kept connection that serves one request after the other. due_s: moment of the one it
    serves."""

    def __init__(self, load: "HttpLoad", due_s: float) -> None:
        """Once it is open it serves the request of a moment."""
        self._load = load
        self.due_s, self._began_s = due_s, load.now_s()
        self.served = 0
        self._has_bytes = False
        self._reader = ResponseReader()
        self.connection = Connection(load.wire, self._on_open, self._receive, self._on_close)

    @property
    def was_open(self) -> bool:
        """Whether it stood, for the first thing that then happens is a request."""
        return self.connection.sent_bytes > 0

    def serve(self, due_s: float) -> None:
        """Send the request of a moment."""
        self.due_s, self._has_bytes = due_s, False
        self._load.sends(due_s)
        self.connection.send(self._load.request_bytes())

    def _on_open(self) -> None:
        self._load.recorder.opened(self._began_s, self._load.now_s() - self._began_s)
        self.serve(self.due_s)

    def _receive(self, data: bytes) -> None:
        self._has_bytes = True
        try:
            complete = self._reader.feed(data)
        except GarbageError:
            self._load.broke(self, "garbage", False)
            return
        if complete and self in self._load.busy:  # a server may say 408 to one that idles
            self.served += 1
            self._load.answered(self, self._reader.status, self._reader.keeps_open)

    def _on_close(self, kind: Failure) -> None:
        if self._reader.closed() and self in self._load.busy:
            self._load.answered(self, self._reader.status, False)
            return
        stale = kind == "closed" and self.served > 0 and not self._has_bytes
        self._load.broke(self, kind, stale)


class HttpLoad(WindowedLoad):
    """The load: every request has its moment, and waits for a free connection where all are busy.

    busy: channels whose request has no answer yet.
    """

    def __init__(self, wire: Wire, plan: LoadPlan, recorder: Recorder) -> None:
        super().__init__(wire, plan, recorder)
        self._idle: list[Channel] = []
        self.busy: dict[Channel, None] = {}
        self._waiting: deque[float] = deque()
        self._numbers = count()
        self._is_numbered = ID in plan.body or ID in wire.address.path
        self._request = self._numbered_request()

    def run(self) -> None:
        """Send everything, then wait for the answers."""
        self._open_window()
        self.loop.run()
        self._let_go(*(channel.connection for channel in (*self.busy, *self._idle)))

    def request_bytes(self) -> bytes:
        """The next request."""
        if self._is_numbered:
            self._request = self._numbered_request()
        return self._request

    def _numbered_request(self) -> bytes:
        number = str(next(self._numbers))
        plan, address = self._plan, self.wire.address
        path, body = address.path.replace(ID, number), plan.body.replace(ID, number).encode()
        return request(plan.method, path, address.host_header, plan.headers, body)

    def answered(self, channel: Channel, status: int, keeps_open: bool) -> None:
        """A whole response came."""
        del self.busy[channel]
        if status >= HTTP_ERRORS:
            self.recorder.statuses[status] += 1
            self.recorder.failure(channel.due_s, "status")
        else:
            self.recorder.answer(channel.due_s, self.now_s())
        if not keeps_open:
            self._let_go(channel.connection)
            self.recorder.connections_now -= 1
            self._open_for_waiting()
        elif self._waiting:
            self._serve(channel, self._waiting.popleft())
        else:
            self._idle.append(channel)
        self._end_if_done()

    def broke(self, channel: Channel, kind: Failure, stale: bool) -> None:
        """A connection broke, or could not be made."""
        self._let_go(channel.connection)
        if channel.was_open:
            self.recorder.lost()
        else:
            self.recorder.connect_errors[kind] += 1
        if channel not in self.busy:
            self._idle.remove(channel)
        elif stale and self._plan.method in REPEATABLE:
            del self.busy[channel]
            self._open(channel.due_s)
        else:
            del self.busy[channel]
            self.recorder.failure(channel.due_s, kind)
            # Not at once: many refusals in a row would be that many calls deep.
            self.loop.at(0.0, self._open_for_waiting)
        self._end_if_done()

    def _fire(self, due_s: float) -> None:
        if due_s >= 0:
            self.recorder.due += 1
        if self._idle:
            self._serve(self._idle.pop(), due_s)
        elif len(self.busy) < self._plan.connections:
            self._open(due_s)
        else:
            self._waiting.append(due_s)

    def _serve(self, channel: Channel, due_s: float) -> None:
        self.busy[channel] = None
        channel.serve(due_s)

    def _open(self, due_s: float) -> None:
        channel = Channel(self, due_s)
        self.busy[channel] = None
        self.recorder.attempted += 1
        channel.connection.start()

    def _open_for_waiting(self, _: float = 0.0) -> None:
        if self._waiting and len(self.busy) < self._plan.connections:
            self._open(self._waiting.popleft())

    def _give_up_since(self, latest_s: float, now_s: float) -> None:
        for channel in [channel for channel in self.busy if channel.due_s <= latest_s]:
            self._give_up(channel, now_s)
        while self._waiting and self._waiting[0] <= latest_s:
            self.recorder.no_answer(self._waiting.popleft(), now_s, was_sent=False)
        while self._waiting and len(self.busy) < self._plan.connections:
            self._open_for_waiting()

    def _give_up(self, channel: Channel, now_s: float) -> None:
        self.recorder.no_answer(channel.due_s, now_s, was_sent=True)
        del self.busy[channel]
        self._let_go(channel.connection)
        if channel.was_open:
            self.recorder.connections_now -= 1
        else:
            self.recorder.connect_errors["timeout"] += 1

    def _end_if_done(self) -> None:
        if (
            self._all_due
            and not self.busy
            and not self._waiting
            and self.now_s() >= self._plan.duration_s
        ):
            self.loop.stop()
