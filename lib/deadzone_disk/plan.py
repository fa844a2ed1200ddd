"""What a disk study will write, counted before it is run: its settings trial by trial, and its
bound on bytes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deadzone.plugins import Level, Plan, Study, StudyError, Treatment, format_level, refused
from deadzone.study.design import treatments
from deadzone.study.factors import LevelsFactorSpec
from deadzone.study.quantity import as_size, size_text
from deadzone_disk.specs import SETTINGS, DiskSettings, DiskWorkloadSpec

BLOCK_SIZE = "block_size"


@dataclass(frozen=True)
class WriteBudget:
    """What a run may write.

    attempts: at trials that write, the most there can be. trial_bytes: the most each writes
    [bytes]. filled_bytes: written once before the trials, so that there is something to read and to
    overwrite [bytes]. bound: that the study sets [bytes].
    """

    attempts: int
    trial_bytes: int
    filled_bytes: int
    bound: int

    @property
    def most(self) -> int:
        """The most the run writes [bytes]."""
        return self.filled_bytes + self.attempts * self.trial_bytes


def settings_of(workload: DiskWorkloadSpec, levels: Mapping[str, Level]) -> DiskSettings:
    """What a trial does: the workload's settings with the levels of its treatment in their place.

    Raises StudyError, with the name of the factor, for a level that makes no sense.
    """
    own: dict[str, Any] = {name: levels.get(name, getattr(workload, name)) for name in SETTINGS}
    try:
        return DiskSettings.model_validate(own)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        reason = problem["msg"].removeprefix("Value error, ")
        reason = reason[0].lower() + reason[1:]
        where = f"factors.{name}" if name in levels else f"workload.{name}"
        raise StudyError(
            f"{where}: {format_level(own[name])!r} cannot be used: {reason}."
        ) from error


def writes(settings: DiskSettings) -> bool:
    """Whether a trial writes anything."""
    return settings.operation != "read"


def is_fresh(settings: DiskSettings) -> bool:
    """Whether a trial writes to files that were allocated for it and hold no data yet."""
    return settings.operation == "first_write"


def most_jobs(trials: Iterable[DiskSettings], fresh: bool) -> int:
    """Most jobs at once, each on a file of its own, of trials that want fresh files or filled
    ones."""
    return max((trial.jobs for trial in trials if is_fresh(trial) == fresh), default=0)


def budget_of(
    study: Study, workload: DiskWorkloadSpec, planned: Sequence[Treatment]
) -> WriteBudget:
    """What a run of a disk study with these treatments may write.

    Raises StudyError if the bound leaves no trial a single block, or the trials would write more
    than the bound.
    """
    trials = [settings_of(workload, treatment.levels) for treatment in planned]
    filled = most_jobs(trials, fresh=False) * workload.file_size
    writing = [trial for trial in trials if writes(trial)]
    design, plan = study.design, Plan(study, Path(), tuple(planned), (), {}, {}, "")
    count = len(writing) * (design.replicates + design.warmup)
    if writing and plan.is_adaptive:  # each may be at a level that writes
        count = plan.most_trials + design.warmup
    count *= study.trust.max_attempts
    bound = workload.max_written_bytes
    each = workload.trial_bytes or max(0, bound - filled) // max(1, count)
    budget = WriteBudget(count, each if count else 0, filled, bound)
    if budget.most > bound:
        raise StudyError(
            f"workload.max_written_bytes is {size_text(bound)}, and this study may write "
            f"{size_text(budget.most)}: {count:,} attempts at trials of {size_text(each)}, and "
            f"{size_text(filled)} to fill the files. Raise the bound, or lower "
            "workload.file_size, workload.trial_bytes, the replicates or trust.max_attempts."
        )
    largest = max((trial.block_size * trial.jobs for trial in writing), default=0)
    if count and each < largest:
        if workload.trial_bytes:
            raise StudyError(
                f"workload.trial_bytes is {size_text(each)}, less than one block of "
                f"{size_text(largest)}. Raise it, or use smaller blocks."
            )
        raise StudyError(
            f"workload.max_written_bytes is {size_text(bound)}, which leaves each of {count:,} "
            f"attempts at a trial that writes {size_text(each)}: less than one block of "
            f"{size_text(largest)}. Raise the bound, or use smaller blocks, fewer levels or fewer "
            "replicates."
        )
    return budget


def check_blocks(workload: DiskWorkloadSpec, treatments: Sequence[Treatment]) -> None:
    """Raise StudyError for settings that cannot be measured, whatever the disk."""
    for treatment in treatments:
        settings = settings_of(workload, treatment.levels)
        if settings.block_size > workload.file_size:
            raise StudyError(
                f"workload.file_size is {size_text(workload.file_size)}, smaller than a block of "
                f"{size_text(settings.block_size)}; make the file larger, best many times a block."
            )
        if settings.engine == "dd":
            raise StudyError(
                "workload.engine is dd, which Deadzone no longer runs: builtin makes one call "
                "after the other too. A workload of kind command runs dd itself."
            )


def resolved_disk(study: Study) -> Study:
    """A resolved study of a disk with the sizes of its blocks as numbers and the bytes of a trial
    written out, checked.

    Raises StudyError if the study cannot be measured as it is
    written.
    """
    workload = study.workload
    assert isinstance(workload, DiskWorkloadSpec)
    study = _with_numbers(study)
    planned = treatments(study)
    check_blocks(workload, planned)
    budget = budget_of(study, workload, planned)
    if not budget.attempts:
        return study
    workload = workload.model_copy(update={"trial_bytes": budget.trial_bytes})
    return study.model_copy(update={"workload": workload})


def warning_of(study: Study, planned: Sequence[Treatment]) -> str:
    """What a person should know before a resolved study of a disk is run."""
    workload = study.workload
    assert isinstance(workload, DiskWorkloadSpec)
    budget = budget_of(study, workload, planned)
    return (
        f"{study.study} writes at most {size_text(budget.most)} to {workload.folder}, "
        f"{size_text(budget.trial_bytes)} a trial that writes (bound: {size_text(budget.bound)}), "
        "and removes it."
    )


def _with_numbers(study: Study) -> Study:
    """Block sizes written like 64KiB as numbers of bytes, in factors and in listed treatments."""
    factors, design = dict(study.factors), study.design
    if isinstance(factor := factors.get(BLOCK_SIZE), LevelsFactorSpec):
        levels = tuple(
            _sized(f"factors.{BLOCK_SIZE}[{i}]", level) for i, level in enumerate(factor.levels)
        )
        factors[BLOCK_SIZE] = factor.model_copy(update={"levels": levels})
    if design.treatments:
        listed = tuple(
            {**one, BLOCK_SIZE: _sized(f"design.treatments[{i}].{BLOCK_SIZE}", one[BLOCK_SIZE])}
            if BLOCK_SIZE in one
            else one
            for i, one in enumerate(design.treatments)
        )
        design = design.model_copy(update={"treatments": listed})
    return study.model_copy(update={"factors": factors, "design": design})


def _sized(path: str, level: Level) -> Level:
    with refused(f"{path} "):
        return as_size(level)
