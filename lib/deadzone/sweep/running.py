"""The sweep: executes every trial of a study that its run does not hold yet."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.errors import StoreError, StudyError, SweepError
from deadzone.measurement import Measurement
from deadzone.provenance import git_facts, host_facts, usable_cores
from deadzone.store.run import Run
from deadzone.study.design import PlannedTrial, Treatment, plan, resolve, treatments
from deadzone.study.levels import Level
from deadzone.study.loading import load_study
from deadzone.study.spec import Study
from deadzone.sweep.checks import check
from deadzone.sweep.estimate import Estimate, expected_s, in_words
from deadzone.sweep.progress import Progress, SilentProgress
from deadzone.targets.base import Target
from deadzone.targets.registry import make_target
from deadzone.trust import doubts
from deadzone.workloads.base import Outcome, Workload
from deadzone.workloads.registry import make_workload

FAILURES_IN_A_ROW = 3
"""After so many failed trials one after the other the next ones would fail too."""

SHOWN_OUTPUT = 1_000
"""How much of a failing program's output is shown [characters]."""


def resolved_study(path: Path, overrides: Mapping[str, Any] | None = None) -> Study:
    """A study file as it will be run on this machine, checked, with every level written out.

    Raises StudyError, with the file's name in it.
    """
    study = load_study(path, overrides)
    try:
        study = resolve(study, usable_cores())
        plan(study)
        check(
            study, make_target(study.target, _cpu_limits(study)), make_workload(study.workload, path.parent)
        )
    except StudyError as error:
        raise StudyError(f"{path}: {error}" if str(path) not in str(error) else str(error)) from error
    return study


def run_sweep(study: Study, run: Run, folder: Path, progress: Progress | None = None) -> Run:
    """Execute every trial of a resolved study that the run does not hold yet.

    folder: where the study file lies; relative paths in it start there.

    Raises SweepError when trials keep failing, StoreError when nothing can be recorded any more, TargetError or
    WorkloadError when measuring cannot start. Whatever was measured is in the run's journal and tables; a run
    that ends before its first trial leaves no folder.
    """
    progress = progress or SilentProgress()
    workload = make_workload(study.workload, folder)
    target = make_target(study.target, _cpu_limits(study))
    with run.lock():
        run.check_same_study(study)
        planned = plan(study)
        remaining = _remaining(planned, run.finished())
        try:
            if remaining:
                with target:
                    run.write_provenance(_facts(target, workload, folder))
                    _measure_all(study, run, remaining, len(planned), target, workload, progress)
            run.write_tables()
        except BaseException:
            progress.close(_keep(run, len(planned)))
            raise
        progress.close(f"Run {run.run_id}: {len(planned)} trials, recorded in {run.folder}")
    return run


def _keep(run: Run, n_planned: int) -> str:
    """After a sweep that was stopped: keep what there is, and say how to go on."""
    try:
        if not run.journal_file.exists():
            run.discard()
            return "Nothing was measured."
        done = len(run.finished())
        run.write_tables()
    except StoreError as error:
        return f"The tables of run {run.run_id} were not written, its journal is kept: {error}"
    return f"{done} of {n_planned} trials are kept in {run.folder}; go on with --resume {run.run_id}"


def _cpu_limits(study: Study) -> tuple[Any, ...]:
    """The CPU limits the target will be asked for."""
    return tuple(dict.fromkeys(cpu_limit(study, treatment) for treatment in treatments(study)))


def cpu_limit(study: Study, treatment: Treatment) -> Level:
    """The CPU limit of a treatment: its own level, or the target's where the limit is no factor."""
    return treatment.levels.get("cpu_limit", study.target.cpu_limit)


def _remaining(planned: Sequence[PlannedTrial], finished: set[int]) -> list[PlannedTrial]:
    return [trial for trial in planned if trial.trial not in finished]


def _facts(target: Target, workload: Workload, folder: Path) -> dict[str, Any]:
    prepared = workload.prepare_sweep(target.scratch)
    return {**host_facts(), **target.facts(), **prepared, **git_facts(folder)}


def _measure_all(
    study: Study,
    run: Run,
    remaining: Sequence[PlannedTrial],
    total: int,
    target: Target,
    workload: Workload,
    progress: Progress,
) -> None:
    estimate = Estimate(remaining, study.design.cooldown_s)
    attempts: dict[int, int] = {}
    for record in run.records():
        estimate.add(record)
        attempts[record["trial"]] = record["attempt"]
    failures = 0
    for position, trial in enumerate(remaining):
        if position:
            time.sleep(study.design.cooldown_s)
        done = total - len(remaining) + position
        progress.show(done, total, trial.treatment.label(), estimate.left_s())
        first = attempts.get(trial.trial, 0) + 1
        last = _measure_until_trusted(study, run, trial, first, target, workload, progress)
        estimate.add(last)
        estimate.finish(trial)
        failures = 0 if last["status"] == "ok" else failures + 1
        if failures >= FAILURES_IN_A_ROW:
            raise SweepError(_failing(last, failures))


def _measure_until_trusted(
    study: Study,
    run: Run,
    trial: PlannedTrial,
    first: int,
    target: Target,
    workload: Workload,
    progress: Progress,
) -> dict[str, Any]:
    """Measure a trial, again while it cannot be trusted, up to the study's bound; every attempt is recorded.

    first: number of the next attempt at it, above 1 in a resumed run.
    """
    limit = cpu_limit(study, trial.treatment)
    for attempt in range(first, max(first, study.trust.max_attempts) + 1):
        target.prepare(trial.treatment)
        command = workload.prepare_trial(trial.treatment.levels, target.scratch)
        measured = target.execute(command, study.design.timeout_s)
        outcome = workload.outcome(measured, target.scratch) if measured.status == "ok" else Outcome()
        reasons = doubts(measured, limit, study.trust)
        again = bool(reasons) and attempt < study.trust.max_attempts
        record = trial_record(trial, attempt, measured, outcome, reasons, final=not again)
        run.append(record, measured.telemetry)
        if not again:
            break
        progress.note(f"trial {trial.trial} is repeated: {reasons[0]}")
    return {**record, "printed": (measured.stderr or measured.stdout).strip()}


def trial_record(
    trial: PlannedTrial,
    attempt: int,
    measured: Measurement,
    outcome: Outcome,
    reasons: Sequence[str],
    final: bool,
) -> dict[str, Any]:
    """A line of the journal."""
    seen = measured.interference
    failed = measured.status == "ok" and outcome.failure is not None
    return {
        "trial": trial.trial,
        "attempt": attempt,
        "final": final,
        "block": trial.block,
        "replicate": trial.replicate,
        "warmup": trial.warmup,
        "started_at": measured.started_at,
        "levels": dict(trial.treatment.levels),
        "wall_s": measured.wall_s,
        "user_s": measured.user_s,
        "sys_s": measured.sys_s,
        "cpu_efficiency": measured.cpu_efficiency,
        "foreign_cpu": seen.foreign_cpu,
        "steal": seen.steal,
        "memory_pressure": seen.memory_pressure,
        "io_pressure": seen.io_pressure,
        "max_rss_bytes": measured.max_rss_bytes,
        "nr_periods": measured.nr_periods,
        "nr_throttled": measured.nr_throttled,
        "throttled_s": measured.throttled_s,
        "exit_code": measured.exit_code,
        "status": "failed" if failed else measured.status,
        "error": outcome.failure if failed else measured.error,
        "trusted": not reasons,
        "distrust_reason": "; ".join(reasons) or None,
        "responses": dict(outcome.responses),
    }


def _failing(last: Mapping[str, Any], failures: int) -> str:
    printed = last["printed"][-SHOWN_OUTPUT:] or "nothing"
    return (
        f"The last {failures} trials failed, the last one with: {last['error']}. The sweep was stopped.\n"
        f"The program printed: {printed}"
    )


def preview(study: Study, earlier: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a sweep of a resolved study would do: its treatments, trials, and the time it would take.

    earlier: records of an earlier run of the study, from which the time is estimated; may be empty.
    """
    planned = plan(study)
    estimate = expected_s(planned, earlier, study.design.cooldown_s)
    return {
        "study": study.study,
        "treatments": [dict(treatment.levels) for treatment in treatments(study)],
        "replicates": study.design.replicates,
        "warmup": study.design.warmup,
        "n_trials": len(planned),
        "estimated_s": estimate,
        "estimated": in_words(estimate) if estimate is not None else "unknown: no earlier run of this study",
        "longest_s": len(planned) * (study.design.timeout_s + study.design.cooldown_s),
        "order": [trial.treatment.label() for trial in planned],
    }
