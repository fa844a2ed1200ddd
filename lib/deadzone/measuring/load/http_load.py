"""HTTP requests at a constant arrival rate, over connections that are kept open and grow in number as they are needed."""

from __future__ import annotations

from collections import deque

from deadzone.measuring.load.connection import Connection, Failure, Wire
from deadzone.measuring.load.plan import ID, LoadPlan
from deadzone.measuring.load.protocols import GarbageError, ResponseReader, request
from deadzone.measuring.load.recording import Recorder
from deadzone.measuring.load.sessions import HTTP_ERRORS
from deadzone.measuring.load.window import WindowedLoad

REPEATABLE = ("GET", "PUT", "DELETE")
"""Methods that may be sent again where a kept connection turns out closed before an answer (RFC 9112, 9.3.1)."""


class Channel:
    """A kept connection that serves one request after the other. due_s: moment of the one it serves."""

    def __init__(self, load: HttpLoad) -> None:
        self._load = load
        self.due_s: float | None = None
        self.began_s = 0.0
        self.served = 0
        self._has_bytes = False
        self._reader = ResponseReader()
        self.connection = Connection(load.wire, self._on_open, self._receive, self._on_close)

    def open_for(self, due_s: float, now_s: float) -> None:
        """Connect, then send the request of a moment."""
        self.due_s, self.began_s = due_s, now_s
        self.connection.start()

    def serve(self, due_s: float) -> None:
        """Send the request of a moment."""
        self.due_s, self._has_bytes = due_s, False
        self._load.sends(due_s)
        self.connection.send(self._load.request_bytes())

    def _on_open(self) -> None:
        self._load.recorder.opened(self.began_s, self._load.now_s() - self.began_s)
        assert self.due_s is not None
        self.serve(self.due_s)

    def _receive(self, data: bytes) -> None:
        self._has_bytes = True
        try:
            complete = self._reader.feed(data)
        except GarbageError:
            self._end("garbage")
            return
        if complete:
            self.served += 1
            self._load.answered(self, self._reader.status, self._reader.keeps_open)

    def _on_close(self, kind: Failure) -> None:
        if self._reader.closed() and self.due_s is not None:
            self._load.answered(self, self._reader.status, False)
            return
        stale = kind == "closed" and self.served > 0 and not self._has_bytes
        self._load.broke(self, kind, stale)

    def _end(self, kind: Failure) -> None:
        self.connection.close()
        self._load.broke(self, kind, False)


class HttpLoad(WindowedLoad):
    """The load: every request has its moment, and waits for a free connection where all are busy."""

    def __init__(self, wire: Wire, plan: LoadPlan, recorder: Recorder) -> None:
        super().__init__(wire, plan, recorder)
        self.address = wire.address
        self._idle: list[Channel] = []
        self._busy: dict[Channel, None] = {}
        self._waiting: deque[float] = deque()
        self._numbered = 0
        body = plan.body.encode()
        self._request = request(plan.method, self.address.path, self.address.host_header, plan.headers, body)
        self._numbers = ID in plan.body or ID in self.address.path

    def run(self) -> None:
        """Send everything, then wait for the answers."""
        self._open_window()
        self.loop.run()
        for channel in (*self._busy, *self._idle):
            self._count_bytes(channel.connection)
            channel.connection.close()

    def request_bytes(self) -> bytes:
        """The next request."""
        if not self._numbers:
            return self._request
        self._numbered += 1
        number = str(self._numbered)
        path = self.address.path.replace(ID, number)
        body = self._plan.body.replace(ID, number).encode()
        return request(self._plan.method, path, self.address.host_header, self._plan.headers, body)

    def answered(self, channel: Channel, status: int, keeps_open: bool) -> None:
        """A whole response came."""
        due_s, now_s = channel.due_s, self.now_s()
        assert due_s is not None
        if status >= HTTP_ERRORS:
            self.recorder.failure(due_s, "status")
        else:
            self.recorder.answer(due_s, now_s)
        self._busy.pop(channel, None)
        channel.due_s = None
        if not keeps_open:
            self._drop(channel)
        if keeps_open and self._waiting:
            self._busy[channel] = None
            channel.serve(self._waiting.popleft())
        elif keeps_open:
            self._idle.append(channel)
        else:
            self._open_for_waiting()
        self._end_if_done()

    def broke(self, channel: Channel, kind: Failure, stale: bool) -> None:
        """A connection broke, or could not be made."""
        due_s = channel.due_s
        channel.due_s = None
        self._busy.pop(channel, None)
        self._count_bytes(channel.connection)
        if channel.served or channel.connection.sent_bytes:
            self.recorder.lost()
        else:
            self.recorder.connect_errors[kind] += 1
        if due_s is None:
            self._idle.remove(channel)
        elif stale and self._plan.method in REPEATABLE:
            self._open(due_s)
        else:
            self.recorder.failure(due_s, kind)
            # Not at once: many refusals in a row would be that many calls deep.
            self.loop.at(0.0, self._open_for_waiting)
        self._end_if_done()

    def _fire(self, due_s: float) -> None:
        if due_s >= 0:
            self.recorder.due += 1
        if self._idle:
            channel = self._idle.pop()
            self._busy[channel] = None
            channel.serve(due_s)
        elif len(self._busy) < self._plan.connections:
            self._open(due_s)
        else:
            self._waiting.append(due_s)

    def _open(self, due_s: float) -> None:
        channel = Channel(self)
        self._busy[channel] = None
        self.recorder.attempted += 1
        channel.open_for(due_s, self.now_s())

    def _open_for_waiting(self, _: float = 0.0) -> None:
        if self._waiting and len(self._busy) < self._plan.connections:
            self._open(self._waiting.popleft())

    def _drop(self, channel: Channel) -> None:
        self._count_bytes(channel.connection)
        channel.connection.close()
        self.recorder.connections_now -= 1

    def _give_up_overdue(self, now_s: float) -> None:
        oldest = now_s - self._plan.timeout_s
        for channel in [one for one in self._busy if one.due_s is not None and one.due_s <= oldest]:
            assert channel.due_s is not None
            self._give_up(channel, now_s)
        while self._waiting and self._waiting[0] <= oldest:
            self.recorder.no_answer(self._waiting.popleft(), now_s, was_sent=False)
        for _ in range(len(self._waiting)):
            if len(self._busy) >= self._plan.connections:
                break
            self._open_for_waiting()

    def _give_up(self, channel: Channel, now_s: float) -> None:
        assert channel.due_s is not None
        self.recorder.no_answer(channel.due_s, now_s, was_sent=True)
        self._busy.pop(channel, None)
        if channel.connection.is_open:
            self._drop(channel)
        else:
            channel.connection.close()
            self.recorder.connect_errors["timeout"] += 1

    def _end_if_done(self) -> None:
        if self._all_due and not self._busy and not self._waiting and self.now_s() >= self._plan.duration_s:
            self.loop.stop()

    def _cut_off(self, _: float) -> None:
        now_s = self.now_s()
        for channel in list(self._busy):
            self._give_up(channel, now_s)
        for due_s in self._waiting:
            self.recorder.no_answer(due_s, now_s, was_sent=False)
        self._waiting.clear()
        self._pacer.stop()
        self.loop.stop()
