"""What can be explored: the runs on this machine and the curves of the published studies."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pandas as pd

from deadzone import places
from deadzone.analysis.phases.notes import below_zero
from deadzone.errors import DeadzoneError
from deadzone.report.sweep.source import load_source
from deadzone.store.reference import load_reference
from deadzone.store.run import list_runs
from deadzone.store.table import rows_at
from deadzone.study.factors import FactorSpec
from deadzone.study.scales import KnobScale, level_name, scale_of

PUBLISHED: dict[str, dict[str, tuple[str, str]]] = {
    "ffmpeg-threads": {
        "limit-equals-threads": ("cpu_limit", "wall_s"),
        "threads-at-4-cores": ("threads", "wall_s"),
        "threads-at-8-cores": ("threads", "wall_s"),
        "threads-at-11-cores": ("threads", "wall_s"),
    },
    "thread-pools": {
        "inbound": ("pool_size", "latency_max_ms"),
        "outbound": ("pool_size", "latency_max_ms"),
        "connection-spike": ("connection_rate", "connect_max_ms"),
    },
}
"""Published tables that hold curves, with the knob and response that are looked at first."""

FACTORS = ("cpu_limit", "threads", "pool_size", "rate", "connection_rate")
"""Columns of the published tables that were set, not measured."""

NO_RESPONSE = (
    "trial", "block", "replicate", "attempt", "exit_code", "warmup", "trusted",
    "claimed_change_percent", "baseline_threads",
)  # fmt: skip
"""Numeric columns that say how a trial was done and not what came out of it."""

LARGER_IS_BETTER = ("throughput", "speed", "fps", "iops", "achieved_rate", "frames")
"""A response whose name holds one of these is to be maximised, unless the study says otherwise."""


@dataclass(frozen=True, eq=False)
class ExplorerTable:
    """Trials to explore. knob, response: looked at first. goals: "min" or "max" of the responses
    that say so. attempts: at these trials, failed and distrusted ones too, by which the experiment
    is judged; the trials themselves where there are no others. written: how a study writes its
    factors."""

    trials: pd.DataFrame
    knob: str
    response: str
    factors: tuple[str, ...]
    goals: dict[str, str]
    attempts: pd.DataFrame | None = None
    written: Mapping[str, FactorSpec] = field(default_factory=dict)

    @property
    def judged(self) -> pd.DataFrame:
        """What the experiment is judged by: the attempts, or the trials where there are no
        others."""
        return self.trials if self.attempts is None else self.attempts

    def cut(self, levels: dict[str, object]) -> "ExplorerTable":
        """The part of it at these levels of other factors."""
        return replace(
            self, trials=rows_at(self.trials, levels), attempts=rows_at(self.judged, levels)
        )

    def levels(self, knob: str) -> list[tuple[str, object]]:
        """The levels of a knob, each with its name, in the order of its axis; none of a knob that
        it lacks."""
        if knob not in self.trials:
            return []
        named = {level_name(level): level for level in self.trials[knob].dropna().drop_duplicates()}
        places = self._scale(knob).positions
        return sorted(named.items(), key=lambda item: places.get(item[0], math.inf))

    def without(self, knob: str, levels: Sequence[object]) -> "ExplorerTable":
        """The table without some levels of a knob."""
        kept, judged = (rows[~rows[knob].isin(levels)] for rows in (self.trials, self.judged))
        return replace(self, trials=kept, attempts=judged)

    def knobs(self) -> list[str]:
        """Factors with enough levels on an axis for a curve, the first choice first."""
        enough = [name for name in self.factors if self._scale(name).has_phases]
        return sorted(enough, key=lambda name: name != self.knob)

    def _scale(self, factor: str) -> KnobScale:
        written = self.written.get(factor) or FactorSpec()
        return scale_of(self.trials[factor], written.scale, written.at)

    def responses(self) -> list[str]:
        """Measured columns that a curve can be fitted to, the first choice first."""
        numbers = self.trials.select_dtypes("number").drop(
            columns=[*self.factors, *NO_RESPONSE], errors="ignore"
        )
        usable = {
            name: (numbers[name] > 0) | below_zero(numbers, str(name)) | numbers[name].isna()
            for name in numbers
        }
        fit = pd.DataFrame(usable).all() & (numbers.nunique() >= 2)
        return sorted(map(str, numbers.columns[fit]), key=lambda name: name != self.response)

    def goal(self, response: str) -> str:
        """Whether less or more of a response is better."""
        guess = "max" if any(word in response for word in LARGER_IS_BETTER) else "min"
        return self.goals.get(response, guess)

    def slices(self, knob: str) -> dict[str, dict[str, object]]:
        """The combinations of the other factors' levels, named; one without a name where nothing
        else varies, and of a knob that it lacks."""
        if knob not in self.trials:
            return {"": {}}
        others = [name for name in self.factors if name != knob and self.trials[name].nunique() > 1]
        if others:  # one that was set together with the knob does not slice
            varies = (self.trials.groupby(knob)[others].nunique() != 1).any()
            others = [name for name in others if varies[name]]
        if not others:
            return {"": {}}
        rows = self.trials[others].drop_duplicates().sort_values(others).to_dict("records")
        return {", ".join(f"{name} = {value:g}" if isinstance(value, int | float) else f"{name} = {value}"  # noqa: E501
                          for name, value in row.items()): {str(k): v for k, v in row.items()} for row in rows}  # fmt: skip  # noqa: E501


def list_tables() -> dict[str, dict[str, Callable[[], ExplorerTable]]]:
    """By study and run, a function that loads the table; runs first, the newest first, then what
    was published."""
    named_tables: dict[str, dict[str, Callable[[], ExplorerTable]]] = {}
    try:
        runs = list_runs(places.runs_folder())
    except DeadzoneError:
        runs = []
    for run in sorted(runs, key=lambda run: run.run_id, reverse=True):
        named_tables.setdefault(run.folder.parent.name, {})[run.run_id] = partial(
            _of_run, str(run.folder)
        )
    for study, tables in PUBLISHED.items():
        for name in tables:
            named_tables.setdefault(study, {})[name] = partial(_of_published, study, name)
    return named_tables


def _of_run(folder: str) -> ExplorerTable:
    source = load_source(folder)
    written = source.study.factors if source.study else {source.knob: FactorSpec()}
    goals = {source.response: source.goal}
    return ExplorerTable(
        source.analysed, source.knob, source.response, tuple(written), goals, source.trials, written
    )


def _of_published(study: str, name: str) -> ExplorerTable:
    trials = load_reference(study, name)
    return ExplorerTable(
        trials, *PUBLISHED[study][name], tuple(f for f in FACTORS if f in trials), {}
    )
