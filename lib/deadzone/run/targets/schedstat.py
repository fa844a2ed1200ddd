"""How long a thread that lives was there, ran, and was ready but without a core, as the kernel
counts it; what it waits for now.

Source: Linux kernel documentation, scheduler/sched-stats.rst, /proc/<pid>/schedstat: time on the
CPU and time waiting to run [ns]; proc(5) for its state and when it began. Every user may read them
of processes that are their own; they end with the thread. Time in which a limit holds a thread back
counts as waiting. A thread that waits for the disk is in uninterruptible sleep, which proc(5) shows
as D; so does one that waits for a page of its memory, and one that starts another program and waits
until that has begun, which are told apart (proc_pid_syscall(5)).

What threads used until their end the kernel tells a listener whenever one ends: Linux kernel
documentation, accounting/taskstats.rst, delay-accounting.rst and taskstats-struct.rst, and
linux/taskstats.h, whose offsets stand below; netlink(7). Only the owner of the machine
(CAP_NET_ADMIN) may listen. What waits for disks and memory took is counted where
`kernel.task_delayacct` is on; it is left as it is. The few calls needed are made here: a library
for netlink would bring some 100 modules for them.
"""

import contextlib
import os
import platform
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deadzone.run.targets.kernel_files import MICROSECONDS, NANOSECONDS, TICK_S, read_bytes

LOOPS = (b"do_epoll", b"ep_poll")
"""Where in the kernel an event loop sleeps."""

NETWORK = (
    *(b"wait_woken", b"inet_", b"sk_", b"tcp_", b"udp_", b"unix_", b"poll_schedule", b"do_poll"),
    *LOOPS,
)
"""Where in the kernel a thread sleeps that waits for another process: in a socket, or
for one of several."""

TIMERS = (b"hrtimer_nanosleep", b"do_nanosleep")
"""Where in the kernel a thread sleeps for a time that it asked for."""

DESCRIPTORS_AT = {
    "x86_64": {b"23": 1, b"270": 1, b"7": 2, b"271": 2}, "aarch64": {b"72": 1, b"73": 2},
}.get(platform.machine(), {})  # fmt: skip
"""By the numbers of select, pselect6, poll and ppoll: the argument that says for how many
descriptors they wait. With none they sleep for a time."""

EPOLL = {"x86_64": (b"232", b"281"), "aarch64": (b"22",)}.get(platform.machine(), ())
"""Numbers of epoll_wait and epoll_pwait: for one of the descriptors that the first argument
watches, and at most for the fourth [ms], below 0 without end."""

OWN = "anon_inode:"
"""How descriptors begin by which threads of one process wake each other, or a timer wakes them."""

MOST_OWN = 4
"""Who watches more descriptors serves others."""

STARTING = {"x86_64": (b"56", b"58", b"435"), "aarch64": (b"220", b"435")}.get(
    platform.machine(), ()
)
"""Numbers of clone, vfork and clone3 (proc_pid_syscall(5)): whoever sleeps in these waits for a
child, not for a disk."""


NO_CALL = b"-1"
"""What stands there of a thread that sleeps outside of any call: in a fault, for a page of its
memory."""


@dataclass(frozen=True)
class ThreadTime:
    """A thread and its time so far [s]. disk_s, memory_s: waiting for them; 0 where the kernel does
    not count it."""

    thread: int
    process: int
    parent: int
    lived_s: float = 0.0
    running_s: float = 0.0
    ready_s: float = 0.0
    disk_s: float = 0.0
    memory_s: float = 0.0

    def since(self, before: "ThreadTime | None") -> "ThreadTime":
        """What came to it since it was looked at; the whole where it was not, or that was another
        of the same number."""
        if before is None or self.lived_s < before.lived_s:
            return self
        grown = {
            name: getattr(self, name) - getattr(before, name)
            for name in ("lived_s", "running_s", "ready_s")
        }
        return replace(self, **grown)


def threads_of(pid: int) -> tuple[int, ...]:
    """The threads of a process now; none where it is gone."""
    try:
        return tuple(map(int, os.listdir(f"/proc/{pid}/task")))  # noqa: PTH208 - looked at many times in a trial
    except OSError:
        return ()


def waits_for(pid: int, thread: int) -> str:
    """What a thread of a process waits for now: "disk", "page", a page of its memory that is on a
    disk, "network", "loop", an event loop, "timer", a time that it asked for, or else "asleep"; ""
    where it does not wait, or is gone."""
    place = f"/proc/{pid}/task/{thread}"
    call, state = _seen(place)
    if state != b"S":
        return _on_disk(place, call, state)
    function = read_bytes(f"{place}/wchan")
    if function.startswith(LOOPS):
        return _of_own_loop(pid, call) or "loop"
    at = DESCRIPTORS_AT.get(_number(call))
    return "timer" if at and call.split()[at] == b"0x0" else sleeps_for(function)


def _of_own_loop(pid: int, call: bytes) -> str:
    """What an event loop waits for that no other process can wake, as that of a program in Go: a
    "timer", or "asleep" for its own threads; "" of any other."""
    if _number(call) not in EPOLL:
        return ""
    _, watching, _, _, end, *_ = call.split()
    with contextlib.suppress(OSError):
        watches = read_bytes(f"/proc/{pid}/fdinfo/{int(watching, 16)}").split(b"tfd:")[1:]
        watched = (int(one.split()[0]) for one in watches[: MOST_OWN + 1])
        links = [str(Path(f"/proc/{pid}/fd/{one}").readlink()) for one in watched]
        if len(links) <= MOST_OWN and all(link.startswith(OWN) for link in links):
            return "asleep" if int(end, 16) & 1 << 31 else "timer"
    return ""


def sleeps_for(function: bytes) -> str:
    """What a thread waits for that sleeps in a function of the kernel."""
    if function.startswith(TIMERS):
        return "timer"
    return "network" if function.startswith(NETWORK) else "asleep"


def waits_for_disk(pid: int, thread: int) -> str:
    """Of what `waits_for` tells, "disk" and "page" alone, for which a thread is looked at less."""
    place = f"/proc/{pid}/task/{thread}"
    return _on_disk(place, *_seen(place))


def _seen(place: str) -> tuple[bytes, bytes]:
    """The call that a thread is in, with its arguments, and its state."""
    return read_bytes(f"{place}/syscall"), read_bytes(f"{place}/stat").rpartition(b") ")[2][:1]


def _on_disk(place: str, call: bytes, state: bytes) -> str:
    """What a thread in a state waits for on a disk. call: it was in before its state was read."""
    if state != b"D":
        return ""
    # starting takes a millisecond: it is looked for on both sides of the state
    calls = {_number(call), _number(read_bytes(f"{place}/syscall"))}
    if calls & {*STARTING}:
        return ""
    return "page" if NO_CALL in calls else "disk"  # it may run again by now


def _number(call: bytes) -> bytes:
    """The number of the call that a thread sleeps in; empty where the kernel does not tell."""
    return call.partition(b" ")[0]


def living_thread(pid: int, thread: int) -> ThreadTime:
    """A thread of a process, and its time until now.

    Raises ValueError where it is gone, or the kernel does not count its time.
    """
    place = f"/proc/{pid}/task/{thread}"
    running, ready, _ = map(int, read_bytes(f"{place}/schedstat").split())
    _, parent, *fields = read_bytes(f"{place}/stat").rpartition(b")")[2].split()
    lived_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[17]) * TICK_S
    return ThreadTime(thread, pid, int(parent), lived_s, running / NANOSECONDS, ready / NANOSECONDS)


GENERIC, CONTROL = 16, 16
GET_FAMILY, FAMILY_NAME, FAMILY_ID = 3, 2, 1
GET, LISTEN = 1, 3
OF_A_THREAD, STATS = 4, 3

FIRST_WITH_PROCESS = 12
"""Since this version of the record it names the process that a thread belongs to."""

RECEIVE_BYTES = 4 * 1024 * 1024
"""Room for the ends of some thousand threads between two looks [bytes]."""

DELAYS = "/proc/sys/kernel/task_delayacct"


class EndedThreads:
    """Listens to the ends of all threads of the machine, from `open` to `close`."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._heard: list[ThreadTime] = []
        self._lost = False

    @staticmethod
    def counts_delays() -> bool:
        """Whether the kernel counts waits for disks and memory now."""
        return read_bytes(DELAYS).strip() == b"1"

    def open(self) -> None:
        """Begin to listen. Raises OSError where that is not permitted, or the kernel has no such
        accounting."""
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC)
        try:
            self._socket.bind((0, 0))
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, 33, RECEIVE_BYTES)  # SO_RCVBUFFORCE
            answer = self._ask(CONTROL, GET_FAMILY, FAMILY_NAME, b"TASKSTATS\0")
            (family,) = struct.unpack_from("=H", _attributes(answer)[FAMILY_ID])
            cpus = Path("/sys/devices/system/cpu/possible").read_text().strip().encode() + b"\0"
            self._ask(family, GET, LISTEN, cpus)
            self._socket.setblocking(False)
        except (OSError, KeyError):
            self.close()
            raise

    def close(self) -> None:
        """Listen no longer."""
        if self._socket:
            self._socket.close()
            self._socket = None

    def forget(self) -> None:
        """Leave out all that ended until now."""
        self.hear()
        self._heard, self._lost = [], False

    def hear(self) -> None:
        """Take what arrived since the last time; the kernel keeps so much and no more."""
        while self._socket:
            try:
                self._heard += _ended(self._socket.recv(65_536))
            except BlockingIOError:
                return
            except OSError:  # more ended than there was room for
                self._lost = True

    def below(self, *roots: int) -> list[ThreadTime] | None:
        """The threads of processes and of their descendants that ended since `forget`; None where
        some went unheard."""
        self.hear()
        line = {*roots}
        while born := {one.process for one in self._heard if one.parent in line} - line:
            line |= born
        return None if self._lost else [thread for thread in self._heard if thread.process in line]

    def _ask(self, family: int, command: int, attribute: int, value: bytes) -> bytes:
        """Send one request and return what follows the header of its answer. Raises OSError if it
        is refused."""
        assert self._socket
        body = (
            struct.pack("=BBH", command, 1, 0)
            + struct.pack("=HH", 4 + len(value), attribute)
            + value
        )
        body += b"\0" * (-len(body) % 4)
        header = struct.pack("=IHHII", 16 + len(body), family, 5, 1, 0)  # acknowledged
        self._socket.send(header + body)
        answer, message = b"", b""
        while True:
            answer = answer or self._socket.recv(65_536)
            length, kind = struct.unpack("=IH", answer[:6])
            if kind == 2:  # NLMSG_ERROR, which is the acknowledgement too
                refused = -struct.unpack("=i", answer[16:20])[0]
                if refused:
                    raise OSError(refused, os.strerror(refused))
                return message
            message, answer = answer[20:length], answer[length + (-length % 4) :]


def _attributes(data: bytes) -> dict[int, bytes]:
    """Netlink attributes by number."""
    values = {}
    while len(data) >= 4:
        length, kind = struct.unpack("=HH", data[:4])
        values[kind & 0x3FFF] = data[4:length]
        data = data[max(length + (-length % 4), 4) :]
    return values


def _ended(message: bytes) -> Iterator[ThreadTime]:
    """The thread that a message tells of; a message may hold its whole process too, which is not
    counted again."""
    stats = _attributes(_attributes(message[20:]).get(OF_A_THREAD, b"")).get(STATS, b"")
    if len(stats) < 376 or struct.unpack_from("=H", stats)[0] < FIRST_WITH_PROCESS:
        return

    def at(offset: int) -> int:
        return int(struct.unpack_from("=Q", stats, offset)[0])

    thread, parent, process = (
        struct.unpack_from("=I", stats, offset)[0] for offset in (128, 132, 368)
    )
    yield ThreadTime(
        thread,
        process,
        parent,
        lived_s=at(144) / MICROSECONDS,
        running_s=at(72) / NANOSECONDS,
        ready_s=at(24) / NANOSECONDS,
        disk_s=at(40) / NANOSECONDS,
        memory_s=(at(56) + at(320) + at(336) + at(360)) / NANOSECONDS,
    )
