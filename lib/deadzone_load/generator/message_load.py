"""Messages over WebSocket or STOMP at a constant arrival rate, sent in turn by users who all stay
connected.

A message carries its number, so its answers are recognised wherever they arrive: the one on the
connection that sent it is the reply, every other one a broadcast, unless the plan says by which
words they differ. Without a number in the body the n-th message of a connection answers the n-th
sent.
"""

import re
import time
from array import array
from itertools import cycle, islice, takewhile

from deadzone_load.generator.connection import Failure, Wire
from deadzone_load.generator.pacing import RequestPacer, moments
from deadzone_load.generator.plan import ID, LoadPlan
from deadzone_load.generator.recording import Recorder
from deadzone_load.generator.sessions import KINDS, Session, WebSocketSession
from deadzone_load.generator.window import START_IN_S, WindowedLoad

MARK = b"dz-"
"""Begins the number of a message; a dash ends it."""

NUMBER = re.compile(MARK + rb"(\d+)-")

QUIET_S = 0.5
"""Where the study does not say how many broadcasts a message causes, so long without one means that
all have come [s]."""


class MessageLoad(WindowedLoad):
    """The load: first all users connect, then messages have their moments."""

    def __init__(self, wire: Wire, plan: LoadPlan, recorder: Recorder) -> None:
        super().__init__(wire, plan, recorder)
        self._users: list[WebSocketSession] = []
        self._texts: dict[int, list[bytes]] = {}
        self._opening = True
        self._due = array("d")
        self._copies = array("l")
        self._senders: list[Session] = []
        self._unanswered: dict[int, None] = {}
        self._expected = 0
        self._heard_s = 0.0
        self._body = plan.body or ID
        self._numbered = ID in self._body
        self._reply_mark = plan.reply_contains.encode()

    def run(self) -> None:
        """Connect, send everything, and wait for the answers."""
        plan = self._plan
        self._origin = time.monotonic() + START_IN_S  # of the connections, before the window's own
        end_s = plan.connections / plan.connection_rate
        starts = moments(plan.connection_rate, 0.0, end_s)
        self._pacer = RequestPacer(self.loop, self._origin, starts, end_s, self._connect)
        self._pacer.start()
        self.loop.at(self._origin + end_s + plan.timeout_s, self._begin)
        self.loop.run()
        self._let_go(*(user.connection for user in self._users))

    def on_ready(self, session: Session) -> None:
        """A user is connected; when the last one is, the load begins."""
        assert isinstance(session, WebSocketSession)
        self.recorder.opened(session.began_s, self.now_s() - session.began_s)
        body = session.fill(self._body).replace(ID, "\1").encode()
        self._texts[session.number] = session.message(body).split(b"\1")
        self._settled()

    def on_message(self, session: Session, body: bytes) -> None:
        """A reply or a broadcast."""
        if self._numbered:
            match = NUMBER.search(body)
            number = int(match[1]) if match else -1
        else:
            number = next(iter(session.pending), -1)
        if not 0 <= number < len(self._due):
            return
        now_s, due_s = self.now_s(), self._due[number]
        self._heard_s = now_s
        if self._is_reply(session, body, number):
            if self._plan.answered_by == "reply":
                self._answer(number, due_s, now_s)
            return
        self._copies[number] += 1
        self._expected -= self._plan.fan_out > 0 and self._copies[number] <= self._plan.fan_out
        self.recorder.broadcast.add(due_s, now_s - due_s)
        if due_s >= 0:
            self.recorder.broadcasts += 1
            self.recorder.last_broadcast_s = max(self.recorder.last_broadcast_s, now_s)
        if self._plan.answered_by == "broadcast":
            self._answer(number, due_s, now_s)
        elif self._all_due:
            self._end_if_done()

    def on_closed(self, session: Session, kind: Failure) -> None:
        """A user is gone, with all it waited for."""
        if not session.is_ready:
            self.recorder.connect_errors[kind] += 1
            self._settled()
            return
        self.recorder.lost()
        for number in list(session.pending):
            self._close(number)
            self.recorder.failure(self._due[number], kind)
        self._end_if_done()

    def _connect(self, moment_s: float) -> None:
        plan = self._plan
        user = KINDS[plan.protocol](self.wire, plan, self, len(self._users), moment_s)
        assert isinstance(user, WebSocketSession)
        self._users.append(user)
        self.recorder.attempted += 1
        user.connection.start()

    def _settled(self) -> None:
        failed = self.recorder.connect_errors.total()
        if self.recorder.connections + failed == self._plan.connections:
            self._begin(0.0)

    def _begin(self, _: float) -> None:
        """All users are connected, or have had the time to."""
        if not self._opening:
            return
        self._opening = False
        self._pacer.stop()
        for user in [
            session for session in self._users if not session.is_ready and not session.is_over
        ]:
            user.give_up("timeout")
        self._users = [user for user in self._users if user.is_ready]
        self._turns = cycle(self._users)
        if not self._users:
            self.loop.stop()
            return
        self._open_window()

    def _fire(self, due_s: float) -> None:
        if due_s >= 0:
            self.recorder.due += 1
        in_turn = islice(self._turns, len(self._users))
        user = next((session for session in in_turn if not session.is_over), None)
        if user is None:
            self.recorder.failure(due_s, "closed")
            return
        number = len(self._due)
        self._due.append(due_s)
        self._copies.append(0)
        self._senders.append(user)
        self._unanswered[number] = user.pending[number] = None
        self._expected += self._plan.fan_out
        self.sends(due_s)
        user.send((b"%s%d-" % (MARK, number)).join(self._texts[user.number]))

    def _is_reply(self, session: Session, body: bytes, number: int) -> bool:
        if self._reply_mark:
            return self._reply_mark in body
        return self._plan.answered_by == "reply" and number in session.pending

    def _answer(self, number: int, due_s: float, now_s: float) -> None:
        if number in self._unanswered:
            self._close(number)
            self.recorder.answer(due_s, now_s)
        if self._all_due:
            self._end_if_done()

    def _close(self, number: int) -> None:
        del self._unanswered[number], self._senders[number].pending[number]

    def _give_up_since(self, latest_s: float, now_s: float) -> None:
        since = takewhile(lambda number: self._due[number] <= latest_s, self._unanswered)
        for number in list(since):
            self._close(number)
            self.recorder.no_answer(self._due[number], now_s, was_sent=True)

    def _end_if_done(self) -> None:
        if not self._all_due or self._unanswered or self.now_s() < self._plan.duration_s:
            return
        all_over = all(user.is_over for user in self._users)
        all_came = (
            self._expected <= 0 if self._plan.fan_out else self.now_s() - self._heard_s > QUIET_S
        )
        if all_over or all_came:
            self._finish()

    def _finish(self) -> None:
        """Broadcasts that never came count with the time they had been waited for."""
        now_s = self.now_s()
        for number, copies in enumerate(self._copies):
            missing = self._plan.fan_out - copies
            for _ in range(missing):
                self.recorder.broadcast.add(self._due[number], now_s - self._due[number])
            if missing > 0 and self._due[number] >= 0:
                self.recorder.broadcasts_missing += missing
        self.loop.stop()
