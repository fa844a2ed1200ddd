"""A resolved study as a plan: what is to be done, worked out once, so that each part of a sweep is
handed its own.

Trials in order, with what, where and under which limits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deadzone import packs
from deadzone.language.messages import _
from deadzone.study import design
from deadzone.study.design import Limits, PlannedTrial, Treatment
from deadzone.study.levels import NONE, Level
from deadzone.study.service_specs import ENVIRONMENT, ServiceSpec, service_in
from deadzone.study.spec import Study
from deadzone.study.target_specs import AnyTarget

MOST_STEPS = 30
"""Trials a search may take: 20 from one request a second to a million by doubling, 6 to halve the
rest to 2 %, and some that repeat a miss."""

SEARCH_TRIALS = 60
"""Trials of a search over several knobs, where the study says no number."""

ALONG_TRIALS = 24
"""Most trials along its live knobs, where the study says no number."""

CHEAP_TRIALS = 2
"""Where times differ by a hundred the cheap levels tell most a second: so many times the trials of
the grid are measured there. More, of programs that end at once, would take longer than the grid,
for what starts a trial is in no trial's time."""

NOWHERE = ""
"""Name of the only environment of a study that lists none."""


@dataclass(frozen=True)
class PlannedTarget:
    """Where trials or services are executed.

    limits: each that will be asked for there, once. io_folder: a folder on the disk that I/O limits
    are for; None where nothing names one. is_asked: whether a service there is asked by a client,
    and nothing is executed.
    """

    spec: AnyTarget
    limits: tuple[Limits, ...]
    io_folder: Path | None = None
    is_asked: bool = False

    def levels(self, limit: str) -> tuple[Level, ...]:
        """Every level of one limit, in the order of the treatments."""
        return tuple(dict.fromkeys(getattr(limits, limit) for limits in self.limits))


@dataclass(frozen=True)
class PlannedService:
    """The service under test in one environment. target: name of what it runs on, None where it is
    only reached."""

    spec: ServiceSpec
    target: str | None
    limits: Limits
    """Those of the environment, for treatments that have none of their own."""


@dataclass(frozen=True)
class Plan:
    """What a sweep of a study does.

    study: what it was made of, with every default written out, for the record. folder: where the
    study file lies; relative paths start there. targets: where, by name. services: those under
    test, by environment; where there are none, the program of a trial is, on the target NOWHERE.
    warning: what a person should know before, often nothing.
    """

    study: Study
    folder: Path
    treatments: tuple[Treatment, ...]
    trials: tuple[PlannedTrial, ...]
    targets: Mapping[str, PlannedTarget]
    services: Mapping[str, PlannedService]
    warning: str

    @property
    def is_adaptive(self) -> bool:
        """Whether trials are chosen as the sweep goes on."""
        return design.is_chosen(self.study, self.treatments)

    @property
    def grid_trials(self) -> int:
        """So many trials the whole grid has beside the warm-up, or a search over its treatments; a
        search of the rate takes more than one."""
        if self.study.design.kind == "search":
            trials, along = self.study.design.trials, self.study.design.along
            return (trials or SEARCH_TRIALS) + (ALONG_TRIALS if along is None else along)
        steps = MOST_STEPS if self.study.search else 1
        return self.study.design.replicates * len(self.treatments) * steps

    @property
    def most_trials(self) -> int:
        """So many trials are measured at most where they are chosen, in no more time than the grid
        takes."""
        return self.grid_trials * (1 if self.study.is_search else CHEAP_TRIALS)

    @property
    def ends(self) -> tuple[Treatment, ...]:
        """The treatments at both ends of the range."""
        ends = design.ends_of(self.treatments)
        return tuple(design.first_tried(self.study, self.treatments[i]) for i in ends)

    @property
    def is_rehearsed(self) -> bool:
        """Whether there is a rehearsal: both ends come before the last trial, which is not known
        where trials are chosen."""
        before_last = {trial.treatment.label() for trial in self.trials[:-1]}
        are_before = before_last.issuperset(end.label() for end in self.ends)
        return bool(self.study.design.rehearsal) and (self.is_adaptive or are_before)

    def limits_of(self, treatment: Treatment) -> Limits:
        """The limits in force in a trial of the treatment."""
        return design.limits_of(self.study, treatment.levels)

    def environment_of(self, treatment: Treatment) -> str:
        """Name of the environment that a trial of the treatment is in."""
        return _environment_of(self.study, treatment)


def plan_of(study: Study, folder: Path = Path()) -> Plan:
    """The plan of a resolved study whose file lies in the folder.

    Raises StudyError if its treatments do not hang together, or make more trials than make sense.
    """
    planned = design.treatments(study)
    services = _services(study) if study.has_service else {}
    return Plan(
        study=study,
        folder=folder,
        treatments=planned,
        trials=design.run_order(study, planned),
        targets=_targets(study, folder, planned, services),
        services=services,
        warning=" ".join(filter(None, _warnings(study, planned))),
    )


def _warnings(study: Study, planned: Sequence[Treatment]) -> Iterator[str]:
    """What to know of the workload, as the pack that brings it says, and of a sweep that is to be
    adaptive and cannot be."""
    if warning := packs.kind_of("workloads", study.workload.kind).warning:
        yield str(packs.load(warning)(study, planned))
    problem = design.why_no_choice(study, planned) if study.design.kind == "adaptive" else None
    if problem:
        yield _("{problem} All levels are measured instead.", problem=problem)


def _services(study: Study) -> dict[str, PlannedService]:
    """The service in every environment. Environments of a cluster that differ in their limits alone
    share the target: it is one workload, whose limit is changed to and fro."""
    services = {}
    for name in tuple(study.environments) or (NOWHERE,):
        environment = study.environment_of(name)
        spec, target = service_in(study.service, environment), study.target_in(environment)
        shared = (
            repr(target.model_copy(update=dict.fromkeys(target.shares_limits, NONE)))
            if target.shares_limits
            else name
        )
        is_reached = spec.url is not None and (environment is None or environment.target is None)
        limits = design.limits_of(study, {ENVIRONMENT: name})
        services[name] = PlannedService(spec, None if is_reached else shared, limits)
    return services


def _environment_of(study: Study, treatment: Treatment) -> str:
    return str(treatment.levels.get(ENVIRONMENT, NOWHERE)) if study.environments else NOWHERE


def _targets(
    study: Study, folder: Path, planned: Sequence[Treatment], services: Mapping[str, PlannedService]
) -> dict[str, PlannedTarget]:
    """Every target once, with the limits that will be asked for there."""
    environments: dict[str, list[str]] = {} if services else {NOWHERE: [NOWHERE]}
    for name, service in services.items():
        if service.target is not None:
            environments.setdefault(service.target, []).append(name)
    targets = {}
    for target, names in environments.items():
        spec = study.target_in(study.environment_of(names[0]))
        limits = dict.fromkeys(
            design.limits_of(study, treatment.levels)
            for treatment in planned
            if _environment_of(study, treatment) in names
        )
        named = getattr(spec, "io_folder", None) or study.workload.disk_folder
        io_folder = None if named is None else (folder / named).absolute()
        targets[target] = PlannedTarget(spec, tuple(limits), io_folder, bool(services))
    return targets
