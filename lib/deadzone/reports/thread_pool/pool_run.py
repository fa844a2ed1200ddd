"""The analysis of a run of a load test: which pool meets its targets at which rate, and how sure that is."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pandas as pd

from deadzone.errors import PhaseError, TableError
from deadzone.explaining.capacity.cells import (
    Objective,
    cells_of,
    objectives_of,
    statistic,
    trial_counts,
)
from deadzone.explaining.capacity.cold_start import ColdStart, cold_start
from deadzone.explaining.capacity.feasibility import Feasibility, feasibility
from deadzone.explaining.capacity.littles_law import littles_law
from deadzone.explaining.capacity.reversal import Reversal, harm_alone, harmless_response, reversals
from deadzone.explaining.marks import marked
from deadzone.explaining.mechanisms.explaining import PhasesExplained, explained
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModels
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.language.catalogue import say
from deadzone.reports.sweep.source import Source
from deadzone.store.histograms import series
from deadzone.store.run import Run
from deadzone.store.table import rows_at
from deadzone.study.promises import RATE, judged_level


@dataclass(frozen=True, eq=False)
class PoolRun:
    """A run of a load test.

    source: its trials, freed of warm-up. wanted: the load to be borne, or None. judged_rate: the measured rate it is
    judged by. models, advice: the curve of each rate; None and empty where none can be fitted, for the reason
    `problem`. feasible: the cells against the targets, None without targets. cold: the warm-up of every trial.
    law: Little's law, one row a cell. left_out: what to say of the levels that are not shown. why: what explains the phases at
    each rate; empty where the trials carry no account of time.
    """

    source: Source
    wanted: float | None
    judged_rate: float
    models: PhaseModels | None
    advice: dict[float, Recommendation]
    problem: str
    turning: tuple[Reversal, ...]
    feasible: Feasibility | None
    cold: ColdStart
    law: pd.DataFrame
    left_out: tuple[str, ...]
    why: dict[float, PhasesExplained]

    def at(self, rate: float) -> Source:
        """The source at one rate."""
        return replace(self.source, by=(), trials=rows_at(self.source.trials, {RATE: rate}))


def analyse_pools(source: Source) -> PoolRun:
    """The analysis of a load test's trials. source: of its run; what a warm-up that was detected reaches into the measured
    window is not analysed, and nor is what precedes the window.

    Raises TableError if the trials have no numeric pool or rate, PhaseError if an objective bounds a column that they
    do not have.
    """
    source, other = _one_slice(_with_rate(source))
    assert source.folder is not None
    specs, factors = (source.study.objectives, source.study.factor_names()) if source.study else ({}, ())
    bounds, load = objectives_of(specs, (*factors, RATE))
    kept = _of_last_attempts(Run(source.folder).histograms(), source.trials)
    # The histogram that the response is a statistic of; that of the requests where it is of none.
    metric = Objective(source.response, "at_most", 0.0).metric or "latency_us"
    cold = cold_start(series(kept, metric))
    counts = trial_counts(kept, cold.begins_s)
    source = replace(source, trials=_freed(source.trials, counts, cold.reaching_in))
    harmless = harmless_response(source.response, bounds)
    try:
        models = harm_alone(
            fit_phases(source.analysed, source.knob, source.response, goal=source.goal, by=RATE), harmless
        )
        advice = {float(rate): model.recommend() for rate, model in models.items()}
        problem = ""
    except PhaseError as error:
        models, advice, problem = None, {}, str(error)
    feasible = None
    if bounds:
        cells = cells_of(_judgeable(source), source.knob, RATE, bounds, counts)
        feasible = feasibility(cells, bounds)
    rates = sorted(float(rate) for rate in source.trials[RATE].dropna().unique())
    wanted = load.get(RATE)
    judged = judged_level(rates, wanted)
    why = {
        rate: explained(rows_at(source.analysed, {RATE: rate}), model)
        for rate, model in (models or {}).items()
    }
    return PoolRun(
        source, wanted, judged, models, advice, problem,
        tuple(reversals(models, source.analysed, harmless=harmless)) if models else (), feasible, cold,
        littles_law(source.analysed, source.knob, RATE), other, {rate: one for rate, one in why.items() if one},
    )  # fmt: skip


def _with_rate(source: Source) -> Source:
    """The source with a column of the rate, also where every trial has the same."""
    if RATE in source.trials:
        return source
    fixed = getattr(source.study.workload, RATE, None) if source.study else None
    if fixed is None:
        raise TableError(f"Run {source.run_id} has no rate, neither as a factor nor in its workload.")
    return replace(source, trials=source.trials.assign(**{RATE: float(fixed)}))


def _one_slice(source: Source) -> tuple[Source, tuple[str, ...]]:
    """The source at one level of every factor beside pool and rate, and what to say of it."""
    names = source.study.factor_names() if source.study else ()
    trials, said = source.trials, []
    for name in names:
        if name in (source.knob, RATE) or name not in trials or trials[name].astype(str).nunique() < 2:
            continue
        level = trials[name].iloc[0]
        trials = trials[trials[name] == level]
        said.append(say("pool_run.doubt_other", factor=name, level=str(level)))
    return replace(source, by=(RATE,), trials=trials), tuple(said)


def _of_last_attempts(histograms: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """The histograms of the last attempt at each trial."""
    if histograms.empty or "attempt" not in trials:
        return histograms
    last = trials.groupby("trial")["attempt"].max()
    return histograms[histograms["attempt"] == histograms["trial"].map(last)]


def _freed(trials: pd.DataFrame, counts: Any, cut: list[int]) -> pd.DataFrame:
    """The trials with the statistics of those whose warm-up was cut out taken from what is left."""
    freed = trials.copy()
    for column, trial in product(trials.columns, cut):
        one = Objective(str(column), "at_most", 0.0)
        if one.metric in counts.get(trial, {}):
            freed.loc[freed["trial"] == trial, column] = statistic(one, counts[trial][one.metric])
    return freed


def _judgeable(source: Source) -> pd.DataFrame:
    """The trials that count for or against a cell: the analysed ones, and the last attempts that ended badly."""
    bad = source.failed[~marked(source.failed, "warmup", missing=False)]
    last = source.trials.groupby("trial").tail(1).index
    return pd.concat([source.analysed, bad[bad.index.isin(last)]]).sort_index()
