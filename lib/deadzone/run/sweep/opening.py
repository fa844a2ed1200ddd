"""Opening a run: a new one of a study, or an earlier one to go on with; and its rehearsal, so that
what is wrong with one trial at each end of the range is told before the others have cost anything.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadzone import packs, places
from deadzone.errors import DeadzoneError, ReportError, StoreError, StudyError, SweepError
from deadzone.language.messages import _
from deadzone.run.sweep.progress import Beside, Progress
from deadzone.run.sweep.running import measuring_of, run_sweep
from deadzone.run.targets.interrupts import interrupts_later
from deadzone.store.provenance import usable_cores
from deadzone.store.run import OVERRIDES_FILE, STUDY_NAME_FILE, RunFolder
from deadzone.store.table import SHARED
from deadzone.study.claims import check_claims
from deadzone.study.design import WARMUP_BLOCK, PlannedTrial, Treatment, levels_of, resolve
from deadzone.study.loading import find_study, load_study
from deadzone.study.masking import MASK, masked_document
from deadzone.study.plan import Plan, plan_of
from deadzone.study.spec import Study
from deadzone.study.workload_specs import CommandWorkloadSpec

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OpenRun:
    """What is to be done, with the run it is recorded in."""

    plan: Plan
    run: RunFolder


def planned(study: Study, folder: Path) -> Plan:
    """The plan of a study on this machine, with every level written out, checked.

    folder: relative paths in the study start there. Raises StudyError.
    """
    plan = plan_of(_of_workload(resolve(_rehearsed(study), usable_cores())), folder)
    check_claims(plan.study.claims, levels_of(plan.study), plan.study.knob_name, _columns(plan))
    measuring_of(plan).check()
    return plan


def _of_workload(study: Study) -> Study:
    """The study with what its workload writes out of it, as the pack that brings it does."""
    resolve = packs.kind_of("workloads", study.workload.kind).resolve
    resolved: Study = packs.load(resolve)(study) if resolve else study
    return resolved


def _rehearsed(study: Study) -> Study:
    """The study, rehearsed unless it says otherwise."""
    rehearsal = study.design.rehearsal is not False
    return study.model_copy(
        update={"design": study.design.model_copy(update={"rehearsal": rehearsal})}
    )


def _columns(plan: Plan) -> tuple[str, ...]:
    """The columns that trials will have; empty where the workload, and not the study, says
    which."""
    if not isinstance(plan.study.workload, CommandWorkloadSpec) or plan.study.workload.output:
        return ()
    return (*plan.factors, *SHARED, *plan.study.workload.responses)


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
        beside = {OVERRIDES_FILE: _as_text(overrides), STUDY_NAME_FILE: _name(path)}
        return OpenRun(plan, RunFolder.create(runs, plan.study, run_id, beside))
    run = _run_to_resume(runs, path, resume)
    # older runs were not rehearsed
    was = {} if run.study().design.rehearsal else {"design.rehearsal": False}
    plan = planned_file(path, {**_known(run.overrides()), **was, **(overrides or {})})
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


def _run_to_resume(runs: Path, path: Path, resume: str) -> RunFolder:
    """`latest` means the latest run of this study."""
    name = load_study(path).study
    run = RunFolder.find(runs, f"{name}/latest" if resume == "latest" else resume)
    if run.study().study != name:
        raise StoreError(f"Run {run.run_id} is of the study {run.study().study}, not of {name}.")
    return run


def _known(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The overrides whose value was written down: a secret has to be given again, as
    `check_same_study` says."""
    return {name: value for name, value in overrides.items() if MASK not in json.dumps(value)}


def _as_text(overrides: Mapping[str, Any] | None) -> str:
    """The overrides as JSON, with secrets masked."""
    return json.dumps(masked_document(dict(overrides or {})), default=str) + "\n"


Judge = Callable[["pd.DataFrame"], Sequence[Any]]
"""What is wrong with the trials at the ends, as `deadzone.analysis.finding.Finding`, from
the tidy table so far."""


class Rehearsing(Beside):
    """A progress that tells it as soon as both ends of the range have been tried, and asks whether
    to go on with an experiment that can have no verdict. A run that is resumed has been rehearsed.
    """

    def __init__(self, progress: Progress, plan: Plan, run: RunFolder, judge: Judge) -> None:
        super().__init__(progress)
        self._run, self._judge = run, judge
        self._ends = {end.label() for end in plan.ends}
        self._waits = plan.design.rehearsal and not run.journal_file.exists()

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Tell how far it is, and what the rehearsal showed once it is over."""
        if self._waits:
            self._tell()
        self._progress.show(done, total, current, left_s)

    def _tell(self) -> None:
        tried = {Treatment(record["levels"]).label() for record in self._run.records()}
        if not self._ends <= tried:
            return
        self._waits = False
        with interrupts_later():
            findings = self._judge(self._run.trials())
        for finding in findings:
            self.note(_("Rehearsal: {finding}", finding=finding))
        if any(finding.severity == "stops" for finding in findings) and not self.agrees(
            _("Go on all the same?")
        ):
            raise SweepError(_("The sweep was stopped after its rehearsal."))


class _Notes(Progress):
    """Of a rehearsal, what is noted of its trials."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, sentence: str) -> None:
        """Keep it."""
        self.told.append(sentence)

    def close(self, sentence: str) -> None:
        """Nothing is recorded."""


def rehearse(plan: Plan, judge: Judge) -> tuple[list[dict[str, Any]], list[str], Sequence[Any]]:
    """Measure one trial at each end of a plan's range and keep nothing: their records, what was
    noted of them, and what is wrong.

    Raises what `run_sweep` raises, without a word on what is kept.
    """
    notes = _Notes()
    ends = [PlannedTrial(i, WARMUP_BLOCK, 1, True, end) for i, end in enumerate(plan.ends, start=1)]
    with tempfile.TemporaryDirectory(prefix="deadzone-rehearsal-") as folder:
        run = RunFolder.create(Path(folder), plan.study)
        try:
            run_sweep(plan, run, notes, lambda *_: iter([ends]))
        except DeadzoneError as error:
            error.args = error.args[:1]
            raise
        return run.records(), notes.told, judge(run.trials())
