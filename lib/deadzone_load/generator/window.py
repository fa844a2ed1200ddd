"""What loads have in common, and the measured window of those at a given arrival rate: of requests
and of messages.

When requests are due, and turning to them on time: an open loop, which waits for no answer.

What the generator is told to do: one JSON file, written by the workload, read by the client
process.
"""

from __future__ import annotations

import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from deadzone_load.generator.connection import Connection, Loop, Wire
from deadzone_load.generator.recording import LATE_S, Recorder

ID = "{id}"
"""Stands in a body for the number of the message, by which its answers are recognised."""

USER = "{user}"
"""Stands in a path, body or destination for the number of the connection."""

ROOM = "{room}"
"""Stands in a path, body or destination for the room of the connection: its number over the size of
a room."""


@dataclass(frozen=True)
class LoadPlan:
    """A load: what is sent where, how often, for how long. Rates are per second, times seconds."""

    url: str
    protocol: Literal["http", "websocket", "stomp"] = "http"
    mode: Literal["constant", "spike", "ramp"] = "constant"
    rate: float = 0.0
    duration_s: float = 10.0
    warmup_s: float = 0.0
    arrival: Literal["constant", "poisson"] = "constant"
    seed: int = 1
    connections: int = 1_000
    connection_rate: float = 200.0
    room_size: int = 1
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    subscribe: Sequence[str] = ()
    send_to: str = ""
    on_open: Sequence[str] = ()
    answered_by: Literal["reply", "broadcast"] = "reply"
    reply_contains: str = ""
    fan_out: int = 0
    timeout_s: float = 10.0
    drain_s: float = 5.0
    hold_s: float = 1.0
    verify_tls: bool = True
    allow_remote: bool = False

    def write(self, path: Path) -> None:
        """Write the plan as JSON."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> LoadPlan:
        """The plan in a file that `write` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))


MOST_A_TURN = 64
"""So many sends are caught up with before answers are read again, where the generator is behind."""

PATIENCE_S = 1.0
"""So long after the last moment the generator gives up on what it has not even turned to [s]."""


def moments(
    rate: float, start_s: float, end_s: float, arrival: str = "constant", seed: int = 1
) -> Iterator[float]:
    """Moments from start_s to before end_s at a rate [1/s]: evenly spaced, or those of a Poisson
    process."""
    if arrival == "constant":
        count = 0
        while (moment := start_s + count / rate) < end_s - 1e-9:
            yield moment
            count += 1
        return
    draw, moment = random.Random(seed), start_s
    while (moment := moment + draw.expovariate(rate)) < end_s:
        yield moment


@dataclass
class RequestPacer:
    """Calls fire(t) for every moment t, as soon after it as it can, and records how late it was.

    origin: time.monotonic() at t = 0. lag(t, seconds) takes the lateness of each turn.
    given_up: moments it never came to, because it was more than PATIENCE_S behind at the end.
    """

    loop: Loop
    origin: float
    due: Iterator[float]
    end_s: float
    fire: Callable[[float], None]
    lag: Callable[[float, float], None] = lambda moment, late: None
    on_end: Callable[[], None] = lambda: None
    given_up: int = 0

    def __post_init__(self) -> None:
        self._next: float | None = next(self.due, None)
        self._stopped = False

    def start(self) -> None:
        """Wait for the next moment."""
        self.loop.at(self.origin + (self._next or 0.0), self._turn)

    def stop(self) -> None:
        """Fire no more; on_end is not called."""
        self._stopped = True

    def _turn(self, _: float) -> None:
        if self._stopped:
            return
        clock, origin = time.monotonic, self.origin
        for _count in range(MOST_A_TURN):
            if self._next is None:
                self.on_end()
                return
            now = clock() - origin
            if self._next > now:
                break
            if now > self.end_s + PATIENCE_S:
                self._give_up(now)
                return
            self.lag(self._next, now - self._next)
            self.fire(self._next)
            if self._stopped:
                return
            self._next = next(self.due, None)
        self.start()

    def _give_up(self, now: float) -> None:
        assert self._next is not None
        for moment in (self._next, *self.due):
            self.lag(moment, now - moment)
            self.given_up += 1
        self._next = None
        self.on_end()


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
        self._give_up_overdue(self.now_s())
        self._end_if_done()
        self.loop.at(time.monotonic() + CHECK_S, self._check)

    @abstractmethod
    def _give_up_overdue(self, now_s: float) -> None:
        """Give up on what had no answer in time."""

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
        due = moments(plan.rate, -plan.warmup_s, plan.duration_s, plan.arrival, plan.seed)
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

    @abstractmethod
    def _cut_off(self, _: float) -> None:
        """The time for answers is over."""
