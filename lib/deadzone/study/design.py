"""The design of a study: its treatments, the limits in force in each, the order in which their
trials are run, and what it promises: its claims, and its objectives as the claim that one setting
at least meets them all.

Trials run in randomised complete blocks (Box, Hunter and Hunter 2005, ch. 4): each block passes
once over all treatments in an order of its own, so that drift of the machine falls on all alike.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from deadzone import packs
from deadzone.errors import StudyError, refused
from deadzone.language.messages import Message, _
from deadzone.study.claims import ClaimSpec
from deadzone.study.factors import (
    HOST_CORES,
    EqualFactorSpec,
    Factor,
    FactorSpec,
    LevelsFactorSpec,
    limit_named,
    sized_level,
)
from deadzone.study.levels import AUTO, NONE, Level, format_level, is_number
from deadzone.study.scales import nothing_to_choose, scale_of
from deadzone.study.service_specs import ENVIRONMENT
from deadzone.study.spec import Study
from deadzone.study.target_spec import POD_LIMITS, UNCHANGED

MOST_TRIALS = 100_000
"""A plan longer than this is a slip of a range, not an experiment for one machine."""

WARMUP_BLOCK = 0
"""Block number of warm-up trials; measured blocks count from 1."""

OBJECTIVES = "objectives"
"""Name of the claim that a study's objectives make."""

SAYS: Any = {
    "en": "One setting at least meets all objectives.",
    "ko": "설정 하나 이상이 모든 목표를 충족합니다.",
}

KNOWN_LEVELS = {
    "memory_limit": "a memory limit is a size such as 64MiB, or none",
    "io_bandwidth_limit": "an I/O limit is a number of bytes a second, 1 or more, or none",
    "iops_limit": "an I/O limit is a number of calls a second, 1 or more, or none",
    "cpu_limit": "a CPU limit is a positive number of cores, or none",
    "cpu_request": "a CPU request is a positive number of cores",
    "memory_request": "a memory request is a size such as 64MiB",
    "threads": "a number of threads is whole, 0 or more, or auto",
}
"""What a level of a factor that Deadzone knows is, for whoever wrote another one."""

RATE = "rate"
"""The load: the factor, and the field of a load test, that says how much is sent each second."""


@dataclass(frozen=True)
class Treatment:
    """One combination of levels, one level for each factor."""

    levels: Mapping[str, Level]

    def label(self) -> str:
        """The combination in a line: cpu_limit=0.5 threads=2."""
        return " ".join(f"{name}={format_level(level)}" for name, level in self.levels.items())


@dataclass(frozen=True)
class NextTreatments:
    """What a proposer answers, of whole treatments; none where the sweep may stop. Fields are those
    of `deadzone.analysis.adaptive.proposing.Proposal`."""

    treatments: tuple[Treatment, ...]
    reason: Message
    gain: tuple[float, ...]
    open: tuple[Message, ...]
    stage: str = ""
    """of a search over several knobs: screen, search, confirm or along"""


@dataclass(frozen=True)
class Limits:
    """The limits in force in a trial, and the requests of a pod, by the names of their factors:
    each a number, `none` or `unchanged`."""

    cpu_limit: Level = NONE
    memory_limit: Level = NONE
    cpu_request: Level = NONE
    memory_request: Level = NONE
    io_bandwidth_limit: Level = NONE
    iops_limit: Level = NONE


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One place in the run order: trial is its number from 1, block and replicate where it
    belongs, stage that of a search over several knobs."""

    trial: int
    block: int
    replicate: int
    warmup: bool
    treatment: Treatment
    stage: str = ""


def resolve(study: Study, host_cores: int) -> Study:
    """The study with every range and multiplier written out for a host with so many cores.

    Raises StudyError if a level makes no sense for a factor Deadzone knows, or counts cores of
    another machine.
    """
    factors = {
        name: _written_out(study, name, factor, host_cores)
        for name, factor in study.factors.items()
    }
    listed = study.design.treatments and tuple(
        {name: sized_level(name, level) for name, level in one.items()}
        for one in study.design.treatments
    )
    design = study.design.model_copy(update={"treatments": listed})
    resolved = study.model_copy(
        update={"factors": factors, "knob": study.knob_name, "design": design}
    )
    for i, treatment in enumerate(listed or ()):
        for name, level in treatment.items():
            _check(name, level, f"design.treatments[{i}].{name}")
    targets = {"target": resolved.target} | {
        f"environments.{name}.target": environment.target
        for name, environment in resolved.environments.items()
        if environment.target
    }
    for (path, target), limit in itertools.product(targets.items(), POD_LIMITS):
        if (level := getattr(target, limit, UNCHANGED)) != UNCHANGED:
            _check(limit, level, f"{path}.{limit}")
    return resolved


def levels_of(study: Study) -> dict[str, tuple[Level, ...]]:
    """The levels of every factor of a resolved study, each once, in the order of its treatments; of
    a search, which begins at its baseline, in the order of the study."""
    made, of = treatments(study), {}
    for name in study.factor_names():
        of[name] = tuple(dict.fromkeys(treatment.levels[name] for treatment in made))
        factor = study.factors.get(name)
        if isinstance(factor, EqualFactorSpec):
            factor = study.factors[factor.equals]
        if study.design.kind == "search" and isinstance(factor, LevelsFactorSpec):
            of[name] = tuple(sorted(of[name], key=factor.levels.index))
    return of


def _written_out(study: Study, name: str, factor: Factor, host_cores: int) -> Factor:
    if isinstance(factor, EqualFactorSpec):
        return factor
    if not study.target.limits_here and factor.times == HOST_CORES:
        raise StudyError(
            f"factors.{name}.times: {HOST_CORES} counts the cores of this machine, but trials run "
            "on a node of the cluster: write the number of its cores."
        )
    levels = tuple(sized_level(name, level) for level in factor.resolve(host_cores))
    if study.design.kind != "paired":  # there a level may stand in several pairs
        levels = tuple(dict.fromkeys(levels))
    for i, level in enumerate(levels):
        _check(name, level, f"factors.{name}[{i}]")
    with refused(f"factors.{name} "):
        scale_of(levels, factor.scale, factor.at)
    return LevelsFactorSpec(
        levels=levels,
        unit=study.unit_of(name),
        scale=factor.scale,
        at=factor.at,
        role=factor.role,
    )


def _check(factor: str, level: Level, path: str) -> None:
    """Raise StudyError for a level that makes no sense for a factor whose meaning Deadzone knows.

    A request of a pod is a limit that is never none; many programs choose themselves at 0 threads.
    """
    known = limit_named(factor)
    number = float(level) if is_number(level) else -1.0
    if known == "threads":
        fine = level in (NONE, AUTO) or (number >= 0 and number.is_integer())
    else:
        may_be_none = level == NONE and not known.endswith("_request")
        fine = may_be_none or (number > 0 if known.startswith("cpu_") else number >= 1)
    if known in KNOWN_LEVELS and not fine:
        raise StudyError(f"{path} is {format_level(level)!r}; {KNOWN_LEVELS[known]}.")


def treatments(study: Study) -> tuple[Treatment, ...]:
    """The distinct treatments of a resolved study, in the order of its levels; of a search those
    that it chooses among, the baseline first.

    Raises StudyError if they are too many, the factors of a paired design differ in length, or a
    listed treatment lacks a factor.
    """
    if study.design.kind == "list":
        combinations = _listed(study)
    elif study.design.kind == "search":
        cells = packs.part(lambda pack: pack.search_cells)(study)
        combinations = (with_equals(study, cell) for cell in cells)
    else:
        varied = {
            name: f.levels for name, f in study.factors.items() if isinstance(f, LevelsFactorSpec)
        }
        if study.design.kind == "factorial":
            _check_size(study, math.prod(len(levels) for levels in varied.values()))
        made = (
            _paired(varied)
            if study.design.kind == "paired"
            else itertools.product(*varied.values())
        )
        combinations = (with_equals(study, dict(zip(varied, one, strict=True))) for one in made)
    return tuple({treatment.label(): treatment for treatment in combinations}.values())


def _check_size(study: Study, n_treatments: int) -> None:
    """Raise StudyError if so many treatments make more trials than make sense."""
    passes = study.design.warmup + study.design.replicates
    if n_treatments * passes > MOST_TRIALS:
        raise StudyError(
            f"{study.study}: {n_treatments:,} treatments x {passes:,} passes are "
            f"{n_treatments * passes:,} trials; at most {MOST_TRIALS:,} make sense. Use fewer "
            "levels or replicates."
        )


def _listed(study: Study) -> Iterator[Treatment]:
    names = study.factor_names()
    for i, levels in enumerate(study.design.treatments or ()):
        if missing := [name for name in names if name not in levels]:
            raise StudyError(
                f"design.treatments[{i}] has no level of {missing[0]}; each treatment needs one."
            )
        yield Treatment({name: levels[name] for name in names})


def _paired(varied: Mapping[str, tuple[Level, ...]]) -> Iterator[tuple[Level, ...]]:
    if len({len(levels) for levels in varied.values()}) > 1:
        listing = ", ".join(f"{name} has {len(levels)}" for name, levels in varied.items())
        raise StudyError(
            f"design.kind is paired, but the factors differ in length: {listing}. Give each as "
            "many levels."
        )
    return zip(*varied.values(), strict=True)


def with_equals(study: Study, levels: Mapping[str, Level]) -> Treatment:
    """The treatment with these levels of its factors, those that equal another filled in."""
    complete = {}
    for name, factor in study.factors.items():
        complete[name] = levels[factor.equals if isinstance(factor, EqualFactorSpec) else name]
        if isinstance(factor, EqualFactorSpec):
            _check(name, complete[name], f"factors.{name} (equal to {factor.equals})")
    return Treatment(complete)


def limits_of(study: Study, levels: Mapping[str, Level]) -> Limits:
    """The limits of a treatment: its own levels, or those of its environment's target where a limit
    is no factor."""
    target = study.target_in(study.environment_of(levels.get(ENVIRONMENT)))
    return Limits(
        *(levels.get(field.name, getattr(target, field.name, NONE)) for field in fields(Limits))
    )


def why_no_choice(study: Study, combinations: Sequence[Treatment]) -> Message | None:
    """Why a sweep of these treatments cannot be adaptive and is a grid; None where it can."""
    knob = study.knob_name
    written = study.factors.get(knob) or FactorSpec()
    levels = [combination.levels[knob] for combination in combinations]
    scale = scale_of(levels, written.scale, written.at)
    if (why := nothing_to_choose(knob, scale)) or not scale.apart:
        return why
    return _(
        "{knob} has levels that stand apart ({levels}); an adaptive sweep would leave them out.",
        knob=knob,
        levels=", ".join(scale.apart),
    )


def ends_of(combinations: Sequence[Treatment]) -> tuple[int, ...]:
    """Which treatments are the ends of the range: all factors at their lowest, and at their
    highest, where words such as `none` come last."""

    def rank(i: int) -> list[tuple[bool, float]]:
        levels = combinations[i].levels.values()
        return [(False, float(level)) if is_number(level) else (True, 0.0) for level in levels]

    ranked = sorted(range(len(combinations)), key=rank)
    return tuple(dict.fromkeys((ranked[0], ranked[-1])))


def first_tried(study: Study, treatment: Treatment) -> Treatment:
    """A treatment as it is tried first: at the rate that a search begins with."""
    search = study.search
    return Treatment({**treatment.levels, "rate": search.start}) if search else treatment


def is_chosen(study: Study, combinations: Sequence[Treatment]) -> bool:
    """Whether the trials of these treatments are chosen as the sweep goes on."""
    is_adaptive = study.design.kind == "adaptive"
    return study.is_search or (is_adaptive and why_no_choice(study, combinations) is None)


def run_order(study: Study, combinations: Sequence[Treatment]) -> tuple[PlannedTrial, ...]:
    """Every trial of a resolved study with these treatments: warm-up first, which rehearses with
    both ends of the range, then randomised blocks. Where trials are chosen the warm-up alone, of
    the last treatment, or of a search its baseline: the others are chosen when there is something
    to choose by.

    The order depends on the seed and the treatments alone, so a resumed run continues the same
    plan.

    Raises StudyError if the trials are more than make sense.
    """
    design = study.design
    if is_chosen(study, combinations):
        last = first_tried(study, combinations[0 if design.kind == "search" else -1])
        numbers = range(1, design.warmup + 1)
        return tuple(PlannedTrial(i, WARMUP_BLOCK, i, True, last) for i in numbers)
    _check_size(study, len(combinations))
    rng = np.random.default_rng(design.seed)
    passes = [
        *((WARMUP_BLOCK, i, True) for i in range(1, design.warmup + 1)),
        *((i, i, False) for i in range(1, design.replicates + 1)),
    ]
    shuffled = [[int(i) for i in rng.permutation(len(combinations))] for _ in passes]
    if design.rehearsal and design.warmup:
        shuffled[0] = list(dict.fromkeys((*ends_of(combinations), *shuffled[0])))
    order = [
        (*where, combinations[i])
        for where, block in zip(passes, shuffled, strict=True)
        for i in block
    ]
    return tuple(PlannedTrial(number, *place) for number, place in enumerate(order, 1))


def refuse_unanswerable(study: Study, treatments: Sequence[Treatment]) -> None:
    """Refuse to analyse what is only to be measured, such as one side of a later comparison. Raises
    StudyError."""
    # Notebooks of other questions say themselves what they need.
    if study.analysis_notebook == "phases" and len(treatments) < 2:
        raise StudyError(
            f"{study.study}: there is one treatment, {treatments[0].label()}, and nothing to "
            "compare it with. Give a factor a second level, or measure it with deadzone sweep."
        )


def claims_of_study(study: Study) -> tuple[ClaimSpec, ...]:
    """Every claim of a resolved study, then that of its objectives; where the rate is searched by
    them, objectives claim nothing."""
    loads = (*study.factor_names(), RATE)
    bounds = {name: bound for name, bound in study.objectives.items() if name not in loads}
    if not bounds or study.search or any(claim.name == OBJECTIVES for claim in study.claims):
        return study.claims
    own = ClaimSpec(says=SAYS, name=OBJECTIVES, holds=bounds, given=_load(study))
    return (*study.claims, own)


def _load(study: Study) -> dict[str, Level]:
    """The load to be borne, of the rate and of each other factor that has an objective."""
    least = {name: objective.value for name, objective in study.objectives.items()}
    numbers = {
        name: sorted(float(level) for level in levels if is_number(level))
        for name, levels in levels_of(study).items()
        if name != study.knob_name and name in (RATE, *least)
    }
    return {name: judged_level(known, least.get(name)) for name, known in numbers.items() if known}


def judged_level(levels: Sequence[float], least: float | None) -> float:
    """The level of a load by which a study is judged: the lowest that is enough, the highest where
    none is or none is asked for.

    levels: rising, at least one.
    """
    return next((level for level in levels if least is not None and level >= least), levels[-1])
