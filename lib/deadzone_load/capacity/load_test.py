"""A load test as a whole: which pool meets its objectives at which rate, where more hurts, and what
warm-up does to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from deadzone.analysis.findings.fitting import experiment_in, slices_of
from deadzone.analysis.objectives.bounds import Objective, objectives_of
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import percent, plain_name, probability, setting
from deadzone.analysis.settings.answering import answer
from deadzone.analysis.trial_columns import counted, is_well, marked
from deadzone.errors import PhaseError
from deadzone.language.formats import exact
from deadzone.language.messages import N_, join, say
from deadzone.plugins import TableError, _, listing
from deadzone.store.histograms import series
from deadzone.study.design import RATE, judged_level
from deadzone.study.objective_specs import ObjectiveSpec, in_own_units
from deadzone.verbs.run import Run
from deadzone_load.capacity.cells import Counts, cells_of, statistic, trial_counts
from deadzone_load.capacity.cold_start import cold_starts
from deadzone_load.capacity.feasibility import (
    CONFIDENCE,
    HOPELESS,
    Feasibility,
    SmallestPool,
    feasibility,
)
from deadzone_load.capacity.reversal import Reversal, reversals, tolerated_response

NO_OBJECTIVES = N_("The study names no objectives, so no setting is called good enough.")

SMALLEST = {
    "smallest": N_(
        "Set {setting}: the smallest that meets all objectives at {rate} requests/s ({sure} sure)."
    ),
    "undecided": N_("Of smaller ones {some} can neither be shown to meet them nor to miss them."),
    "smallest_likely": N_(
        "No {pool} is {wanted} sure to meet all objectives at {rate} requests/s; {level} is the "
        "smallest that probably does ({sure})."
    ),
    "smallest_none": N_("No {pool} that was tried meets all objectives at {rate} requests/s."),
    "nearest": N_("Nearest is {level} ({sure} sure)."),
}
"""What is said of the smallest pool, by its key."""

OBJECTIVES = TypeAdapter(dict[str, ObjectiveSpec])

NO_HISTOGRAMS = pd.DataFrame(columns=["trial", "attempt", "metric", "t_s", "histogram"])


@dataclass(frozen=True, eq=False)
class LoadTest:
    """A load test of pools over rates, freed of warm-up.

    trials: those that the analysis rests on, one row each, with `rate`. pool, response, goal: what
    was turned and judged. wanted: the rate to be borne, or None; judged_rate: the measured rate it
    is judged by. models: the phases of the response over the pool, by rate; empty where none can be
    fitted, for the reason `problem`. reversals: where more hurts, a rate each. feasibility: every
    cell against the objectives, empty without any. left_out: what is not shown.

    warmups: one row a trial that has a course over time: its pool and rate, and what `cold_starts`
    found of it.
    """

    trials: pd.DataFrame
    pool: str
    response: str
    goal: str
    wanted: float | None
    judged_rate: float
    models: Mapping[float, PhaseModel]
    problem: str
    reversals: tuple[Reversal, ...]
    feasibility: Feasibility
    warmups: pd.DataFrame
    left_out: tuple[str, ...]

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that were measured, rising [1/s]."""
        judged = {rate for _pool, rate in self.feasibility.cells}
        return tuple(sorted(judged | {*map(float, self.trials[RATE].dropna())}))

    @property
    def confidence(self) -> pd.DataFrame:
        """Probability that every objective is met, one row a rate, one column a pool; empty without
        objectives."""
        return self.feasibility.confidence.rename_axis(index=RATE, columns=self.pool)

    def smallest(self, rate: float) -> SmallestPool:
        """The smallest pool that meets all objectives at a rate. Raises PhaseError without
        objectives."""
        if not self.feasibility.objectives:
            raise PhaseError("No objectives were named, so no pool is called good enough.")
        return self.feasibility.smallest(rate)

    @cached_property
    def by_rate(self) -> pd.DataFrame:
        """One row a rate: best (pool), tied (pools not told apart), smallest (pool that meets all
        objectives; likely, where none is shown to), confidence (that it does), hurts_beyond (pool),
        hurts_low, hurts_high (its interval)."""
        turning = {reversal.rate: reversal for reversal in self.reversals}
        rows = [self._at(rate, turning.get(rate)) for rate in self.rates]
        return pd.DataFrame(rows, index=pd.Index(self.rates, name=RATE))

    def _at(self, rate: float, turning: Reversal | None) -> dict[str, Any]:
        row: dict[str, Any] = {}
        if rate in self.models:
            advice = self.models[rate].recommend()
            row |= {"best": advice.setting, "tied": ", ".join(map(exact, advice.tied))}
        if (smallest := self.feasibility.smallest(rate)).sure:
            likely = smallest.likely if smallest.pool is None else smallest.pool
            sure = smallest.sure[smallest.named[1]]
            row |= {"smallest": smallest.pool, "likely": likely, "confidence": sure}
        if turning is not None and turning.start is not None:
            ends = {"hurts_low": turning.low, "hurts_high": turning.high}
            row |= {"hurts_beyond": turning.start, **ends, "hurts_probability": turning.probability}
        return row

    @cached_property
    def by_pool(self) -> pd.DataFrame:
        """One row a pool: rate_shown (the highest rate up to which it is shown to meet all
        objectives), rate_low and rate_high (90 % interval; 0 is below the lowest rate), limited_by
        (what gives way next). Empty without objectives."""
        borne = {pool: self.feasibility.capacity(pool) for pool in self.feasibility.pools}
        rows = {pool: capacity for pool, capacity in borne.items() if capacity is not None}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis(self.pool)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row a cell, by rate and pool: n (trials), the typical value of each bounded column,
        missed (objectives that its typical trial misses) and confidence. Empty without objectives.
        """
        if not self.feasibility.objectives:
            return pd.DataFrame()
        rows = {}
        for (pool, rate), cell in self.feasibility.cells.items():
            sure = self.feasibility.sure.get((pool, rate), np.nan)
            missed = self.feasibility.missed((pool, rate)) if np.isfinite(sure) else ()
            columns = [bound.column for bound in self.feasibility.objectives]
            rows[rate, pool] = {
                "n": len(cell.counted),
                **{column: cell.typical(column) for column in columns},
                "missed": ", ".join(bound.column for bound in missed),
                "confidence": sure,
            }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis([RATE, self.pool])
        return table.sort_index()

    def verdict(self) -> str:
        """The smallest pool that meets all objectives at the rate that is judged; without any, the
        best one there, and where more hurts."""
        rate = exact(self.judged_rate)
        if not self.feasibility.objectives:
            sentences = (self._best(), self.where_more_hurts(), say(NO_OBJECTIVES))
            return " ".join(sentence for sentence in sentences if sentence)
        smallest = self.feasibility.smallest(self.judged_rate)
        if not smallest.sure:
            return _("At {rate} requests/s no trial says what the server does.", rate=rate)
        key, level = smallest.named
        rest = [*map(exact, smallest.undecided)]
        values = {
            "pool": plain_name(self.pool), "rate": rate, "level": exact(level),
            "setting": setting(level, self.pool), "sure": probability(smallest.sure[level]),
            "wanted": percent(CONFIDENCE), "some": listing(rest) if rest else "",
        }  # fmt: skip
        hopeful = key == "smallest_none" and smallest.sure[level] > HOPELESS
        more = "nearest" if hopeful else key == "smallest" and rest and "undecided"
        return join([say(SMALLEST[one], **values) for one in (key, more) if one])

    def _best(self) -> str:
        """The best pool at the rate that is judged, or that none is told from another there; empty
        where no curve could be fitted."""
        model = self.models.get(self.judged_rate)
        if model is None:
            return ""
        rate, advice = exact(self.judged_rate), model.recommend()
        if advice.setting is not None and len(advice.tied) < len(model.levels):
            return _("At {rate} requests/s: {reason}", rate=rate, reason=advice.reason)
        return _(
            "At {rate} requests/s no setting of {pool} is shown to be better than another; a "
            "higher rate, at which the server has to queue, may tell them apart.",
            rate=rate, pool=plain_name(self.pool),
        )  # fmt: skip

    def where_more_hurts(self) -> str:
        """The sentence on where the curves turn back."""
        if not self.models:
            return _("No phases could be fitted: {problem}", problem=self.problem)
        there = [turn for turn in self.reversals if turn.start is not None]
        if not there:
            largest = max(float(model.levels["level"].max()) for model in self.models.values())
            return _(
                "At no rate does the curve turn back: more does not hurt up to {level}.",
                level=exact(largest),
            )
        most = max(there, key=lambda turn: turn.probability)
        if most.probability < CONFIDENCE:
            return _(
                "That more hurts is not shown: at {rate} requests/s, beyond {level}, it is {sure} "
                "sure. A higher rate, or more replicates, may show it.",
                rate=exact(most.rate), level=_pool(most), sure=probability(most.probability),
            )  # fmt: skip
        sentences = [
            _(
                "beyond {level} at {rate} requests/s ({sure} sure; the largest is {worse} worse)",
                rate=exact(turn.rate), level=_pool(turn), sure=probability(turn.probability),
                worse=percent(turn.worse),
            )
            for turn in there
            if turn.probability >= CONFIDENCE
        ]  # fmt: skip
        return _("More hurts {places}.", places=join(sentences, "; "))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before anything else."""
        judged, borne = self.judged_rate, self.judged_rate if self.wanted is None else self.wanted
        wanted = f"The required rate, {exact(borne)} requests/s, was not"
        cells = self.feasibility.cells.values()
        unknown = sum(len(cell.unknown) for cell in cells)
        failed = [why for cell in cells for why in cell.failed]
        unsteady = int((~self.warmups["is_steady"].astype(bool)).sum())
        sentences = {
            f"{wanted} reached: the highest measured is {exact(judged)}.": judged < borne,
            f"{wanted} measured; the next one up, {exact(judged)}, decides.": judged > borne,
            f"Left out: {_trials(unknown)} whose load was not made as asked, which says nothing "
            "of the server.": unknown,
            f"{_trials(len(failed))} failed at the server, so all objectives are missed there; the "
            f"first: {''.join(failed[:1]).rstrip('.')}.": failed,
            "Nothing was repeated, so the noise is unknown and the confidences are too "
            "high.": not self.feasibility.scatter_known,
            f"{_trials(unsteady)} never became steady: what was measured depends on how long "
            "it took.": unsteady,
        }
        return (*self.left_out, *(sentence for sentence, is_so in sentences.items() if is_so))

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.by_rate.to_string()}"

    def _repr_html_(self) -> str:
        return str(self.by_rate.to_html())


def _trials(n: int) -> str:
    return "1 trial" if n == 1 else f"{n} trials"


def _pool(turn: Reversal) -> str:
    return "" if turn.start is None else exact(turn.start)


def capacity(
    frame: pd.DataFrame | Run,
    pool: str = "",
    rate: str = "",
    objectives: Mapping[str, Any] | None = None,
    *,
    response: str = "",
    goal: str | None = None,
    wanted: float | None = None,
) -> LoadTest:
    """Which pools meet all objectives at which rates, how sure that is, and where more hurts.

    frame: a run of a load test, whose study says the rest and whose warm-up is cut out; or trials,
    one row each: those for warm-up and those not trusted are left out, one that the server failed
    misses every objective. pool, rate: columns of the two factors, numbers. objectives: by column,
    the largest value allowed, in the column's unit or with its own ("100 ms"), or {"at_least": ...}
    for the smallest. response: column whose curve is fitted at each rate, by default that of the
    first objective. goal: min or max, by default what its name says. wanted: the rate to be borne
    [1/s].

    `.confidence` has one row a rate and one column a pool; `.smallest(rate)` and `.by_rate` name
    pools, `.by_pool` rates.

    Raises PhaseError if a column is missing, or a level is not a number, or an objective is no
    bound; TableError if a run has no rate.

    >>> import pandas as pd
    >>> trials = pd.DataFrame({"pool_size": [8, 16] * 4, "rate": [100] * 8})
    >>> trials["latency_p99_ms"] = [140.0, 60.0, 150.0, 61.0, 145.0, 59.0, 148.0, 60.5]
    >>> capacity(trials, "pool_size", "rate", {"latency_p99_ms": "100 ms"}).smallest(100).pool
    16.0
    """
    if isinstance(frame, Run):
        return _of_run(frame)
    bounds = _objectives(objectives or {})
    if not (pool and rate and (bounds or response)):
        raise PhaseError(
            "Name the columns of pool and rate, and objectives such as {'latency_p99_ms': 100} or "
            "a response."
        )
    response = response or bounds[0].column
    seen = experiment_in(frame, pool, response, goal, (rate,))
    trials = seen.table
    for column in (bound.column for bound in bounds if bound.column in trials):
        trials = experiment_in(trials, pool, column, goal, (rate,)).table
    trials = trials.assign(**{RATE: trials[rate]})
    return _load_test(trials, pool, response, seen.goal, bounds, wanted)


def _of_run(run: Run) -> LoadTest:
    study, source = run.study, run.source
    trials, fixed = source.trials, getattr(study.workload, RATE, None)
    if RATE not in trials and fixed is not None:
        trials = trials.assign(**{RATE: float(fixed)})
    factors = study.factor_names()
    bounds, load = objectives_of(study.objectives, (*factors, RATE))
    asked = (source.knob, source.response, source.goal, bounds, load.get(RATE))
    return _load_test(trials, *asked, run.histograms, factors)


def _objectives(bounds: Mapping[str, Any]) -> tuple[Objective, ...]:
    """The objectives that bounds make. Raises PhaseError for one that is none."""
    specs: dict[str, ObjectiveSpec] = {}
    for column, bound in bounds.items():
        written = {column: bound if isinstance(bound, Mapping) else {"at_most": bound}}
        try:
            specs |= OBJECTIVES.validate_python(in_own_units(written))
        except ValueError as error:
            raise PhaseError(
                f"The objective on {column} is {bound!r}; write a number, alone or with a unit of "
                "its kind (100, '100 ms'), or {'at_least': number}."
            ) from error
    return objectives_of(specs)[0]


def _load_test(
    trials: pd.DataFrame,
    pool: str,
    response: str,
    goal: str,
    objectives: Sequence[Objective],
    wanted: float | None,
    histograms: pd.DataFrame = NO_HISTOGRAMS,
    others: Sequence[str] = (),
) -> LoadTest:
    """A load test over pools and rates.

    trials: every attempt, one row each, with `rate`, and `status`, `trusted`, `warmup` where they
    are known. histograms: slices of the trials as a run keeps them, of which a warm-up that reaches
    into the measured window is cut out. others: further factors, of which one level is shown.

    Raises PhaseError if an objective bounds a column that the trials do not have, TableError
    without a rate, or without a trial that says anything.
    """
    if RATE not in trials:
        raise TableError("The trials have no rate, neither as a factor nor in their workload.")
    trials, left_out = _one_slice(trials, (pool, RATE), others)
    kept = histograms
    if len(kept) and "attempt" in trials:
        last = trials.groupby("trial")["attempt"].max()
        kept = kept[kept["attempt"] == kept["trial"].map(last)]
    # The histogram that the response is a statistic of; that of the requests where it is of none.
    metric = Objective(response, "at_most", 0.0).metric or "latency_us"
    cold = cold_starts(series(kept, metric))
    counts = trial_counts(kept, dict(zip(map(int, cold.index), cold["begins_s"], strict=True)))
    trials = _freed(trials, counts, cold.index[cold["begins_s"] > 0])
    known = counted(trials)
    sound = known[is_well(known)]
    judgeable = _judgeable(trials, sound, pool)
    if sound.empty and (judgeable.empty or not objectives):
        errors = trials["error"].dropna() if "error" in trials else trials.iloc[:0]
        first = f"; the first: {str(errors.iloc[0]).rstrip('.')}" if len(errors) else ""
        raise TableError(
            f"No trial of this load test ended well{first}. `deadzone run STUDY --rehearse` tries "
            "both ends of the range."
        )
    harmless = tolerated_response(response, objectives)
    cells = cells_of(judgeable, pool, RATE, objectives, counts)
    models: dict[float, PhaseModel] = {}
    problem = ""
    try:
        curves = slices_of(answer(sound, pool, response, goal, by=(RATE,)), sound)
        models = {float(rate): model for rate, model in curves.items()}
    except PhaseError as error:
        problem = str(error)
    rates = sorted(float(rate) for rate in trials[RATE].dropna().unique())
    numbered = sound.assign(trial=sound.get("trial", sound.index))
    own = numbered.drop_duplicates("trial", keep="last").set_index("trial")[[pool, RATE]]
    return LoadTest(
        sound, pool, response, goal, wanted, judged_level(rates, wanted), models, problem,
        tuple(reversals(models, sound, harmless)), feasibility(cells, objectives),
        own.join(cold, how="inner"), left_out,
    )  # fmt: skip


def _one_slice(
    trials: pd.DataFrame, shown: Sequence[str], others: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The trials at one level of every factor beside pool and rate, and what to say of it."""
    sentences = []
    for name in (other for other in others if other not in shown):
        if name in trials and trials[name].astype(str).nunique() > 1:
            trials = trials[trials[name] == (level := trials[name].iloc[0])]
            sentences.append(f"Other factors vary too; shown is {name} = {level} alone.")
    return trials, tuple(sentences)


def _freed(
    trials: pd.DataFrame, counts: Mapping[int, Mapping[str, Counts]], cut: Iterable[int]
) -> pd.DataFrame:
    """The trials with the statistics of those whose warm-up was cut out taken from what is left."""
    freed = trials.copy()
    for column, trial in product(trials.columns, cut):
        objective = Objective(str(column), "at_most", 0.0)
        own = counts.get(trial, {}).get(objective.metric or "")
        if own is not None:
            value = statistic(objective, own)
            freed[column] = freed[column].mask(freed["trial"] == trial, value)
    return freed


def _judgeable(trials: pd.DataFrame, sound: pd.DataFrame, pool: str) -> pd.DataFrame:
    """The trials that count for or against a cell: the sound ones, and the last attempts that ended
    badly."""
    if "status" not in trials:
        return sound
    own = [pool, RATE, "trial"]  # a table may count the trials of each cell from 1
    last = trials.groupby(own, dropna=False).tail(1) if "trial" in trials else trials
    bad = last[~is_well(last) & ~marked(last, "warmup", missing=False)]
    return pd.concat([sound, bad]).sort_index()
