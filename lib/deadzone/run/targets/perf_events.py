"""What the kernel and the processor count of a trial: moves between cores and, where there are such
counters, instructions and cycles.

Source: perf_event_open(2). Counters are opened once, for the launcher, and hand themselves down to
whatever it starts. The kernel's work is counted where that is permitted
(kernel.perf_event_paranoid, or CAP_PERFMON), else the program's own alone. Virtual machines mostly
have none of the processor's.
"""

import ctypes
import os
import platform
import struct

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine(), -1)
"""Of perf_event_open; -1 is no call anywhere."""
CLOSE_ON_EXEC = 8

HARDWARE, SOFTWARE = 0, 1
EVENTS = {
    "migrations": (SOFTWARE, 4),
    "cpu_cycles": (HARDWARE, 0),
    "cpu_instructions": (HARDWARE, 1),
    "cpu_cache_misses": (HARDWARE, 3),
}
"""By column: type and number of the event."""

INHERITED, NOT_THE_KERNEL = 1 << 1, 1 << 5
WITH_TIMES = 1 | 2
"""A counter is read with how long it was wanted and how long it counted, for a processor has few
and they take turns."""

RECORD_BYTES = 64


class PerfEvents:
    """Counters of a process and of all that it starts from now on."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._before: dict[str, tuple[int, int, int]] = {}
        self.refused: dict[str, str] = {}
        """Why what is missing is missing, by column."""

    def open(self, pid: int) -> None:
        """Open those that there are."""
        for name, event in EVENTS.items():
            try:
                self._files[name] = _opened(event, pid)
            except OSError as error:
                self.refused[name] = os.strerror(error.errno or 0)

    def close(self) -> None:
        """Give them up."""
        for file in self._files.values():
            os.close(file)
        self._files = {}

    def begin(self) -> None:
        """Count from here."""
        self._before = {
            name: struct.unpack("QQQ", os.read(file, 24)) for name, file in self._files.items()
        }

    def counted(self) -> dict[str, int]:
        """What was counted since `begin`, by column; without those that had no turn."""
        counts = {}
        for name, before in self._before.items():
            now = struct.unpack("QQQ", os.read(self._files[name], 24))
            count, wanted, counting = (b - a for a, b in zip(before, now, strict=True))
            if counting:
                counts[name] = round(count * wanted / counting)
        return counts


def _opened(event: tuple[int, int], pid: int) -> int:
    """A counter's descriptor. Raises OSError where it is not permitted, or there is none."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    for flags in (INHERITED, INHERITED | NOT_THE_KERNEL):
        kind, number = event
        record = struct.pack("=IIQQQQQ", kind, RECORD_BYTES, number, 0, 0, WITH_TIMES, flags)
        file = call(SYSCALL, record.ljust(RECORD_BYTES, b"\0"), pid, -1, -1, CLOSE_ON_EXEC)
        if file >= 0 or kind == SOFTWARE:
            break
    if file < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
    return int(file)
