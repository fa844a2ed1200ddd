"""Measuring one treatment: its limits put in force, its program run, its own responses read.

The sweep decides what is measured and how often; this module alone knows what a measurement takes.

A treatment may be of a service: that is started in its environment, asked by a client outside, watched, and stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

from deadzone.errors import LostError, StudyError
from deadzone.measurement import Measurement, Status, not_measured
from deadzone.run.sweep.checks import check
from deadzone.run.targets.base import Executing, Seen, Surroundings, Target
from deadzone.run.targets.interference import WINDOW_S
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.limits.base import THROTTLING, as_cores
from deadzone.run.targets.local import LocalTarget
from deadzone.run.targets.promises import tell
from deadzone.run.targets.registry import make_target
from deadzone.run.workloads.base import Movable, Outcome, Place, Workload
from deadzone.run.workloads.registry import make_workload
from deadzone.store.provenance import git_facts, host_facts
from deadzone.study.design import Limits, Treatment
from deadzone.study.levels import is_number
from deadzone.study.masking import masked
from deadzone.study.plan import NOWHERE, Plan
from deadzone.study.target_specs import LocalTarget as LocalSpec
from deadzone_profiles.capturing import Subject
from deadzone_profiles.profiling import Profiling, with_profiles
from deadzone_services.base import Host, ServiceError, Use, placeholders_of
from deadzone_services.belonging.watching import Belongings
from deadzone_services.service import Service


class Measuring:
    """A plan's workload on its target. A context manager: the target is open inside it."""

    is_one_of_many = False
    """Whether others measure at the same time, so that what is lost here says nothing of the next trial."""

    def __init__(self, plan: Plan, around: Surroundings | None = None, target: Target | None = None) -> None:
        """around: what the target is told. target: where the workload runs, by default the plan's."""
        self._plan = plan
        self._note = (around or Surroundings()).note
        self._target = target or make_target(plan.targets[NOWHERE], around)
        self._runs_on: Executing = self._target
        workload = make_workload(plan.study.workload, plan.folder, plan.treatments)
        self._workload = self._at_place_of(self._target, workload)
        self._profiling = Profiling(plan.study.profiles)
        self.belongings = Belongings(plan.study.belongs, self._note)
        if isinstance(self._target, LocalTarget):
            self._target.belongs = self.belongings
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._finish)
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> None:
        """Open what trials need; the stack closes it."""
        stack.enter_context(self._target)
        stack.enter_context(self.belongings)

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def _finish(self) -> None:
        with undisturbed():
            self._workload.finish()

    def check(self) -> None:
        """Raise StudyError if the study cannot be measured as it is written; nothing is opened."""
        check(self._plan, [self._target], self._workload)

    def workers(self) -> tuple[Measuring, ...]:
        """As many as trials may run at once, each with a place of its own on the target."""
        parts: tuple[Executing, ...] = getattr(self._target, "workers", tuple)()
        return tuple(map(self._worker, parts)) or (self,)

    def _worker(self, part: Executing) -> Measuring:
        worker = copy(self)
        worker.is_one_of_many = True
        worker._runs_on = part
        worker._workload = self._at_place_of(part, copy(self._workload))
        return worker

    def _at_place_of(self, target: Executing, workload: Workload) -> Workload:
        """The workload, moved to where the target runs programs, if that is not here.

        Raises StudyError for a workload that runs on this machine only.
        """
        place: Place | None = getattr(target, "place", None)
        if place is None:
            return workload
        if not isinstance(workload, Movable):
            raise StudyError(
                f"workload.kind: {self._plan.study.workload.kind} runs on this machine only, not on the "
                f"{self._plan.targets[NOWHERE].spec.kind} target."
            )
        workload.move_to(place)
        return workload

    def stop(self) -> None:
        """Let whatever the workers wait for end soon."""
        getattr(self._runs_on, "stop", tuple)()

    def prepare(self) -> dict[str, Any]:
        """Get everything ready before the first trial; returns the facts for the provenance.

        Raises WorkloadError if a program or an input is missing.
        """
        prepared = {**self._profiling.prepare(), **self._workload.prepare_sweep(self._target.scratch)}
        known = {**self._target.facts(), **self.belongings.facts()}
        return {**host_facts(), **known, **prepared, **git_facts(self._plan.folder)}

    def measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """Run one trial of a treatment.

        What belongs to it is there, under its limits, or the trial is lost. Raises TargetError or WorkloadError where it
        cannot be started as the study asks.
        """
        return self.belongings.beside(treatment.levels, lambda: self._looked_after(treatment))

    def looked_on(self, measured: Measurement) -> Measurement:
        """The last trial, where it was short with its neighbours counted after it as well; as it was where they cannot be."""
        target = self._target
        if not isinstance(target, LocalTarget) or measured.wall_s >= WINDOW_S:
            return measured
        return replace(measured, interference=target.looked_on(measured.interference, WINDOW_S))

    def others_between_trials(self, seconds: float) -> dict[str, float] | None:
        """What other processes use while no trial runs [cores], by name; None where they cannot be seen."""
        target = self._target
        return target.others_between_trials(seconds) if isinstance(target, LocalTarget) else None

    def _looked_after(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """A trial; lost where what it runs in is gone or replaced, with what others changed there."""
        target = self._where(treatment)
        look: Callable[[], Seen] = getattr(target, "look", Seen)
        try:
            measured, outcome = self._measure(treatment)
            seen = look()
        except LostError as error:
            self._displace(treatment)
            return not_measured(str(error), "lost"), Outcome()
        if seen.is_other:
            self._displace(treatment)
        if seen.lost:
            measured = replace(measured, status="lost", error=seen.lost)
        return replace(measured, changed=seen.changed), outcome

    def _where(self, treatment: Treatment) -> object:
        """What the trial's program or service runs in."""
        return self._runs_on

    def _displace(self, treatment: Treatment) -> None:
        """What the treatment was prepared in is another one now: the next trial of it prepares it anew."""

    def _measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        self._runs_on.prepare(treatment)
        command = self._workload.prepare_trial(treatment.levels, self._runs_on.scratch)
        with self._profiling.beside(Subject(treatment.levels, self._program)) as profiles:
            measured = self._runs_on.execute(command, self._plan.design.timeout_s)
        ended_well = measured.status == "ok"
        outcome = self._workload.outcome(measured, self._runs_on.scratch) if ended_well else Outcome()
        return measured, with_profiles(outcome, profiles)

    def _program(self) -> int | None:
        """Process id of the program that runs now, None if it is not on this machine or has ended."""
        processes: tuple[int, ...] = getattr(self._runs_on, "processes", tuple)()
        return processes[1] if len(processes) > 1 else None


IDLE = ("asleep_s", "network_wait_s")
"""What the threads of a service do that nobody asks."""


class ServiceMeasuring(Measuring):
    """A plan's client against its service. A context manager: all environments are open inside it."""

    def __init__(self, plan: Plan, logs: Path | None = None, around: Surroundings | None = None) -> None:
        """logs: where the logs of the service are kept. around: what the targets are told."""
        keeps = all(getattr(one.spec, "account", True) for one in plan.targets.values())
        self._client = LocalTarget(LocalSpec(mechanism="unlimited", account=keeps))
        super().__init__(plan, around, self._client)
        self._hosts = {name: cast(Host, make_target(one, around)) for name, one in plan.targets.items()}
        self._services = {name: self._service(name, logs) for name in plan.services}

    def _open(self, stack: ExitStack) -> None:
        super()._open(stack)
        for host in self._hosts.values():
            stack.enter_context(host)
        for service in self._services.values():
            stack.push(partial(self._close, service))

    def _close(self, service: Service, _: Any, error: BaseException | None, __: Any) -> None:
        tell(service.close(), error, self._note)

    def check(self) -> None:
        """Raise StudyError if the study cannot be measured as it is written; nothing is opened."""
        check(self._plan, tuple(self._hosts.values()), self._workload)

    def prepare(self) -> dict[str, Any]:
        """Get everything ready before the first trial; returns the facts for the provenance.

        Raises WorkloadError if a program or an input is missing, StudyError if a service cannot be started there.
        """
        for service in self._services.values():
            service.prepare_sweep()
        prepared = {**self._profiling.prepare(), **self._workload.prepare_sweep(self._client.scratch)}
        planned = self._plan.services
        on = {
            name: self._hosts[one.target].facts() for name, one in planned.items() if one.target is not None
        }
        first: Mapping[str, Any] = next(iter(on.values()), {"target": "url"})
        return {
            **host_facts(),
            **first,
            **prepared,
            **git_facts(self._plan.folder),
            **self.belongings.facts(),
            **(self._client.account.facts() if self._client.account else {}),
            "environments": {
                name: {**on.get(name, {}), **({"url": masked(one.spec.url)} if one.spec.url else {})}
                for name, one in planned.items()
            },
        }

    def _where(self, treatment: Treatment) -> object:
        name = self._plan.services[self._plan.environment_of(treatment)].target
        return None if name is None else self._hosts[name]

    def _displace(self, treatment: Treatment) -> None:
        self._services[self._plan.environment_of(treatment)].displaced()

    def looked_on(self, measured: Measurement) -> Measurement:
        """The last trial as it was: its service may work on after it."""
        return measured

    def _measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """Ask the service once, or as long as the load of a trial lasts; one that does not become ready, or ends meanwhile, is
        a failed trial."""
        service = self._services[self._plan.environment_of(treatment)]
        for other in self._services.values():
            if other is not service:
                other.displaced()
        limits = self._plan.limits_of(treatment)
        try:
            reached = service.ready(treatment)
        except ServiceError as error:
            return not_measured(masked(str(error))), Outcome(_known(limits))
        try:
            values = {**treatment.levels, **placeholders_of(reached)}
            command = self._workload.prepare_trial(values, self._client.scratch)
            watch = service.watch(self._client.account, as_cores(limits.cpu_limit))
            with self._profiling.beside(Subject(values, service.process)) as profiles:
                client = self._client.execute(command, self._plan.design.timeout_s, watch)
            use = watch.use()
            ended_well = client.status == "ok"
            outcome = self._workload.outcome(client, self._client.scratch) if ended_well else Outcome()
            started = {} if service.start_s is None else {"service_start_s": service.start_s}
            asking = {"client_cpu_s": (client.user_s or 0.0) + (client.sys_s or 0.0)}
            responses = {**_known(limits), **asking, **started, **use.responses, **outcome.responses}
            measured = _of_service(client, use, outcome, service.death())
            return measured, with_profiles(replace(outcome, responses=responses), profiles)
        finally:
            service.after_trial()

    def _service(self, environment: str, logs: Path | None) -> Service:
        planned = self._plan.services[environment]
        host = self._hosts[planned.target] if planned.target is not None else None
        own = asdict(planned.limits)
        return Service(planned.spec, host, self._plan.folder, environment, logs, own)


def _known(limits: Limits) -> dict[str, float]:
    """The limits in force as columns; no limit is a missing value."""
    named = {"service_cpu_limit": limits.cpu_limit, "service_memory_limit_bytes": limits.memory_limit}
    return {name: float(limit) for name, limit in named.items() if is_number(limit)}


def _of_service(client: Measurement, use: Use, outcome: Outcome, death: str | None) -> Measurement:
    """The trial: the client's time, and the CPU, memory and throttling of the service it asked."""
    status, error = client.status, client.error
    if death or use.grown.oom_kills:
        status, error = _fallen(use, death, outcome.failure or client.error)
        status = client.status if outcome.death_is_result else status
    return replace(
        client,
        wall_s=outcome.wall_s or client.wall_s,
        user_s=use.user_s,
        sys_s=use.sys_s,
        max_rss_bytes=use.largest_rss_bytes,
        status=status,
        error=masked(error) if error else None,
        counted={**client.counted, **_while_asked(use.account, client.wall_s, outcome.wall_s)},
        **{name: getattr(use.grown, name) for name in THROTTLING},
    )


def _while_asked(account: Mapping[str, float], client_s: float, asked_s: float | None) -> Mapping[str, float]:
    """The account of a service without the time in which its client started and ended, and its threads waited for nobody."""
    if not account or not asked_s:
        return account
    threads_s = account["threads_s"] * min(asked_s / client_s, 1.0)
    idle = sum(account[name] for name in IDLE)
    left = max(threads_s - account["threads_s"] + idle, 0.0) / max(idle, 1e-9)
    kept = {**account, **{name: account[name] * left for name in IDLE}}
    return {**kept, "threads_s": sum(kept.values()) - account["threads_s"]}


def _fallen(use: Use, death: str | None, seen: str | None) -> tuple[Status, str]:
    """Status of a trial whose service was killed or ended, and what the client saw of it."""
    client = f"; the client saw: {seen}" if seen else ""
    if use.grown.oom_kills:
        return "oom_killed", f"a process of the service was killed for want of memory{client}"
    return "failed", f"{death}{client}"
