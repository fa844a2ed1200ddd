"""The container target: services in a container that docker or podman starts, under the limits the
engine puts in force.

Options of the command lines: docker-run(1), podman-run(1). Whatever was started bears the name of
the process that made it, and is removed with it.
"""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from deadzone.plugins import (
    Command,
    Measurement,
    PlannedTarget,
    Surroundings,
    Target,
    TargetError,
    Treatment,
    format_level,
)
from deadzone.run.targets.base import Exit
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.limits.base import (
    GROUP_PREFIX,
    Counters,
    as_bytes,
    as_cores,
    is_left_over,
)
from deadzone.run.targets.limits.cgroup_v1 import group_of
from deadzone.run.targets.local import make_scratch
from deadzone.run.targets.processes import below
from deadzone.store.programs import answer_of, last_words
from deadzone_services.container_spec import ContainerTargetSpec

ENGINES = ("docker", "podman")
"""Commands that start containers, in the order in which they are tried."""

ENGINE_TIMEOUT_S = 60.0
"""An engine answers in a fraction of a second; a starved one may take this long [s]."""

INSIDE_PYTHON = "python3"
"""What {python} means in a container, which has a Python of its own or none."""


class ContainerTarget(Target):
    """Containers of one image; services only, one at a time."""

    factors: tuple[str, ...] = ("cpu_limit", "memory_limit")
    python = INSIDE_PYTHON

    def __init__(self, spec: ContainerTargetSpec) -> None:
        self._spec = spec
        self.scratch = Path(os.devnull)
        self._engine = ""
        self._limits: list[str] = []
        self.inner_port = spec.port
        """Port on which the service listens inside, where the study says so."""
        self._running: ServiceContainer | None = None
        self._last = Counters()

    def __enter__(self) -> Self:
        self._engine = find_engine(self._spec.engine)
        remove_left_containers(self._engine)
        image = self._image()
        if image.returncode:
            raise TargetError(
                f"{self._engine} has no image {self._spec.image!r}: {last_words(image)}. Build it "
                "or pull it first."
            )
        self.scratch = make_scratch()
        return self

    def _image(self) -> subprocess.CompletedProcess[str]:
        return ask(self._engine, "image", "inspect", "--format", "{{.Id}}", self._spec.image)

    def __exit__(self, *raised: Any) -> None:
        with undisturbed():
            if self._running:
                self._running.stop(0)
            shutil.rmtree(self.scratch, ignore_errors=True)

    def prepare(self, treatment: Treatment) -> None:
        """Note the treatment's limits; a container gets them as it is made."""
        cores = as_cores(treatment.levels.get("cpu_limit", self._spec.cpu_limit))
        size = as_bytes(treatment.levels.get("memory_limit", self._spec.memory_limit))
        self._limits = [] if cores is None else ["--cpus", format_level(cores)]
        if size is not None:
            self._limits += ["--memory", f"{size}b", "--memory-swap", f"{size}b"]

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Refused: only services run in containers."""
        raise TargetError(
            "The container target runs services only; give it one, or use the local target."
        )

    def start(self, command: Command, log: Path, port: int | None = None) -> "ServiceContainer":
        """Start the service in a container; what it prints goes to the log. port: where it is
        reached from outside."""
        name = f"{self.scratch.name}-{time.monotonic_ns()}"
        argv = (
            self._engine, "run", "--name", name, "--init", *self._limits,
            *(("--publish", f"127.0.0.1:{port}:{self.inner_port or port}") if port else ()),
            "--volume", f"{self.scratch}:{self.scratch}",
            *(word for key, value in command.env.items() for word in ("--env", f"{key}={value}")),
            *self._spec.options, self._spec.image, *command.argv,
        )  # fmt: skip
        with log.open("wb") as out:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
        self._last = Counters()
        self._running = ServiceContainer(self._engine, name, process, time.monotonic())
        return self._running

    def read(self) -> Counters:
        """The accounting of the container's group, where this machine shows it; of one that ended,
        the last reading."""
        with contextlib.suppress(OSError, TargetError):
            if self._running and self._running.pid and (group := group_of(self._running.pid)):
                self._last = group.read()
        return self._last

    def processes(self) -> tuple[int, ...]:
        """Processes inside: the container's first one holds the account of those that ended."""
        pid = self._running.pid if self._running else 0
        return (pid, *below(pid)) if pid else (0,)

    def identity(self) -> dict[str, str]:
        """The image that the engine runs."""
        return {"image": str(self.facts()["image_id"])}

    def facts(self) -> dict[str, Any]:
        """Engine, image and its identity."""
        version = ask(self._engine, "version", "--format", "{{.Client.Version}}")
        return {
            "target": "container",
            "limits_mechanism": self._engine,
            "engine_version": version.stdout.strip() or None,
            "image": self._spec.image,
            "image_id": self._image().stdout.strip() or None,
        }


def make_target(planned: PlannedTarget, around: Surroundings) -> ContainerTarget:
    """The target of a plan."""
    assert isinstance(planned.spec, ContainerTargetSpec)
    return ContainerTarget(planned.spec)


def give_back(spec: ContainerTargetSpec, note: Callable[[str], None]) -> None:
    """Remove the containers that killed sweeps left."""
    remove_left_containers()


@dataclass
class ServiceContainer:
    """A container that runs a service. process: the engine's command in the foreground, which ends
    with it."""

    engine: str
    name: str
    process: subprocess.Popen[bytes]
    started_s: float
    ended: Exit | None = None
    _pid: int = 0

    @property
    def pid(self) -> int:
        """The container's first process as this machine numbers it; 0 as long as there is none, or
        none to be seen."""
        if not self._pid and self.runs():
            pid = pid_of(self.engine, self.name)
            self._pid = pid if Path(f"/proc/{pid}").is_dir() else 0
        return self._pid

    def runs(self) -> bool:
        """Whether it has not ended by itself."""
        return self.ended is None and self.process.poll() is None

    def stop(self, timeout_s: float) -> Exit:
        """End it and remove the container; how it ended. Asked again, it says the same."""
        if self.ended is not None:
            return self.ended
        if self.process.poll() is None:
            ask(
                *(self.engine, "stop", "--time", str(round(timeout_s)), self.name),
                patience_s=timeout_s,
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=ENGINE_TIMEOUT_S)
        _remove(self.engine, self.name)
        self.process.kill()  # does nothing to one that has ended
        self.ended = Exit(time.monotonic() - self.started_s, self.process.wait())
        return self.ended


def find_engine(wanted: str) -> str:
    """The command that starts containers. Raises TargetError, with each one's reason, where none
    works."""
    refusals = []
    for name in ENGINES if wanted == "auto" else (wanted,):
        if not shutil.which(name):
            refusals.append(f"{name} is not installed")
            continue
        answer = ask(name, "ps", "--quiet")
        if answer.returncode == 0:
            return name
        refusals.append(f"{name} does not work: {last_words(answer)}")
    raise TargetError(
        f"No container can be started here: {'; '.join(refusals)}. Start the docker service, or "
        "install podman."
    )


def remove_left_containers(engine: str | None = None) -> list[str]:
    """Remove the containers that killed runs left behind; returns their names.

    engine: the command to ask; default every one that is installed.
    """
    removed = []
    for command in [engine] if engine else filter(shutil.which, ENGINES):
        asked = ("ps", "--all", "--filter", f"name=^{GROUP_PREFIX}", "--format", "{{.Names}}")
        listed = ask(command, *asked).stdout.split()
        left = [name for name in listed if is_left_over(name.rpartition("-")[0])]
        removed += [name for name in left if _remove(command, name)]
    return removed


def _remove(engine: str, name: str) -> bool:
    return ask(engine, "rm", "--force", "--volumes", name).returncode == 0


def ask(engine: str, *arguments: str, patience_s: float = 0.0) -> subprocess.CompletedProcess[str]:
    """What the engine's command answers; a failure to answer is an answer with an exit code."""
    return answer_of((engine, *arguments), ENGINE_TIMEOUT_S + patience_s)


def pid_of(engine: str, name: str) -> int:
    """The first process of a container; 0 where it does not run."""
    pid = ask(engine, "inspect", "--format", "{{.State.Pid}}", name).stdout.strip()
    return int(pid) if pid.isdigit() else 0
