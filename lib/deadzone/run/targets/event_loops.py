"""What an event loop waits for: others, over its sockets, or threads of its own process, which wake
it.

A loop sleeps in epoll_wait(2) for the descriptors of its set, which proc(5) lists in
/proc/<pid>/fdinfo. Threads of its own process wake it by an eventfd(2), a pipe(2) or a
socketpair(2) of which the process has both ends: of asyncio's `to_thread`, libuv's pool and Go's
network poller. A loop with nothing else in its set waits for no other process.
"""

import contextlib
import platform
import socket
import struct
from collections import Counter
from pathlib import Path

from deadzone.run.targets.kernel_files import read_bytes
from deadzone.run.targets.netlink import attributes, request

CALLS = {"x86_64": (b"232", b"281", b"441"), "aarch64": (b"22", b"441")}.get(platform.machine(), ())
"""Numbers of epoll_wait, epoll_pwait and epoll_pwait2."""

FUNCTIONS = (b"do_epoll", b"ep_poll")
"""Where in the kernel a thread sleeps in one of these."""

MOST_OWN = 16
"""A set with more descriptors serves others; to look for the ends of so many takes too long."""

SOCKET, PIPE = "socket:[", "pipe:["

DIAGNOSIS, BY_FAMILY = 4, 20
"""NETLINK_SOCK_DIAG and SOCK_DIAG_BY_FAMILY (sock_diag(7))."""

SHOW_PEER, PEER = 4, 2
"""UDIAG_SHOW_PEER and UNIX_DIAG_PEER."""


def asks_others(pid: int, call: bytes) -> bool:
    """Whether the set of an event loop has a descriptor that another process may write to.

    call: the number of the loop's call and its arguments (proc_pid_syscall(5)). True where this
    user may not look.
    """
    number, _, arguments = call.partition(b" ")
    if number not in CALLS:
        return True
    loop = int(arguments.partition(b" ")[0], 16)
    watched = [
        line.split()[1].decode()
        for line in read_bytes(f"/proc/{pid}/fdinfo/{loop}").splitlines()
        if line.startswith(b"tfd:")
    ]
    if not 0 < len(watched) <= MOST_OWN:
        return True
    try:
        files = {path.name: str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:
        return True
    ends = Counter(files.values())
    return any(_is_shared(files.get(name, ""), ends) for name in watched)


def _is_shared(file: str, ends: Counter[str]) -> bool:
    """Whether another process may hold the other end of a file. ends: how many descriptors the
    process has of each."""
    if file.startswith(PIPE):
        return ends[file] == 1
    if not file.startswith(SOCKET):
        return False
    return f"{SOCKET}{_peer(int(file.removeprefix(SOCKET).rstrip(']')))}]" not in ends


def _peer(inode: int) -> int | None:
    """The socket that a UNIX socket is connected to, by its inode; None for a socket of another
    kind or network namespace."""
    any_one = 0xFFFFFFFF
    body = struct.pack(
        "=BBHIIIII", socket.AF_UNIX, 0, 0, any_one, inode, SHOW_PEER, any_one, any_one
    )
    with contextlib.suppress(OSError, KeyError, struct.error):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, DIAGNOSIS) as asking:
            asking.settimeout(1.0)
            asking.send(request(BY_FAMILY, 1, body))
            answer = asking.recv(4096)
        if struct.unpack_from("=H", answer, 4) == (BY_FAMILY,):
            return int(struct.unpack("=I", attributes(answer[32:])[PEER])[0])
    return None
