"""Measuring a service: it is started in its environment, asked by a client outside, watched, and
stopped."""

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from deadzone.plugins import (
    Limits,
    Measurement,
    Outcome,
    Plan,
    Surroundings,
    Treatment,
    is_number,
    masked,
    not_measured,
)
from deadzone.run.sweep.checks import check
from deadzone.run.sweep.kinds import make_target
from deadzone.run.sweep.measuring import Measuring
from deadzone.run.targets.limits.base import THROTTLING, as_cores
from deadzone.run.targets.local import LocalTarget
from deadzone.run.targets.undo_log import tell
from deadzone.run.workloads.base import program_files, with_profiles
from deadzone.store.provenance import IDENTITY
from deadzone.study.service_specs import PYTHON
from deadzone.study.target_specs import LocalTargetSpec
from deadzone_services.base import SERVICE_RESPONSES, Host, ServiceError, Use, placeholders_of
from deadzone_services.service import Service
from deadzone_services.settings import account_of

IDLE = ("asleep_s", "network_wait_s", "timer_wait_s")
"""What the threads of an idle service do."""


class ServiceMeasuring(Measuring):
    """A plan's client against its service. A context manager: all environments are open inside
    it."""

    def __init__(
        self, plan: Plan, logs: Path | None = None, around: Surroundings | None = None
    ) -> None:
        """logs: where the logs of the service are kept. around: what the targets are told."""
        keeps = all(getattr(target.spec, "account", True) for target in plan.targets.values())
        spec = LocalTargetSpec(mechanism="unlimited", account=keeps)
        self._client = LocalTarget(spec, note=(around or Surroundings()).note)
        super().__init__(plan, around, self._client)
        self._hosts = {
            name: cast(Host, make_target(target, around)) for name, target in plan.targets.items()
        }
        self._services = {
            name: Service(
                planned.spec,
                None if planned.target is None else self._hosts[planned.target],
                plan.folder,
                name,
                logs,
                asdict(planned.limits),
            )
            for name, planned in plan.services.items()
        }

    def _open(self, stack: ExitStack) -> None:
        super()._open(stack)
        for host in self._hosts.values():
            stack.enter_context(host)
        for service in self._services.values():
            stack.push(partial(self._close, service))

    def _close(self, service: Service, _: Any, error: BaseException | None, __: Any) -> None:
        tell(service.close(), error, self._note)
        if sentence := service.end_left():
            self._note(sentence)

    def check(self) -> None:
        """Raise StudyError if the study cannot be measured as it is written; nothing is opened."""
        hosts = tuple(self._hosts.values())
        check(self._plan, hosts, self._workload, self._profiling, SERVICE_RESPONSES)
        for planned in self._plan.services.values():
            if planned.spec.user:
                account_of(planned.spec.user)

    def prepare(self) -> dict[str, Any]:
        """Get everything ready before the first trial; returns the facts for the provenance.

        Raises WorkloadError if a program or an input is missing, StudyError if a service cannot be
        started there.
        """
        for service in self._services.values():
            service.prepare_sweep()
        return super().prepare()

    def _facts(self) -> dict[str, Any]:
        planned = self._plan.services
        on: dict[str, Mapping[str, Any]] = {
            name: self._hosts[service.target].facts() if service.target is not None else {}
            for name, service in planned.items()
        }
        urls = {
            name: {"url": masked(service.spec.url)} if service.spec.url else {}
            for name, service in planned.items()
        }
        return {
            **next(filter(None, on.values()), {"target": "url"}),
            **(self._client.account.facts() if self._client.account else {}),
            "environments": {name: {**on[name], **url} for name, url in urls.items()},
        }

    def _identity(self) -> dict[str, Any]:
        """That of the client, of what each service runs in, and of its program where that is
        here."""
        known: dict[str, str] = super()._identity()[IDENTITY]
        values = [
            {**treatment.levels, PYTHON: sys.executable} for treatment in self._plan.treatments
        ]
        for name, planned in self._plan.services.items():
            host = self._hosts[planned.target] if planned.target is not None else None
            cwd = self._plan.folder / (planned.spec.cwd or "")
            is_here = isinstance(host, LocalTarget)
            programs = program_files([planned.spec.argv], cwd, values) if is_here else {}
            own = {**(host.identity() if host else {}), **programs}
            known |= {f"{name} {key}".strip(): text for key, text in own.items()}
        return {IDENTITY: known}

    def _where(self, treatment: Treatment) -> Host | None:
        name = self._plan.services[self._plan.environment_of(treatment)].target
        return None if name is None else self._hosts[name]

    def _displace(self, treatment: Treatment) -> None:
        self._services[self._plan.environment_of(treatment)].displaced()

    def _measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """Ask the service once, or as long as the load of a trial lasts; one that does not become
        ready, or ends meanwhile, is a failed trial."""
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
            self.coresident_processes.ready(treatment.levels, self.starts)
            watch = service.watch(self._client.account, as_cores(limits.cpu_limit))
            with self._profiling.capture(values, service.process) as profiles:
                client = self._client.execute(command, self._plan.study.design.timeout_s, watch)
            use, outcome = watch.use(), Outcome()
            if client.status == "ok":
                outcome = self._workload.outcome(client, self._client.scratch)
            responses = {
                **_known(limits),
                "client_cpu_s": (client.user_s or 0.0) + (client.sys_s or 0.0),
                **({} if service.start_s is None else {"service_start_s": service.start_s}),
                **use.responses,
                **outcome.responses,
            }
            measured = _of_service(client, use, outcome, service.death())
            return measured, with_profiles(replace(outcome, responses=responses), profiles)
        finally:
            service.after_trial()


def _known(limits: Limits) -> dict[str, float]:
    """The limits in force as columns; no limit is a missing value."""
    named = {
        "service_cpu_limit": limits.cpu_limit,
        "service_memory_limit_bytes": limits.memory_limit,
    }
    return {name: float(limit) for name, limit in named.items() if is_number(limit)}


def _of_service(client: Measurement, use: Use, outcome: Outcome, death: str | None) -> Measurement:
    """The trial: the client's time, and the CPU, memory and throttling of the service it asked."""
    status, error, killed = client.status, client.error, use.grown.oom_kills
    if death or killed:
        ended = "a process of the service was killed: out of memory" if killed else death
        seen = outcome.failure or client.error
        error = f"{ended}; the client saw: {seen}" if seen else ended
        if not outcome.death_is_result:
            status = "oom_killed" if killed else "failed"
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


def _while_asked(
    account: Mapping[str, float], client_s: float, asked_s: float | None
) -> Mapping[str, float]:
    """The account of a service without the time in which its client started and ended, and its
    threads waited for no other process."""
    if not account or not asked_s:
        return account
    threads_s = account["threads_s"] * min(asked_s / client_s, 1.0)
    idle = sum(account[name] for name in IDLE)
    left = max(threads_s - account["threads_s"] + idle, 0.0) / max(idle, 1e-9)
    kept = {**account, **{name: account[name] * left for name in IDLE}}
    return {**kept, "threads_s": sum(kept.values()) - account["threads_s"]}
