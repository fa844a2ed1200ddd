"""A scene with an archive: `deadzone run` keeps runs and reports on a real S3 server, and the network between gets into trouble."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from store.object_store import BUCKET, object_store

from torture import faults, oracle
from torture.harness import Arming, Command
from torture.scene import Scene

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

PREFIX = "kept"

DONE = {0, 6, 7}
"""Measured and published, whatever the verdict."""

PIECE = 65_536

STALLED_S = 0.5
"""How long nothing moves [s]. The clients of S3 try up to 25 times, so that it adds up."""

PATIENCE_S = 600.0
"""What a run may take that measures, publishes, and asks an archive in trouble again and again [s]."""


class Wire:
    """What lies between a client and a server on the loopback: it forwards, or does what `trouble` says.

    Troubles: `slow` delays each piece, `refuses` and `resets` end a connection as it begins, `cut off` after some bytes of an
    answer, `garbage` answers itself, `error` as a server that is too busy, `stalls` moves nothing for a while and then ends.
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
        """Pieces from one side to the other; a connection is kept for many requests, so each piece may meet the trouble."""
        with contextlib.suppress(OSError):
            while piece := one.recv(PIECE):
                word = self._drawn_in() if is_answer else ""
                if word == "slow":
                    time.sleep(0.1)
                elif word == "stalls":
                    time.sleep(STALLED_S)
                    break
                elif word == "resets":
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


class ArchiveScene(Scene):
    """A run of a short program with its report, kept in an archive."""

    lasts_s: ClassVar[float] = 4.0

    @classmethod
    def faults(cls) -> Mapping[str, Callable[[Any], None]]:
        return ARCHIVE_FAULTS

    def asked(self) -> dict[str, Any]:
        for name in ("sweep", "phases"):
            shutil.copy(NOTEBOOKS / f"{name}.ipynb", self.home / "notebooks")
        self._store = contextlib.ExitStack()
        environment = self._store.enter_context(object_store(self.folder / "store"))
        self.wire = Wire(int(environment["AWS_ENDPOINT_URL"].rpartition(":")[2]))
        self._environment = environment | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.wire.port}"}
        return {
            "workload": {
                "kind": "command",
                "argv": ["sh", "-c", "sleep 0.00{threads}; echo {threads}"],
                "responses": {"n": {"regex": r"\d+"}},
            },
            "factors": {"threads": self.draw.sample(range(1, 10), 3)},
            "design": {"replicates": self.draw.randint(2, 4), "warmup": 0, "rehearsal": False},
        }

    def close(self) -> None:
        self.wire.close()
        self._store.close()

    def start(self, arming: Arming | None = None, resumed: Any = None) -> Command:
        run = resumed or self.run()
        more = ("--resume", run.run_id) if run else ()
        archive = ("--archive", f"s3://{BUCKET}/{PREFIX}")
        self.commands.append(
            Command(
                self.home,
                "run",
                str(self.study),
                "-q",
                *archive,
                *more,
                arming=arming,
                environment=self._environment,
            )
        )
        self.commands[-1].patience_s = PATIENCE_S
        return self.commands[-1]

    def ended(
        self, command: Command, killed: bool = False, codes: Collection[int] = oracle.DOCUMENTED
    ) -> None:
        """As for a sweep, but for what `run` says beside its sentence."""
        code, said = command.code, command.printed()
        assert "Traceback" not in said and "Exception ignored" not in said, said
        assert killed if code < 0 else code in codes, f"exit code {code}: {said}"
        if code in (2, 3, 4):
            assert said.splitlines()[-1].startswith("deadzone: "), f"exit code {code}: {said}"
        run = self.run()
        if run:
            oracle.check_kept(run, self._kept)
            self.forget()

    def finish(self) -> None:
        """With a network that works again all of the run and of its report is in the archive, byte by byte."""
        self.wire.mend()
        self.story.append("resumed")
        self.ended(self.start(), codes=DONE)
        run = self.run()
        assert run
        oracle.check_whole(run, self.study)
        kept = self.folder / "store" / BUCKET / PREFIX
        report = self.home / "reports" / "probe" / run.run_id
        for here, there in ((run.folder, kept / "runs"), (report, kept / "reports")):
            for path in (one for one in here.rglob("*") if one.is_file() and one.name != "lock"):
                copied = there / "probe" / run.run_id / path.relative_to(here)
                assert copied.is_file(), f"not in the archive: {path}"
                if path.name != "sweep.ipynb":  # is written as the run is copied
                    assert copied.read_bytes() == path.read_bytes(), f"another one in the archive: {path}"
        assert report.joinpath("report.pdf").is_file(), "there is no report"
        oracle.check_nothing_left(self.commands, self.folder)


def archive_in_trouble(scene: ArchiveScene) -> None:
    """For some answers, or until somebody mends it, from the start on or from when the run has a trial."""
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
