"""What threads used from their beginning to their end, as the kernel tells a listener whenever one
ends.

Source: Linux kernel documentation, accounting/taskstats.rst, delay-accounting.rst and
taskstats-struct.rst, and linux/taskstats.h, whose offsets stand below; netlink(7). Only the owner
of the machine (CAP_NET_ADMIN) may listen. What waits for disks and memory took is counted where
`kernel.task_delayacct` is on; it is left as it is. The few calls needed are made here: a library
for netlink would bring some 100 modules for them.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from deadzone.run.targets.kernel_files import read_bytes
from deadzone.run.targets.schedstat import NANOSECONDS, ThreadTime

GENERIC, CONTROL = 16, 16
GET_FAMILY, FAMILY_NAME, FAMILY_ID = 3, 2, 1
GET, LISTEN = 1, 3
OF_A_THREAD, STATS = 4, 3

FIRST_WITH_PROCESS = 12
"""Since this version of the record it names the process that a thread belongs to."""

RECEIVE_BYTES = 4 * 1024 * 1024
"""Room for the ends of some thousand threads between two looks [bytes]."""

MICROSECONDS = 1e6

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
            name = b"TASKSTATS\0"
            answer = self._ask(CONTROL, GET_FAMILY, FAMILY_NAME, name)
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
        inside = [thread for thread in self._heard if thread.process in line]
        return None if self._lost else inside

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
