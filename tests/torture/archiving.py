"""A scene with an archive: `deadzone run` keeps runs and reports on a real S3 server, and the
network between gets into trouble."""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from store.object_store import BUCKET, object_store

from torture import faults
from torture.publishing import DONE, ReportScene

PREFIX = "kept"

PIECE = 65_536

STALLED_S = 0.5
"""How long nothing moves [s]. The clients of S3 try up to 25 times, so that it adds up."""


class Wire:
    """What lies between a client and a server on the loopback: it forwards, or does what `trouble`
    says.

    Troubles: `slow` delays each piece, `refuses` and `resets` end a connection as it begins, `cut
    off` after some bytes of an answer, `garbage` answers itself, `error` as a server that is too
    busy, `stalls` moves nothing for a while and then ends.
    """

    def __init__(self, port: int) -> None:
        """port: of the server."""
        self._to = port
        self.trouble = ""
        self.times = -1
        """Connections that are in trouble yet; below 0 all."""
        self.met = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def mend(self) -> None:
        """All goes well from now on."""
        self.trouble, self.times = "", -1

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with (
            client,
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self._to)) as server,
        ):
            back = threading.Thread(target=self._forward, args=(server, client, True), daemon=True)
            back.start()
            self._forward(client, server, False)
            back.join()

    def _forward(self, one: socket.socket, other: socket.socket, is_answer: bool) -> None:
        """Pieces from one side to the other; a connection is kept for many requests, so each piece
        may meet the trouble."""
        with contextlib.suppress(OSError):
            while piece := one.recv(PIECE):
                word = self._drawn_in() if is_answer else ""
                if word == "slow":
                    time.sleep(0.1)
                elif word == "stalls":
                    time.sleep(STALLED_S)
                    break
                elif word == "resets":
                    other.shutdown(socket.SHUT_RD)  # who waits to read there would keep it open
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    other.close()
                    break
                elif word == "refuses":
                    break
                elif word == "cut off":
                    other.sendall(piece[: len(piece) // 2])
                    break
                elif word == "garbage":
                    other.sendall(b"\0\xff\r\n\x1b]0;x\x07 no HTTP\r\n\r\n")
                    break
                elif word == "error":
                    other.sendall(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n")
                    continue
                elif word == "forbidden":
                    other.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                    continue
                other.sendall(piece)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _drawn_in(self) -> str:
        """The trouble of the next answer."""
        if not self.trouble or self.times == 0:
            return ""
        self.times -= 1
        self.met += 1
        return self.trouble


TROUBLES = ("slow", "refuses", "resets", "cut off", "garbage", "error", "forbidden", "stalls")


class ArchiveScene(ReportScene):
    """A run with its report that is kept on an S3 server."""

    @classmethod
    def faults(cls) -> Mapping[str, Callable[[Any], None]]:
        return ARCHIVE_FAULTS

    def open_archive(self) -> tuple[str, Path]:
        self._store = contextlib.ExitStack()
        environment = self._store.enter_context(object_store(self.folder / "store"))
        self.wire = Wire(int(environment["AWS_ENDPOINT_URL"].rpartition(":")[2]))
        self.environment = environment | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.wire.port}"}
        return f"s3://{BUCKET}/{PREFIX}", self.folder / "store" / BUCKET / PREFIX

    def close(self) -> None:
        self.wire.close()
        self._store.close()

    def finish(self) -> None:
        """With a network that works again."""
        self.wire.mend()
        super().finish()


def archive_in_trouble(scene: ArchiveScene) -> None:
    """For some answers, or until somebody mends it, from the start on or from when the run has a
    trial."""
    scene.wire.times = scene.draw.choice([1, 2, 8, -1, -1])
    word = scene.draw.choice(TROUBLES)
    early = scene.draw.random() < 0.3
    scene.told(f"{word}, {scene.wire.times} times, {'early' if early else 'later'}")
    before = scene.wire.met
    if early:
        scene.wire.trouble = word
    command = scene.start()
    if not early:
        had = scene.lines()
        command.wait_for(lambda: scene.lines() > had)
        scene.wire.trouble = word
    scene.ended(command, codes=DONE | {3})
    if command.code == 3:
        assert scene.wire.met > before, f"nothing was in trouble: {command.printed()}"
        assert "archive cannot be" in command.printed(), command.printed()
    scene.wire.mend()


def killed_while_it_copies(scene: ArchiveScene) -> None:
    """The process is gone while the network is slow, so that it most often copies."""
    command = scene.start()
    command.wait_for(lambda: scene.lines() > 0)
    scene.wire.trouble = "slow"
    before = scene.wire.met
    command.wait_for(lambda: scene.wire.met > before + 3)
    faults.send(command, signal.SIGKILL, group=True)
    scene.ended(command, killed=True, codes=DONE)
    scene.wire.mend()


def interrupted_while_it_copies(scene: ArchiveScene) -> None:
    command = scene.start()
    command.wait_for(lambda: scene.lines() > 0)
    scene.wire.trouble = scene.draw.choice(["slow", "stalls"])
    command.wait(scene.draw.uniform(0, scene.lasts_s))
    faults.send(command, signal.SIGINT, group=False)
    scene.ended(command, codes=DONE | {3, 130})
    scene.wire.mend()


ARCHIVE_FAULTS: dict[str, Callable[[ArchiveScene], None]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (archive_in_trouble, killed_while_it_copies, interrupted_while_it_copies)
}
"""What becomes of the archive, and of who writes to it."""
