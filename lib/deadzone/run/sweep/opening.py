"""Opening a run: a new one of a study, or an earlier one to go on with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadzone import packs, places
from deadzone.errors import ReportError, StoreError, StudyError
from deadzone.run.sweep.running import measuring_of
from deadzone.store.command_lines import STUDY_NAME_FILE
from deadzone.store.provenance import usable_cores
from deadzone.store.run import OVERRIDES_FILE, RunFolder
from deadzone.store.table import SHARED
from deadzone.study.claims import check_claims
from deadzone.study.design import levels_of, resolve
from deadzone.study.loading import find_study, load_study
from deadzone.study.masking import MASK, masked_document
from deadzone.study.plan import Plan, plan_of
from deadzone.study.spec import Study
from deadzone.study.workload_specs import CommandWorkloadSpec


@dataclass(frozen=True)
class OpenRun:
    """What is to be done, with the run it is recorded in."""

    plan: Plan
    run: RunFolder


def planned(study: Study, folder: Path) -> Plan:
    """The plan of a study on this machine, with every level written out, checked.

    folder: relative paths in the study start there. Raises StudyError.
    """
    design = study.design.model_copy(update={"rehearsal": study.design.rehearsal is not False})
    resolved = resolve(study.model_copy(update={"design": design}), usable_cores())
    if further := packs.kind_of("workloads", study.workload.kind).resolve:
        resolved = packs.load(further)(resolved)
    plan = plan_of(resolved, folder)
    check_claims(plan.study.claims, levels_of(plan.study), plan.study.knob_name, _columns(plan))
    measuring_of(plan).check()
    return plan


def _columns(plan: Plan) -> tuple[str, ...]:
    """The columns that trials will have; empty where the workload, and not the study, says
    which."""
    if not isinstance(plan.study.workload, CommandWorkloadSpec) or plan.study.workload.output:
        return ()
    return (*plan.study.factor_names(), *SHARED, *plan.study.workload.responses)


def planned_file(path: Path, overrides: Mapping[str, Any] | None = None) -> Plan:
    """The plan of a study file on this machine, checked. Raises StudyError, with the file's name in
    it."""
    study = _with_notebook(load_study(path, overrides), path)
    try:
        return planned(study, path.parent)
    except StudyError as error:
        raise StudyError(
            f"{path}: {error}" if str(path) not in str(error) else str(error)
        ) from error


def _with_notebook(study: Study, path: Path) -> Study:
    """The study with a path of its notebook that is found from the run, too. Raises StudyError if
    there is none."""
    if not study.notebook:
        return study
    try:
        notebook = places.notebook(study.notebook, path.resolve().parent)
    except ReportError as error:
        raise StudyError(f"{path}: notebook: {error}") from error
    return study.model_copy(update={"notebook": _from_home(notebook)})


def open_run(
    study: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    resume: str | None = None,
    run_id: str | None = None,
    runs: Path | None = None,
) -> OpenRun:
    """Start a new run of a study, or find the one to resume.

    study: a path, or the name of a study of the repository. resume: a run id, or `latest`. run_id:
    name of the new run, by default one made of the time.

    Raises StudyError or StoreError if the study or the run cannot be used as asked.
    """
    runs = runs or places.runs_folder()
    path = find_study(study, places.study_folders()).resolve()
    if not resume:
        plan = planned_file(path, overrides)
        # with secrets masked
        told = json.dumps(masked_document(dict(overrides or {})), default=str) + "\n"
        beside = {OVERRIDES_FILE: told, STUDY_NAME_FILE: _name(path)}
        return OpenRun(plan, RunFolder.create(runs, plan.study, run_id, beside))
    renamed = {key: one for key, one in (overrides or {}).items() if key == "study"}
    name = load_study(path, renamed).study
    run = RunFolder.find(runs, f"{name}/latest" if resume == "latest" else resume)
    if run.study().study not in (name, run.overrides().get("study")):
        raise StoreError(f"Run {run.run_id} is of the study {run.study().study}, not of {name}.")
    # older runs were not rehearsed
    was = {} if run.study().design.rehearsal else {"design.rehearsal": False}
    # a secret has to be given again, as `check_same_study` says
    known = {key: value for key, value in run.overrides().items() if MASK not in json.dumps(value)}
    plan = planned_file(path, {**known, **was, **(overrides or {})})
    run.check_same_study(plan.study)
    return OpenRun(plan, run)


def _name(path: Path) -> str:
    """What a study file is called by: its name among the studies, else its path, from the
    repository where it lies in it."""
    if path.parent in {folder.resolve() for folder in places.study_folders()}:
        return path.stem
    return _from_home(path)


def _from_home(path: Path) -> str:
    """A path from the repository where it lies in it."""
    home = places.home().resolve()
    return str(path.relative_to(home) if path.is_relative_to(home) else path)
