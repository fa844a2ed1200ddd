"""What a report is made from: the trials of a run or of any table, with what is known about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadzone import places
from deadzone.errors import TableError
from deadzone.store.run import Run
from deadzone.store.tables import read_table
from deadzone.study.factors import LevelsFactor
from deadzone.study.levels import AUTO
from deadzone.study.spec import Study

if TYPE_CHECKING:
    import pandas as pd

LEAST_TRUSTED = 0.5
"""If fewer of the treatments than this keep a trusted trial, leaving the untrusted ones out would leave no
curve to fit: then all are analysed, and the report says so first."""


@dataclass(frozen=True, eq=False)
class Source:
    """Trials with their circumstances.

    trials: a tidy table, every attempt and warm-up in it. knob, response, goal: what is asked of it. by: a second
    factor that slices the table, or None. study, provenance: of a run; None and empty for a plain table.
    doubts: what a reader must know before anything else.
    """

    name: str
    title: str
    question: str
    trials: pd.DataFrame
    knob: str
    response: str
    goal: str
    by: str | None = None
    study: Study | None = None
    run_id: str | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def analysed(self) -> pd.DataFrame:
        """The trials that the fit rests on: measured, not warm-up, trusted, with a numeric level of the knob."""
        return analysed_trials(self.trials, self.knob)

    @property
    def untrusted(self) -> pd.DataFrame:
        """The attempts that are not trusted, warm-up left out."""
        if "trusted" not in self.trials:
            return self.trials.iloc[:0]
        measured = self.trials[~_flag(self.trials, "warmup", default=False)]
        return measured[~_flag(measured, "trusted", default=True)]

    @property
    def failed(self) -> pd.DataFrame:
        """The trials that did not end well."""
        return self.trials[self.trials["status"] != "ok"] if "status" in self.trials else self.trials.iloc[:0]


def load_source(
    run: str = "",
    table: str = "",
    *,
    knob: str = "",
    response: str = "",
    goal: str = "",
    by: str = "",
) -> Source:
    """A source from a run (its id, folder, or STUDY/latest) or from a CSV or Parquet table.

    knob, response, goal, by: in place of what the run's study says; a table needs knob and response.

    Raises StoreError or TableError if it cannot be read, TableError if a table comes without knob or response.
    """
    if table:
        return _of_table(Path(table), knob, response, goal, by)
    return _of_run(Run.find(places.runs_folder(), run or "latest"), knob, response, goal, by)


def _of_run(run: Run, knob: str, response: str, goal: str, by: str) -> Source:
    study, trials = run.study(), run.trials()
    if trials.empty:
        raise TableError(f"Run {run.run_id} has no trials yet; measure some with --resume {run.run_id}.")
    knob = knob or study.knob_name
    trusted, doubts = _judged(trials, knob, run.provenance())
    return Source(
        name=study.study,
        title=study.title or study.study,
        question=study.question,
        trials=trusted,
        knob=knob,
        response=response or study.response.name,
        goal=goal or study.response.goal,
        by=by or _second_factor(study, knob),
        study=study,
        run_id=run.run_id,
        provenance=run.provenance(),
        doubts=doubts,
    )


def _of_table(path: Path, knob: str, response: str, goal: str, by: str) -> Source:
    trials = read_table(path)
    if not (knob and response):
        raise TableError(f"{path}: say which column is the knob and which the response.")
    return Source(path.stem, path.stem, "", trials, knob, response, goal or "min", by or None)


def _second_factor(study: Study, knob: str) -> str | None:
    """The factor that slices a factorial design: another one with several levels."""
    if study.design.kind != "factorial":
        return None
    others = (
        n for n, f in study.factors.items() if n != knob and isinstance(f, LevelsFactor) and len(f.levels) > 1
    )
    return next(others, None)


def _judged(
    trials: pd.DataFrame, knob: str, provenance: dict[str, Any]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The trials, with all of them taken in where too few are trusted; and the doubts to state first."""
    doubts = []
    if provenance.get("limits_mechanism") == "affinity":
        doubts.append(
            "The CPU limit was put in force by affinity: the program saw fewer cores instead of a quota, so nothing "
            "was throttled. A quota, as in a container, may behave differently."
        )
    whole = analysed_trials(trials.assign(trusted=True), knob)[knob].nunique()
    kept = analysed_trials(trials, knob)[knob].nunique()
    if kept < LEAST_TRUSTED * whole:
        last = trials[~_flag(trials, "warmup", default=False)].groupby("trial").tail(1)
        doubts.append(
            f"Other work on the machine disturbed this run: only {kept} of {whole} levels have a trial that can be "
            "trusted. All trials are analysed; measure again on a quiet machine before acting on the result."
        )
        trials = trials.assign(trusted=trials.index.isin(last.index))
    elif kept < whole:
        doubts.append(
            f"{whole - kept} of {whole} levels have no trial that can be trusted and are left out of the fit."
        )
    return trials, tuple(doubts)


def analysed_trials(trials: pd.DataFrame, knob: str) -> pd.DataFrame:
    """The rows a fit rests on; rows with `auto` as the knob's level are a setting of its own and stand apart."""
    kept = ~_flag(trials, "warmup", default=False) & _flag(trials, "trusted", default=True)
    if "status" in trials:
        kept &= trials["status"].eq("ok").fillna(False).astype(bool)
    if knob in trials:
        kept &= trials[knob].astype(str) != AUTO
    return trials[kept]


def _flag(trials: pd.DataFrame, column: str, default: bool) -> pd.Series:
    import pandas as pd

    if column not in trials:
        return pd.Series(default, index=trials.index)
    return trials[column].fillna(default).astype(bool)
