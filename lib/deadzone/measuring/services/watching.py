"""Watching a service while a client asks it: its group's counters and its processes, read as the trial begins and ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from deadzone.measurement import Sample, difference
from deadzone.measuring.services.base import Use
from deadzone.measuring.services.disk_waits import DiskWaits
from deadzone.measuring.targets.limits.base import Counters
from deadzone.measuring.targets.processes import ProcessTotals, totals

Pids = tuple[int, ...]


class Watch:
    """A companion of a trial: reads what a service uses, at the moments at which the trial itself is read.

    A group's own accounting counts where there is one; processes are added up for what no group tells, and for
    everything where there is none.
    """

    def __init__(
        self,
        read: Callable[[], Counters] = Counters,
        processes: Callable[[], tuple[Pids, Pids]] = lambda: ((), ()),
        from_afar: bool = False,
    ) -> None:
        """read: the group's accounting now. processes: those of the service, and those that only hold the account
        of others that ended. from_afar: reading is slow, so that there is no time series."""
        self._read = read
        self._processes = processes
        self._from_afar = from_afar
        self._before = (Counters(), ProcessTotals())
        self._after = self._before
        self._most = ProcessTotals()
        self._most_memory = 0
        self._known = False
        self._disk_waits = DiskWaits(lambda: processes()[0])

    def begin(self) -> float:
        """The trial begins: CPU time of the service so far [s]."""
        self._before = self._now()
        self._most, self._most_memory = ProcessTotals(), 0
        self._note(*self._before)
        self._disk_waits.start()
        return _cpu_s(*self._before)

    def used(self) -> float:
        """CPU time of the service so far [s]."""
        return _cpu_s(*self._now())

    def tick(self, t_s: float) -> Sequence[Sample]:
        """A reading of the time series, counted from the beginning; memory and threads as they stand."""
        if self._from_afar:
            return ()
        counters, held = self._now()
        self._note(counters, held)
        series = {
            "cpu_usage_s": _cpu_s(counters, held) - _cpu_s(*self._before) if self._known else None,
            "nr_periods": difference(self._before[0].nr_periods, counters.nr_periods),
            "nr_throttled": difference(self._before[0].nr_throttled, counters.nr_throttled),
            "throttled_s": difference(self._before[0].throttled_s, counters.throttled_s),
            "service_memory_bytes": counters.memory_bytes,
            "service_rss_bytes": held.rss_bytes if held.threads else None,
            "service_threads": held.threads or None,
        }
        return [Sample(t_s, metric, float(value)) for metric, value in series.items() if value is not None]

    def end(self) -> float:
        """The trial has ended: CPU time of the service so far [s]."""
        self._disk_waits.stop()
        self._after = self._now()
        self._note(*self._after)
        return _cpu_s(*self._after)

    def cpu_s(self) -> float:
        """CPU time of the service so far [s]."""
        return _cpu_s(*self._now())

    def use(self) -> Use:
        """What the service used in between."""
        (first, before), (last, after) = self._before, self._after
        user_s, sys_s = self._cpu_times()
        seen = self._most.threads > 0
        told = {
            "service_memory_peak_bytes": self._peak(),
            "service_memory_stall_s": difference(first.memory_stall_s, last.memory_stall_s),
            "service_major_faults": after.major_faults - before.major_faults
            if seen
            else difference(first.major_faults, last.major_faults),
            "service_oom_kills": difference(first.oom_kills, last.oom_kills),
            "service_io_stall_s": difference(first.io_stall_s, last.io_stall_s),
            "service_disk_wait_s": self._disk_waits.waited_s,
            "service_read_bytes": after.read_bytes - before.read_bytes
            if seen
            else difference(first.read_bytes, last.read_bytes),
            "service_written_bytes": after.written_bytes - before.written_bytes
            if seen
            else difference(first.written_bytes, last.written_bytes),
            "service_rss_bytes": self._most.rss_bytes if seen else None,
            "service_threads": self._most.threads if seen else None,
        }
        return Use(
            user_s=user_s,
            sys_s=sys_s,
            largest_rss_bytes=self._most.largest_rss_bytes if seen else None,
            nr_periods=difference(first.nr_periods, last.nr_periods),
            nr_throttled=difference(first.nr_throttled, last.nr_throttled),
            throttled_s=difference(first.throttled_s, last.throttled_s),
            oom_kills=difference(first.oom_kills, last.oom_kills),
            responses={name: max(0.0, float(value)) for name, value in told.items() if value is not None},
        )

    def _now(self) -> tuple[Counters, ProcessTotals]:
        return self._read(), totals(*self._processes())

    def _note(self, counters: Counters, held: ProcessTotals) -> None:
        """Remember the most that was seen at once."""
        self._known = self._known or counters.usage_s is not None or held.threads > 0
        self._most_memory = max(self._most_memory, counters.memory_bytes or 0)
        self._most = ProcessTotals(
            threads=max(self._most.threads, held.threads),
            rss_bytes=max(self._most.rss_bytes, held.rss_bytes),
            largest_rss_bytes=max(self._most.largest_rss_bytes, held.largest_rss_bytes),
        )

    def _peak(self) -> int | None:
        """The most memory the group held: the kernel's mark where this trial raised it, else the most that was read."""
        first, last = self._before[0], self._after[0]
        if last.memory_peak_bytes is not None and last.memory_peak_bytes > (first.memory_peak_bytes or 0):
            return last.memory_peak_bytes
        return self._most_memory or None

    def _cpu_times(self) -> tuple[float | None, float | None]:
        """User and system time; the group's total, split as the group says or else as its processes say."""
        (first, before), (last, after) = self._before, self._after
        if not self._known:
            return None, None
        user, system = after.user_s - before.user_s, after.sys_s - before.sys_s
        usage = difference(first.usage_s, last.usage_s)
        if usage is None:
            return max(0.0, user), max(0.0, system)
        if (own := difference(first.user_s, last.user_s)) is not None:
            user, system = own, difference(first.sys_s, last.sys_s) or 0.0
        total = user + system
        share = user / total if total > 0 else 1.0
        return usage * share, usage * (1 - share)


def await_settled(watch: Watch, longest_s: float, quiet_s: float = 0.05) -> None:
    """Wait until a service that was started does nothing any more, at most so long: its start must not be measured."""
    deadline = time.monotonic() + longest_s
    used = watch.cpu_s()
    while time.monotonic() < deadline:
        time.sleep(quiet_s)
        now = watch.cpu_s()
        if now - used < quiet_s * 0.1:
            return
        used = now


def _cpu_s(counters: Counters, held: ProcessTotals) -> float:
    return counters.usage_s if counters.usage_s is not None else held.user_s + held.sys_s
