"""A scene with a service: a sweep that asks a small server, started anew or as it goes on, and what
becomes of the server."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import psutil
from servers import await_port, free_port

from torture import faults, oracle
from torture.harness import Command
from torture.scene import Scene

SERVER = Path(__file__).with_name("server.py")

TROUBLES = ("crashes", "resets", "cut off", "garbage", "error", "slow", "hangs")
"""What may become of one request; see `server.py`."""

OF_ONE_PROGRAM = {"program harmed", "memory exhausted", "memory refused"}
"""Faults of a scene whose trial is one program, and whose sweep has no threads: Python prints a
traceback itself where one of them can have no lock."""

ANSWERED_WITHIN_S = 1.0
"""What a request may take; a server that hangs costs a trial so much."""

ASKED = {"url": "{service_url}/{threads}", "timeout_s": ANSWERED_WITHIN_S}
NUMBER = {"responses": {"n": {"regex": r"n=(\d+)"}}}
BY_REQUEST: dict[str, Any] = {
    "workload": {"kind": "http", **ASKED, **NUMBER},
    "response": {"name": "total_s"},
}
BY_LOAD: dict[str, Any] = {
    "workload": {"kind": "load", "rate": 100, "duration_s": 0.3, **ASKED},
    "response": {"name": "latency_p50_ms"},
}

MOST_IN_A_ROW = 19
"""Trials that fail because the server stays in trouble. A sweep ends with the third in a row, but
where one level alone ended well, once, it is sure of that after so many."""


class ServiceScene(Scene):
    """A sweep of a server, by one request a trial or by a load."""

    lasts_s: ClassVar[float] = 1.5
    is_up: bool = False
    _port: int = 0
    _server: subprocess.Popen[bytes] | None = None

    @classmethod
    def faults(cls) -> Mapping[str, Callable[[Any], None]]:
        """Those of the server, and those of the sweep that need no one program of a trial."""
        of_the_sweep = {
            name: fault for name, fault in faults.possible().items() if name not in OF_ONE_PROGRAM
        }
        return SERVER_FAULTS | of_the_sweep

    def asked(self) -> dict[str, Any]:
        self.trouble.parent.mkdir()
        argv = ["{python}", "-I", "-S", str(SERVER), "{port}", str(self.trouble.parent)]
        started = {
            "argv": argv,
            "restart": self.draw.choice(["trial", "treatment"]),
            "stop_timeout_s": 0.2,
        }
        self.is_up = self.draw.random() < 0.4
        if self.is_up:
            self._port = free_port()
            self.have_up()
        up = {"url": f"http://127.0.0.1:{self._port}"}
        return {
            "service": (up if self.is_up else started) | {"ready": {"timeout_s": 2}},
            **self.draw.choice([BY_REQUEST, BY_LOAD]),
            "factors": {"threads": self.draw.sample(range(1, 99), self.draw.randint(2, 3))},
            "design": {"replicates": self.draw.randint(2, 4), "warmup": self.draw.randint(0, 1)},
        }

    def have_up(self) -> None:
        """The server of a study that names its url runs and answers, and nothing is wrong with any
        server."""
        (self.trouble.parent / "elsewhere").unlink(missing_ok=True)
        self.trouble.unlink(missing_ok=True)
        if self.is_up:
            self.start_server()
            await_port(self._port)

    def start_server(self) -> None:
        """Somebody else starts the server, again if it runs."""
        self.close()
        argv = [sys.executable, "-I", "-S", SERVER, str(self._port), self.trouble.parent]
        self._server = subprocess.Popen(argv)

    def ended(
        self, command: Command, killed: bool = False, codes: Collection[int] = oracle.DOCUMENTED
    ) -> None:
        super().ended(command, killed, codes)
        # Another sweep that still asks the server has no fault coming; a new start would be one.
        if not any(other.runs() for other in self.commands):
            self.have_up()

    @property
    def trouble(self) -> Path:
        """Holds the trouble of the next request."""
        return self.folder / "server" / "trouble"

    def servers(self) -> list[psutil.Process]:
        """Those of this scene that run, whoever started them."""
        found = []
        for one in psutil.process_iter(["cmdline"]):
            words = one.info["cmdline"] or []
            if str(SERVER) in words and str(self.trouble.parent) in words:
                found.append(one)
        return found

    def finish(self) -> None:
        super().finish()
        self.close()
        assert not self.servers(), f"servers are left: {self.servers()}"

    def close(self) -> None:
        if self._server:
            self._server.kill()
            self._server.wait()


def _caught(scene: ServiceScene) -> tuple[Command, psutil.Process | None]:
    """A sweep that runs, and its server, where one was caught."""
    command = scene.instant()
    command.wait_for(lambda: bool(scene.servers()), timeout_s=1)
    return command, next(iter(scene.servers()), None)


def server_killed(scene: ServiceScene) -> None:
    """One that somebody else runs comes back after a while, or stays away."""
    command, server = _caught(scene)
    if server:
        scene.harmed += MOST_IN_A_ROW if scene.is_up else 1
        with suppress(psutil.Error):
            server.send_signal(scene.draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
        if scene.draw.random() < 0.7:
            command.wait(scene.draw.uniform(0, 0.3))
            scene.have_up()
    scene.ended(command, codes={0, 3} if scene.is_up else {0})


def _suspended(scene: ServiceScene, for_s: float | None) -> None:
    command, server = _caught(scene)
    if server:
        scene.harmed += MOST_IN_A_ROW
        with suppress(psutil.Error):
            server.suspend()
            if for_s is not None:
                time.sleep(for_s)
                server.resume()
    scene.ended(command, codes={0, 3})


def server_suspended(scene: ServiceScene) -> None:
    """For a moment, or for longer than a request may take."""
    _suspended(scene, scene.draw.choice([0.05, 0.3, 2 * ANSWERED_WITHIN_S]))


def server_stopped_for_good(scene: ServiceScene) -> None:
    """It neither answers nor ends when it is asked to."""
    _suspended(scene, None)


def request_in_trouble(scene: ServiceScene) -> None:
    command = scene.instant()
    word = scene.draw.choice(TROUBLES)
    scene.told(word)
    # One that somebody else runs stays away once it has crashed.
    scene.harmed += MOST_IN_A_ROW if word == "hangs" or (word == "crashes" and scene.is_up) else 1
    scene.trouble.write_text(word)
    scene.ended(command, codes={0, 3})


def server_comes_up_elsewhere(scene: ServiceScene) -> None:
    """The next one that is started listens on another port than it was told; somebody else's is
    started again for it."""
    command = scene.instant()
    scene.harmed += MOST_IN_A_ROW if scene.is_up else 1
    (scene.trouble.parent / "elsewhere").touch()
    if scene.is_up:
        scene.start_server()
    scene.ended(command, codes={0, 3})


SERVER_FAULTS: dict[str, Callable[[ServiceScene], None]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        *(server_killed, server_suspended, server_stopped_for_good, server_comes_up_elsewhere),
        request_in_trouble,
    )
}
"""What becomes of a server."""
