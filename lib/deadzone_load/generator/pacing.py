"""When requests are due, and turning to them on time: an open loop, which waits for no answer."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deadzone_load.generator.loop import Loop

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
