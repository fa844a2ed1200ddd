"""`load_run` and `runs`: what was measured on this machine."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone import places
from deadzone.errors import PhaseError
from deadzone.explaining.findings.examining import examine
from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.finding import Finding
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel, PhaseModels
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.store import run as stored
from deadzone.study.spec import Study

COLUMNS = ("run", "started_at", "question", "trials", "not_ok", "not_trusted", "host")


class Run:
    """One execution of a study.

    name: `STUDY/RUN_ID`, by which `load_run` finds it again. folder: where it is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def _stored(self) -> stored.Run:
        return stored.Run(self.folder)

    @property
    def name(self) -> str:
        """`STUDY/RUN_ID`."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @cached_property
    def study(self) -> Study:
        """The study as it was resolved when the run began. Raises StoreError if it cannot be read."""
        return self._stored.study()

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The tidy table, one row an attempt at a trial; data/README.md tells its columns and units."""
        return self._stored.trials()

    @cached_property
    def telemetry(self) -> pd.DataFrame:
        """Time series in long format: run_id, trial, attempt, t_s [s], metric, value."""
        return self._stored.telemetry()

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """The circumstances: host, CPU, kernel, versions, commit; empty before the first trial."""
        return self._stored.provenance()

    @cached_property
    def experiment(self) -> Experiment:
        """What the checks see: its attempts, and what the study asks of them."""
        study, trials = self.study, self.trials
        knob, response, goal = study.knob_name, study.response.name, study.response.goal
        return Experiment(
            trials,
            knob,
            response,
            goal,
            by=tuple(name for name in study.factor_names() if name != knob),
            cores=self.provenance.get("cores_usable"),
            model=curve_of(trials, knob, response, goal) if len(study.factor_names()) == 1 else None,
            serves=study.has_service,
            role=getattr(study.factors.get(knob), "role", None) or "",
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the experiment, the gravest first; what the study accepts is a note."""
        return examine(self.experiment, self.study.accept)

    @cached_property
    def model(self) -> PhaseModel | PhaseModels:
        """The phases of the study's response over its knob, one curve for each level of a second factor.

        Raises PhaseError if no curve can be fitted.
        """
        seen = self.experiment
        asked = (seen.table, seen.knob, seen.response, seen.goal)
        if not seen.by:
            return replace(fit_phases(*asked), findings=self.findings)
        models = fit_phases(*asked, by=seen.by[0])
        each = {level: replace(model, findings=self.findings) for level, model in models.items()}
        return replace(models, models=each, findings=self.findings)

    def recommend(self, **wishes: Any) -> Recommendation:
        """The setting to choose; see `PhaseModel.recommend`."""
        return self.model.recommend(**wishes)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self._facts().items())

    def _repr_html_(self) -> str:
        return pd.DataFrame(self._facts().items()).to_html(header=False, index=False)

    def _facts(self) -> dict[str, Any]:
        row = _row(self._stored)
        return {name: row[name] for name in COLUMNS}


def curve_of(frame: pd.DataFrame, knob: str, response: str, goal: str) -> PhaseModel | None:
    """The phases of a table; None where none can be fitted."""
    try:
        return fit_phases(frame, knob, response, goal)
    except PhaseError:
        return None


def load_run(name: str | Path) -> Run:
    """A run by its name, id or folder; `STUDY/latest` and `latest` are the newest.

    Raises UnknownRunError if there is none.

    >>> run = load_run("readme-example/latest")  # doctest: +SKIP
    >>> run.trials.groupby("threads")["wall_s"].median()  # doctest: +SKIP
    """
    return Run(stored.Run.find(places.runs_folder(), str(name)).folder)


def runs(study: str | None = None) -> pd.DataFrame:
    """The runs kept on this machine, one row a run, the newest first.

    study: its name; by default runs of every study. Columns: run (for `load_run`), started_at (UTC), question, trials
    (attempts recorded), not_ok and not_trusted (of them), host.
    """
    found = stored.list_runs(places.runs_folder(), study)
    return pd.DataFrame([_row(run) for run in reversed(found)], columns=[*COLUMNS])


def _row(run: stored.Run) -> dict[str, Any]:
    records = run.records()
    begun = min((str(one.get("started_at") or "") for one in records), default="")
    return {
        "run": f"{run.folder.parent.name}/{run.run_id}",
        "started_at": begun,
        "question": run.study().question,
        "trials": len(records),
        "not_ok": sum(one["status"] != "ok" for one in records),
        "not_trusted": sum(not one["trusted"] for one in records),
        "host": run.provenance().get("host", ""),
    }
