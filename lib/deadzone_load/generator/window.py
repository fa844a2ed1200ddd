"""What loads have in common, and the measured window of those at a given arrival rate: of requests
and of messages."""

import math
import time
from abc import ABC, abstractmethod

from deadzone_load.generator.connection import Connection, Wire
from deadzone_load.generator.pacing import RequestPacer, moments
from deadzone_load.generator.plan import LoadPlan
from deadzone_load.generator.recording import LATE_S, Recorder

CHECK_S = 0.05
"""How often what is under way is looked at for its time-out [s]."""

START_IN_S = 0.05
"""Time to get ready before the first moment [s]."""


class Load(ABC):
    """A load over a wire, of which a recorder keeps what happened."""

    _pacer: RequestPacer

    def __init__(self, wire: Wire, plan: LoadPlan, recorder: Recorder) -> None:
        self.wire, self.loop, self.recorder = wire, wire.loop, recorder
        self._plan = plan
        self._origin = 0.0
        self._all_due = False

    def now_s(self) -> float:
        """Time since the start of the measured window."""
        return time.monotonic() - self._origin

    @abstractmethod
    def run(self) -> None:
        """Send everything, then wait for what is to come."""

    def _let_go(self, *connections: Connection) -> None:
        """Close connections, and count what they sent and received."""
        for connection in connections:
            connection.close()
            self.recorder.sent_bytes += connection.sent_bytes
            self.recorder.received_bytes += connection.received_bytes

    def _check(self, _: float) -> None:
        """Now and then: give up on what had no answer in time."""
        now_s = self.now_s()
        self._give_up_since(now_s - self._plan.timeout_s, now_s)
        self._end_if_done()
        self.loop.at(time.monotonic() + CHECK_S, self._check)

    @abstractmethod
    def _give_up_since(self, latest_s: float, now_s: float) -> None:
        """Give up on what has waited since a moment or longer."""

    @abstractmethod
    def _end_if_done(self) -> None:
        """Stop the loop if everything was sent and answered."""


class WindowedLoad(Load):
    """Something is sent at every moment of the warm-up and of the window; then answers are waited
    for."""

    def sends(self, due_s: float) -> None:
        """What a moment is for is being sent."""
        if due_s >= 0 and self.now_s() - due_s > LATE_S:
            self.recorder.late += 1

    def _open_window(self) -> None:
        """Begin to send, soon."""
        plan = self._plan
        self._origin = time.monotonic() + START_IN_S + plan.warmup_s
        due = moments(plan.rate, -plan.warmup_s, plan.duration_s, plan.arrival)
        self._pacer = RequestPacer(
            self.loop,
            self._origin,
            due,
            plan.duration_s,
            self._fire,
            self.recorder.lag.add,
            self._on_end,
        )
        self._pacer.start()
        self.loop.at(self._origin + plan.duration_s + plan.drain_s, self._cut_off)
        self.loop.at(time.monotonic() + CHECK_S, self._check)

    def _on_end(self) -> None:
        self._all_due = True
        self.recorder.due += self._pacer.given_up
        self.recorder.dropped += self._pacer.given_up
        self.recorder.connections_held = self.recorder.connections_now
        self._end_if_done()

    @abstractmethod
    def _fire(self, due_s: float) -> None:
        """Send what a moment is for."""

    def _cut_off(self, _: float) -> None:
        """The time for answers is over."""
        self._pacer.stop()
        self._give_up_since(math.inf, self.now_s())
        self._finish()

    def _finish(self) -> None:
        """All is over."""
        self.loop.stop()
