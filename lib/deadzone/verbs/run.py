"""`load_run` and `runs`: what was measured on this machine."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone import places
from deadzone.analysis.finding import Finding
from deadzone.analysis.findings.fitting import experiment_in
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.recommend import Recommendation, check_options, recommend_from
from deadzone.analysis.phases.roles import check_roles, listed, with_index
from deadzone.analysis.trial_columns import with_counted
from deadzone.errors import PhaseError, StoreError, check_type
from deadzone.report.document.drawing import use_language
from deadzone.report.sweep.analysis import Analysis, Source, analyse
from deadzone.report.sweep.recommended import patch
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from deadzone.signatures import with_options_of
from deadzone.store.run import CLAIMS_FILE, RunFolder, list_runs
from deadzone.store.tables import is_file_of_table, with_numpy_types
from deadzone.study.spec import Study

COLUMNS = (
    "run", "started_at", "question", "trials", "not_ok", "not_trusted", "host", "state", "bytes",
    "setting",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class RunRecommendation(Recommendation):
    """The recommendation of a run, which knows how it is applied in a cluster."""

    analysis: Analysis = field(kw_only=True)

    def patch(self, workload: str = "", container: str = "", namespace: str = "") -> str:
        """The strategic merge patch, with what is to be known of it as comments; see `patch`.

        workload: KIND/NAME, such as deployment/encoder; by default, as the container and its
        namespace, what was swept. Raises TableError where none was and none is named, or nothing
        is recommended.
        """
        return patch(self.analysis, workload=workload, container=container, namespace=namespace)


class Run:
    """One execution of a study; or a table of measurements, which has no study, provenance or
    telemetry.

    folder: where it is kept, the file of a table, or None for the published table that stands in
    for a first run. knob, response, goal, by: in place of what the study says; `by` is one
    column or several, as a list or apart by commas.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        knob: str = "",
        response: str = "",
        goal: str = "",
        by: str | Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self._asked: Any = {"knob": knob, "response": response, "goal": goal, "by": by}

    def asked(self, **other: Any) -> "Run":
        """The run with another knob, response, goal or other factors, checked; itself where all are
        empty."""
        other = {name: value for name, value in other.items() if value}
        return Run(self.folder, **self._asked | other).checked() if other else self

    def checked(self) -> "Run":
        """Itself. Raises PhaseError for a column that is not there or has two roles, and for a goal
        that is none."""
        check_roles(self.source.trials, (self.knob, *self.by), self.response, self.goal)
        return self

    @property
    def is_table(self) -> bool:
        """Whether it is a table of measurements and no run."""
        return self.folder is None or not self.folder.is_dir()

    @property
    def stored(self) -> RunFolder:
        """The run as it lies on disk. Raises StoreError for a table."""
        if self.folder is None or self.is_table:
            raise StoreError(f"{self.name} is a table, not a run: it has trials, and nothing else.")
        return RunFolder(self.folder)

    @cached_property
    def source(self) -> Source:
        """The trials with what is asked of them and what is known about them."""
        if self.folder is None:
            return load_source("", "", or_reference=True, **self._asked)
        where: Any = {"table" if self.is_table else "run": str(self.folder)}
        return load_source(**where, **self._asked)

    @property
    def name(self) -> str:
        """`STUDY/RUN_ID`; of a table its name."""
        if self.folder is None:
            return self.source.name
        return (
            self.folder.stem if self.is_table else f"{self.folder.parent.name}/{self.folder.name}"
        )

    @property
    def knob(self) -> str:
        """The column that was turned."""
        return self.source.knob

    @property
    def response(self) -> str:
        """The column that was measured."""
        return self.source.response

    @property
    def goal(self) -> str:
        """`min` or `max`."""
        return self.source.goal

    @property
    def by(self) -> tuple[str, ...]:
        """The other factors, each combination of whose levels is a curve."""
        return self.source.by

    @cached_property
    def study(self) -> Study:
        """The study as it was resolved when the run began. Raises StoreError if it cannot be
        read."""
        return self.stored.study()

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The tidy table, one row an attempt at a trial; data/README.md tells its columns and
        units. `counted` marks the rows to group: `run.trials.query("counted")`."""
        return with_numpy_types(
            with_counted(self.source.trials) if self.is_table else self.stored.trials()
        )

    @property
    def sound(self) -> pd.DataFrame:
        """The trials that the analysis rests on: no warm-up, none that failed, and none that is not
        trusted, unless hardly any is."""
        return with_numpy_types(self.analysis.source.analysed)

    @cached_property
    def telemetry(self) -> pd.DataFrame:
        """Time series in long format: run_id, trial, attempt, t_s [s], metric, value."""
        return self.stored.telemetry()

    @cached_property
    def histograms(self) -> pd.DataFrame:
        """Latencies of a load over time, one row a slice of a trial; see data/README.md."""
        return self.stored.histograms()

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """The circumstances: host, CPU, kernel, versions, commit; empty before the first trial, and
        of a table."""
        return self.source.provenance if self.is_table else self.stored.provenance()

    @cached_property
    def experiment(self) -> Source:
        """What the checks see: its attempts, and what the study asks of them."""
        model = next(iter(self.models.values())) if len(self.models) == 1 else None
        return replace(self.source, model=model)

    @cached_property
    def analysis(self) -> Analysis:
        """The curves with the recommendation, where nothing in particular is wished for."""
        return analyse(self.source)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the experiment, the gravest first; what the study accepts is a
        note."""
        return self.analysis.findings

    @property
    def models(self) -> dict[str, PhaseModel]:
        """The phase model of each curve, by its name such as `tool = xz`; one curve has no name.
        None without a verdict."""
        return {curve.name: curve.model for curve in self.analysis}

    @property
    def model(self) -> PhaseModel:
        """The phases of the response over the knob. Raises PhaseError where there is no curve, or
        more than one."""
        if len(self.models) != 1:
            raise PhaseError(
                self.analysis.problem
                or f"{self.name} has {len(self.models)} curves; take one of .models: "
                f"{', '.join(self.models)}."
            )
        return next(iter(self.models.values()))

    @property
    def searched(self) -> Any:
        """What a search over several knobs found, as `dz.search` returns it. Raises PhaseError for
        a run of another design."""
        if self.analysis.searched is None:
            raise PhaseError(
                self.analysis.problem
                or f"{self.name} is no search; its study needs `design: {{kind: search}}`."
            )
        return self.analysis.searched

    @with_options_of(recommend_from, "findings")
    def recommend(
        self, *, given: Mapping[str, Any] | None = None, anyway: bool = False, **options: Any
    ) -> RunRecommendation:
        """The setting to choose; options as of `PhaseModel.recommend`.

        given: levels of factors that are not ours to choose. Raises PhaseError where there is none,
        with the reason.
        """
        analysis = analyse(self.source, anyway, given, **options)
        if analysis.advice is None:
            raise PhaseError(analysis.problem)
        return RunRecommendation(**vars(analysis.advice), analysis=analysis)

    @with_options_of(recommend_from, "findings")
    def report(self, **options: Any) -> SweepReport:
        """The sections of the report of a sweep, as blocks to display; see `SweepReport`.

        options: see `PhaseModel.recommend`. Raises PhaseError for one that cannot be meant.
        """
        check_options(**options)
        return SweepReport(analyse(self.source, **options))

    def __repr__(self) -> str:
        return f"{self.name}: {len(self.trials)} trials over {self.knob}"


def source_of(
    source: pd.DataFrame | Run, *, knob: str, response: str, goal: str, by: str | Sequence[str]
) -> Source:
    """A run, or a table, with what is asked of it. knob, response, goal, by: in place of what the
    run's study says."""
    if isinstance(source, Run):
        return source.asked(knob=knob, response=response, goal=goal, by=by).source
    factors = listed(by)
    table = with_index(source, (knob, *factors))
    return Source(**vars(experiment_in(table, knob, response, goal, factors)))


def load_run(
    name: str | Path = "latest",
    *,
    knob: str = "",
    response: str = "",
    goal: str = "",
    by: str | Sequence[str] = (),
    lang: str = "",
) -> Run:
    """A run by its name, id or folder; `STUDY/latest` and `latest` are the newest, and of some
    bundled studies `STUDY/reference` is one that comes with Deadzone. A file of a table is read as
    one, too.

    knob, response, goal, by: in place of what its study says; a table needs knob and response.
    Where there is no run yet, `latest` is a published table. lang: of every sentence from here on,
    en or ko.

    Raises ReportError for an unknown language, UnknownRunError if there is none, TableError for a
    table that cannot be read, PhaseError for a column that is not there, or a goal that is neither
    min nor max.

    >>> run = load_run("readme-example/latest")  # doctest: +SKIP
    >>> run.trials.query("counted").groupby("threads")["wall_s"].median()  # doctest: +SKIP
    """
    if lang:
        use_language(lang)
    check_type(PhaseError, name, str | Path, "The name of a run")
    run = Run(_place(str(name)), knob=knob, response=response, goal=goal, by=by)
    is_asked = knob or response or goal or by or (run.folder and run.folder.is_file())
    return run.checked() if is_asked else run


def _place(name: str) -> Path | None:
    if is_file_of_table(name):
        return Path(name)
    runs = places.runs_folder()
    if name == "latest" and not list_runs(runs):
        return None
    return RunFolder.find(runs, name).folder


def runs(study: str | None = None) -> pd.DataFrame:
    """The runs kept on this machine, one row a run, the newest first.

    study: its name; by default runs of every study. Columns: run (for `load_run`), started_at
    (UTC), question, trials (attempts recorded), not_ok and not_trusted (of them), host, state
    (`measuring`, `published`, `claimed`, `measured`, `no trials`, as after pruning, or `unread`),
    bytes (on disk), setting (of the verdict that the run keeps; None without one).
    """
    folders = list_runs(places.runs_folder(), study)
    return pd.DataFrame([_row(run) for run in reversed(folders)], columns=[*COLUMNS])


def _row(run: RunFolder) -> dict[str, Any]:
    records, facts, question = list[dict[str, Any]](), dict[str, Any](), ""
    state, verdict = "unread", dict[str, Any]()
    with suppress(StoreError):  # one that something damaged hides no other
        records, facts, verdict = run.records(), run.provenance(), run.verdict()
        state = state_of(run)
    with suppress(StoreError):  # of a later release, or of a pack that is not here
        question = run.study().question
    starts = (str(record.get("started_at") or "") for record in records)
    return {
        "run": f"{run.folder.parent.name}/{run.run_id}",
        "started_at": min(starts, default=str(facts.get("recorded_at", ""))),
        "question": question,
        "trials": len(records),
        "not_ok": sum(record["status"] != "ok" for record in records),
        "not_trusted": sum(not record["trusted"] for record in records),
        "host": facts.get("host", ""),
        "state": state,
        "bytes": sum(path.stat().st_size for path in run.folder.rglob("*") if path.is_file()),
        "setting": verdict.get("recommendation", {}).get("setting"),
    }


def state_of(run: RunFolder) -> str:
    """What a run is, see `runs`; one that is `measured` and no more may be pruned."""
    if run.is_held():
        return "measuring"
    if (places.reports_folder() / run.folder.parent.name / run.run_id).exists():
        return "published"
    if (run.folder / CLAIMS_FILE).exists():
        return "claimed"
    return "measured" if run.journal_file.exists() else "no trials"
