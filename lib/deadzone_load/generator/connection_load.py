"""Connections as the load: many at once (a spike), or ever more of them, held, until the server
gives up (a ramp)."""

import errno
import time

from deadzone_load.generator.connection import Failure, Wire
from deadzone_load.generator.pacing import RequestPacer, moments
from deadzone_load.generator.plan import LoadPlan
from deadzone_load.generator.recording import Recorder
from deadzone_load.generator.sessions import KINDS, Session
from deadzone_load.generator.window import CHECK_S, START_IN_S, Load

FAILURES_IN_A_ROW = 20
"""A ramp ends when so many connections fail one after the other: the server takes no more."""

LOST_SHARE = 0.1
"""A ramp ends when the server has closed this share of the connections it had at most."""

PROBE_S = 1.0
"""How long the server is asked for a sign of life at the end [s]."""


class ConnectionLoad(Load):
    """Opens connections at a rate and holds them."""

    def __init__(self, wire: Wire, plan: LoadPlan, recorder: Recorder) -> None:
        super().__init__(wire, plan, recorder)
        self._sessions: dict[Session, None] = {}
        self._connecting: dict[Session, None] = {}
        self._failed_in_a_row = 0
        self._over = False
        longest = plan.connections / plan.connection_rate
        self.end_s = min(plan.duration_s, longest) if plan.mode == "spike" else longest

    def run(self) -> None:
        """Open everything that is due, hold it, and look whether the server is still there."""
        plan = self._plan
        self._origin = time.monotonic() + START_IN_S
        starts = moments(plan.connection_rate, 0.0, self.end_s, plan.arrival)
        self._pacer = RequestPacer(
            self.loop,
            self._origin,
            starts,
            self.end_s,
            self._connect,
            self.recorder.lag.add,
            self._on_end,
        )
        self._pacer.start()
        self.loop.at(time.monotonic() + CHECK_S, self._check)
        self.loop.run()
        self.recorder.connections_held = self.recorder.connections_now
        if plan.mode == "ramp" and (self.recorder.connections_lost or self.recorder.connect_errors):
            self.recorder.connections_held = self.recorder.connections_peak
        self._let_go(*(session.connection for session in self._sessions))
        self.recorder.server_died = self._server_died()

    def _server_died(self) -> bool:
        """Whether the server no longer listens."""
        # A process that dies may close its connections before the socket it listens on: the kernel
        # keeps no order there.
        end_s = time.monotonic() + (PROBE_S if self.recorder.connections_lost else 0.0)
        while self.wire.address.connect_error() != errno.ECONNREFUSED:
            if time.monotonic() >= end_s:
                return False
            time.sleep(CHECK_S)
        return True

    def on_ready(self, session: Session) -> None:
        """A connection stands."""
        self._connecting.pop(session, None)
        self._failed_in_a_row = 0
        self.recorder.opened(session.began_s, self.now_s() - session.began_s)
        self._end_if_done()

    def on_message(self, session: Session, body: bytes) -> None:
        """Whatever the server says to those who hold on."""

    def on_closed(self, session: Session, kind: Failure) -> None:
        """A connection failed, or was closed by the server."""
        self._sessions.pop(session, None)
        self._let_go(session.connection)
        if session.is_ready:
            self.recorder.lost()
        else:
            self._connecting.pop(session, None)
            self.recorder.connect_errors[kind] += 1
            self._failed_in_a_row += 1
        self._end_if_given_up()
        self._end_if_done()

    def _connect(self, moment_s: float) -> None:
        make = KINDS[self._plan.protocol]
        session = make(self.wire, self._plan, self, self.recorder.attempted, moment_s)
        self._sessions[session] = self._connecting[session] = None
        self.recorder.attempted += 1
        session.connection.start()

    def _give_up_since(self, latest_s: float, now_s: float) -> None:
        for session in [session for session in self._connecting if session.began_s <= latest_s]:
            session.give_up("timeout")

    def _end_if_given_up(self) -> None:
        """A ramp is over when the server takes no more connections, or drops those it had."""
        if self._plan.mode != "ramp" or self._over:
            return
        lost = self.recorder.connections_lost
        refuses = self._failed_in_a_row >= FAILURES_IN_A_ROW
        if refuses or lost > max(LOST_SHARE * self.recorder.connections_peak, 1):
            self._over = True
            self._pacer.stop()
            self.loop.at(time.monotonic() + CHECK_S, lambda _: self.loop.stop())

    def _on_end(self) -> None:
        self._all_due = True
        self.recorder.attempted += self._pacer.given_up
        self.recorder.connect_errors["other"] += self._pacer.given_up
        self._end_if_done()

    def _end_if_done(self) -> None:
        if self._all_due and not self._connecting and not self._over:
            self._over = True
            self.loop.at(time.monotonic() + self._plan.hold_s, lambda _: self.loop.stop())
