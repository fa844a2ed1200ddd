"""A service in one environment: started or only reached, ready before a client asks, stopped
afterwards, its log kept.

Ports, and waiting until a service answers on one.
"""

import http.client
import socket
import string
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlsplit

from deadzone.errors import StoreError
from deadzone.plugins import (
    Command,
    Level,
    SaidAs,
    StudyError,
    Treatment,
    WorkloadError,
    fill,
    fresh_folder,
    masked,
)
from deadzone.run.targets.account import ThreadAccount
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.limits.base import Counters
from deadzone.run.targets.local import LocalTarget
from deadzone.run.targets.processes import below, listening, names_of
from deadzone.run.targets.undo_log import UndoEntry, record_change, undo
from deadzone.run.workloads.addresses import STANDARD_PORTS, is_this_machine
from deadzone.run.workloads.base import Place, run_unmeasured
from deadzone.store.programs import answer_of, last_words
from deadzone.study.service_specs import DATA, HOST, PORT, PYTHON, ReadinessSpec, ServiceSpec
from deadzone_services.base import (
    Host,
    Pids,
    RunningProgram,
    ServiceError,
    Watch,
    await_settled,
    placeholders_of,
)
from deadzone_services.settings import Data, as_user, check_taken, hand_over

LOOK_EVERY_S = 0.02
"""A service that takes a second to start loses two per cent of it to a look that came too early
[s]."""

ANSWER_TIMEOUT_S = 5.0
"""A service that accepts a connection and then says nothing for so long is not ready yet [s]."""


def free_port(host: str, port: int = 0) -> int:
    """A TCP port of this machine that no process listens on: this one, by default any.

    Raises ServiceError if the address is none of this machine's, or naming who has the port.
    """
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, port > 0)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    except OSError as error:
        if not port:
            raise ServiceError(
                f"service.host: nothing can listen on {host} here: {error.strerror}."
            ) from error
        holders = ", ".join(
            part
            for pid in listening().get(port, ())
            for part in (*names_of(pid)[:1], f"process {pid}")
        )
        raise ServiceError(
            f"port taken: {host}:{port} cannot be used: "
            f"{error.strerror}{f' (by {holders})' if holders else ''}. Stop that, or leave "
            "service.port out and write {port} in its arguments."
        ) from error


def _problem(host: str, port: int, spec: ReadinessSpec, argv: Sequence[str]) -> str | None:
    """Why a service is not ready, or a program says so by its exit code; None if it is."""
    try:
        if argv:
            answer = answer_of(argv, ANSWER_TIMEOUT_S)
            return last_words(answer) if answer.returncode else None
        if spec.path is None:
            socket.create_connection((host, port), timeout=ANSWER_TIMEOUT_S).close()
            return None
        timeout_s = min(ANSWER_TIMEOUT_S, spec.timeout_s)
        with closing(http.client.HTTPConnection(host, port, timeout=timeout_s)) as connection:
            connection.request("GET", quote(spec.path, safe=string.punctuation))
            status = connection.getresponse().status
    except ConnectionRefusedError:
        return "nothing listens there"
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    return None if status == spec.status else f"status {status} where {spec.status} means ready"


LOG_KEPT_BYTES = 1_000_000
"""How much of the end of a service's log is kept [bytes]."""

LOG_SHOWN = 600
"""How much of the end of a log stands in the message of a failed trial [characters]."""

SETTLING_S = 2.0
"""How long a service that is ready may still be busy with its start before it is asked [s]."""

SCRATCH, INPUTS = "scratch", "inputs"


class Service:
    """The service of a study in one environment; `host` is where it runs, None where it is only
    reached."""

    def __init__(
        self,
        spec: ServiceSpec,
        host: Host | None,
        folder: Path,
        environment: str = "",
        logs: Path | None = None,
        limits: Mapping[str, Level] | None = None,
    ) -> None:
        """folder: where the study file lies. logs: folder in which the logs are kept. limits: those
        of the environment, for treatments that have none of their own."""
        self._limits = dict(limits or {})
        self._spec, self._host, self._folder = spec, host, folder
        self._environment, self._logs = environment, logs
        self._where = f"environments.{environment}" if environment else "service"
        self._python: str = getattr(host, "python", sys.executable)
        self._data = Data(spec.data, folder) if spec.data else None
        self._here = Place()
        self._program: RunningProgram | None = None
        self._log: Path | None = None
        self._reached: str | None = None
        self._treatment: Treatment | None = None
        self._promised: Path | None = None
        self.start_s: float | None = None

    def prepare_sweep(self) -> None:
        """Run the setup. Raises WorkloadError if it fails, StudyError if the host starts no
        services."""
        where, is_started = self._where, self._spec.url is None
        if is_started and not hasattr(self._host, "start"):
            raise StudyError(
                f"{where}: this target starts no services. Give the url of one that is up."
            )
        is_elsewhere = not isinstance(self._host, LocalTarget)
        if is_started and is_elsewhere and (self._spec.user or self._data):
            raise StudyError(
                f"{where}: user and data are for services that are started on this machine."
            )
        if self._spec.setup and self._host:
            values = {INPUTS: str(self._inputs()), PYTHON: sys.executable}
            self._run("setup", self._spec.setup, values)

    def ready(self, treatment: Treatment) -> str:
        """Have the service up for a treatment: freshly started, or as it went on running; its URL.

        Raises ServiceError if it does not become ready; then nothing of it runs any more.
        """
        stays = self._spec.restart == "treatment" and self._treatment == treatment
        if self._reached and stays and (self._program is None or self._program.runs()):
            return self._reached
        self.stop()
        if self._host:
            self._host.prepare(Treatment({**self._limits, **treatment.levels}))
        try:
            if self._spec.hook and treatment != self._treatment:
                self._treatment = None  # neither that one nor this one, if something fails now
                self._promise_to_restore()
                self._run("hook", self._spec.hook, {**treatment.levels, **self._before_start()})
        except WorkloadError as error:
            raise ServiceError(str(error)) from error
        self._reached = self._reach() if self._spec.url else self._start(treatment)
        if self._spec.read_back:
            values = {**treatment.levels, **placeholders_of(self._reached), PYTHON: sys.executable}
            try:
                check_taken(self._spec.read_back, treatment.levels, values, self._spec.user)
            except ServiceError:
                self.stop()
                raise
        self._treatment = treatment
        return self._reached

    def _promise_to_restore(self) -> None:
        """Note, before the first change, what gives the setting back."""
        if self._spec.restore and self._promised is None:
            argv = self._filled(self._spec.restore, self._before_start())
            what, where = f"the setting of {self._where}", f"{self._where}.restore"
            with SaidAs(WorkloadError, f"{where} cannot be noted"):
                self._promised = record_change(UndoEntry(what, argv=argv, cwd=str(self._cwd())))

    def close(self) -> str | None:
        """Stop what was started, and give back what the hook changed; what could not be."""
        with undisturbed():
            try:
                self.stop()
            finally:
                copy = self._data.remove() if self._data else None
                note, self._promised = self._promised, None
                setting = undo(note) if note else None
            return "; ".join(filter(None, (copy, setting))) or None

    def end_left(self) -> str:
        """End what the setup left running, such as a second server; says what it was, empty where
        there was nothing."""
        with undisturbed():
            return self._here.left.end()

    def watch(self, account: ThreadAccount | None = None, limit: float | None = None) -> Watch:
        """A companion for a trial that asks the service. account: kept of it, under a limit
        [cores]."""
        read = self._host.read if self._host and hasattr(self._host, "read") else Counters
        from_afar = getattr(self._host, "counts_from_afar", False)
        return Watch(read, self._processes, from_afar, account=account, limit=limit)

    def process(self) -> int | None:
        """Process id of the service, where it runs on this machine."""
        if self._program:
            return self._program.pid if self._program.runs() else None
        return next(iter(self._processes()[0]), None)

    def death(self) -> str | None:
        """How the service ended by itself, with the end of its log; None while it runs, or where it
        is only reached."""
        if self._program is None or self._program.runs():
            return None
        ended = self._program.stop(0)
        if ended.exec_error:
            how = f"did not start: {ended.exec_error}"
        elif ended.exit_code < 0:
            how = f"was killed by signal {-ended.exit_code}"
        else:
            how = f"ended with exit code {ended.exit_code}"
        return f"the service {how}{self._last_words()}"

    def displaced(self) -> None:
        """A trial of another environment comes between: the service ends, and what is shared with
        that one has to be set up again."""
        self.stop()
        self._treatment = None

    def after_trial(self) -> None:
        """A fresh process for each trial is stopped now, and so is one that ended by itself."""
        if self._spec.restart == "trial" or self.death():
            self.stop()

    def stop(self) -> None:
        """Stop what was started, with all its descendants; its log is kept."""
        program, self._program = self._program, None
        log, self._log = self._log, None
        self._reached = None
        try:
            if program:
                program.stop(self._spec.stop_timeout_s)
        finally:
            # the run may have been moved away, and the log with it
            if log and log.is_file() and (end := masked(_end_of(log))):
                log.write_text(end, encoding="utf-8")
            elif log:
                log.unlink(missing_ok=True)

    def _start(self, treatment: Treatment) -> str:
        spec = self._spec
        port = free_port(spec.host, spec.port or 0)
        values = self._values(treatment.levels, getattr(self._host, "inner_port", None) or port)
        command = Command(
            argv=self._filled(spec.argv or (), values),
            env={name: fill(value, values) for name, value in spec.env.items()},
            cwd=self._cwd(),
        )
        self._log = self._next_log()
        assert self._host is not None
        self._program = self._host.start(command, self._log, port)
        try:
            self.start_s = self._await_ready({PORT: port, HOST: spec.host}, self._program.runs)
        except BaseException as error:
            why = self.death() or f"{error}{self._last_words()}"
            self.stop()
            if not isinstance(error, ServiceError):
                raise
            raise ServiceError(f"service not ready: {masked(why)}") from error
        await_settled(self.watch(), SETTLING_S)
        named = f"[{spec.host}]" if ":" in spec.host else spec.host
        return f"http://{named}:{port}"

    def _reach(self) -> str:
        """A service that is up already has to be ready too."""
        reached, self.start_s = str(self._spec.url), None
        try:
            if self._spec.ready.argv or urlsplit(reached).scheme in ("http", "ws", "tcp"):
                self._await_ready(placeholders_of(reached), lambda: True)
        except ServiceError as error:
            raise ServiceError(f"service not ready: {masked(str(error))}") from error
        return reached

    def _await_ready(self, places: Mapping[str, Level], runs: Callable[[], bool]) -> float:
        """Wait until the service answers, or a program of the study says that it is ready; how long
        that took [s].

        places: where it answers. runs: whether its process still lives. Raises ServiceError if it
        ends first, or the time is over.
        """
        began, spec = time.monotonic(), self._spec.ready
        host, port = str(places[HOST]), int(places[PORT])
        argv = self._filled(spec.argv, {PYTHON: sys.executable, **places}) if spec.argv else ()
        while True:
            problem = _problem(host, port, spec, argv)
            if not runs():  # what answered may be another process
                raise ServiceError("the service ended before it was ready")
            if problem is None:
                return time.monotonic() - began
            if time.monotonic() - began > spec.timeout_s:
                path = f"http://{host}:{port}{spec.path}" if spec.path else f"port {port} of {host}"
                raise ServiceError(
                    f"the service was not ready within {spec.timeout_s:g} s: "
                    f"{' '.join(argv) or path}: {problem}"
                )
            time.sleep(LOOK_EVERY_S)

    def _processes(self) -> tuple[Pids, Pids]:
        if self._program and self._host and (inside := self._host.processes()):
            first, *others = inside
            return tuple(others), (first,) if first else ()
        if self._spec.url:
            parts = urlsplit(self._spec.url)
            if is_this_machine(parts.hostname or ""):
                pids = listening().get(parts.port or STANDARD_PORTS[parts.scheme], ())
                return (*pids, *below(*pids)), ()
        return (), ()

    def _before_start(self) -> dict[str, Level]:
        """What stands for placeholders in what runs on this machine before a start."""
        if self._spec.url:
            return {PYTHON: sys.executable, **placeholders_of(self._spec.url)}
        return {PYTHON: sys.executable, INPUTS: str(self._inputs())}

    def _values(self, levels: Mapping[str, Level], port: int) -> dict[str, Level]:
        assert self._host is not None
        scratch = fresh_folder(self._host.scratch / f"service-{SCRATCH}")
        hand_over(scratch, self._spec.user)
        values: dict[str, Level] = {**levels, PYTHON: self._python, PORT: port}
        values |= {SCRATCH: str(scratch), INPUTS: str(self._inputs()), HOST: self._spec.host}
        if self._data:
            values[DATA] = str(self._data.ready(self._inputs(), self._spec.user))
        return values

    def _inputs(self) -> Path:
        assert self._host is not None
        inputs = self._host.scratch / f"service-{INPUTS}"
        if not inputs.exists():
            inputs.mkdir()
            hand_over(inputs, self._spec.user)
        return inputs

    def _cwd(self) -> Path:
        return (self._folder / (self._spec.cwd or "")).resolve()

    def _next_log(self) -> Path:
        """A log of its own for every start, in the order of the starts."""
        folder = self._logs or (self._host.scratch if self._host else Path.cwd())
        # never anew where the run was moved away
        with SaidAs(StoreError, f"{folder}: cannot be made"):
            folder.mkdir(exist_ok=True)
        numbers = [int(path.name[:5]) for path in folder.glob("[0-9]" * 5 + "*.log")]
        named = f"-{self._environment}" if self._environment else ""
        return folder / f"{1 + max(numbers, default=0):05d}{named}.log"

    def _last_words(self) -> str:
        if self._log is None or not self._log.is_file():
            return ""
        end = _end_of(self._log).strip()[-LOG_SHOWN:]
        said = f"; the end of its log {self._log.name}: {end}"
        return masked(said) if end else "; its log is empty"

    def _run(self, key: str, argv: Sequence[str], values: Mapping[str, Level]) -> None:
        """Run a program of the study that is not measured. Raises WorkloadError if it fails."""
        place = self._here if key == "setup" else Place()
        run_unmeasured(place, f"service.{key}", self._filled(argv, values), self._cwd())

    def _filled(self, argv: Sequence[str], values: Mapping[str, Level]) -> tuple[str, ...]:
        """The argument vector that runs a program of the study, as its user."""
        return as_user(self._spec.user, [fill(argument, values) for argument in argv])


def _end_of(log: Path) -> str:
    with log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - LOG_KEPT_BYTES))
        return handle.read().decode(errors="replace")
