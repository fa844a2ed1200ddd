"""One thread that waits for sockets and moments: epoll, and timers to a few tens of microseconds.

asyncio's timers are rounded up to a millisecond and every event costs it some 15 us of bookkeeping;
a generator that watches its own lag to fractions of a millisecond needs neither. epoll's own
time-out is whole milliseconds too, so the loop waits for the epoll descriptor in select(2), whose
time-out is microseconds.
"""

import heapq
import select
import time
from collections.abc import Callable

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
