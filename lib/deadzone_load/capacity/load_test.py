"""A load test as a whole: which pool meets its objectives at which rate, where more hurts, and what
warm-up does to it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.findings.fitting import slices_of
from deadzone.analysis.objectives.cells import (
    Counts,
    Objective,
    cells_of,
    statistic,
    trial_counts,
)
from deadzone.analysis.objectives.feasibility import (
    CONFIDENCE,
    HOPELESS,
    Feasibility,
    SmallestPool,
    feasibility,
)
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import percent, plain_name, probability, setting
from deadzone.analysis.settings.answering import answer
from deadzone.analysis.trial_columns import counted, marked, well
from deadzone.errors import PhaseError
from deadzone.language.formats import exact
from deadzone.plugins import TableError, listing
from deadzone.store.histograms import series
from deadzone.study.claims_of_study import RATE, judged_level
from deadzone_load.capacity.cold_start import ColdStart, cold_start
from deadzone_load.capacity.littles_law import littles_law
from deadzone_load.capacity.reversal import Reversal, reversals, reversals_alone, tolerated_response

NO_OBJECTIVES = "The study names no objectives, so no setting is called good enough."

NO_HISTOGRAMS = pd.DataFrame(columns=["trial", "attempt", "metric", "t_s", "histogram"])


@dataclass(frozen=True, eq=False)
class LoadTest:
    """A load test of pools over rates, freed of warm-up.

    trials: those that the analysis rests on, one row each, with `rate`. pool, response, goal: what
    was turned and judged. wanted: the rate to be borne, or None; judged_rate: the measured rate it
    is judged by. models: the phases of the response over the pool, by rate; empty where none can be
    fitted, for the reason `problem`. reversals: where more hurts, a rate each. feasibility: every
    cell against the objectives, None without any. cold_start: the warm-up of every trial.
    littles_law: how full each cell is, one row each. left_out: what is not shown.
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
    feasibility: Feasibility | None
    cold_start: ColdStart
    littles_law: pd.DataFrame
    left_out: tuple[str, ...]

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that were measured, rising [1/s]."""
        return tuple(sorted(float(rate) for rate in self.trials[RATE].dropna().unique()))

    @property
    def confidence(self) -> pd.DataFrame:
        """Probability that every objective is met, one row a rate, one column a pool; empty without
        objectives."""
        return pd.DataFrame() if self.feasibility is None else self.feasibility.confidence

    def smallest(self, rate: float) -> SmallestPool:
        """The smallest pool that meets all objectives at a rate. Raises PhaseError without
        objectives."""
        if self.feasibility is None:
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
            row |= {"best": advice.setting, "tied": ", ".join(exact(pool) for pool in advice.tied)}
        if self.feasibility is not None and (smallest := self.feasibility.smallest(rate)).sure:
            likely = smallest.likely if smallest.pool is None else smallest.pool
            row |= {
                "smallest": smallest.pool,
                "likely": likely,
                "confidence": smallest.sure[smallest.named[1]],
            }
        if turning is not None and turning.start is not None:
            ends = {"hurts_low": turning.low, "hurts_high": turning.high}
            row |= {"hurts_beyond": turning.start, **ends, "hurts_probability": turning.probability}
        return row

    @cached_property
    def by_pool(self) -> pd.DataFrame:
        """One row a pool: rate_shown (the highest rate up to which it is shown to meet all
        objectives), rate_low and rate_high (90 % interval; 0 is below the lowest rate), limited_by
        (what gives way next). Empty without objectives."""
        if self.feasibility is None:
            return pd.DataFrame()
        borne = {pool: self.feasibility.capacity(pool) for pool in self.feasibility.cells.pools}
        rows = {pool: asdict(capacity) for pool, capacity in borne.items() if capacity is not None}
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(self.pool)
        return table.rename(columns={name: f"rate_{name}" for name in ("shown", "low", "high")})

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row a cell, by rate and pool: n (trials), the typical value of each bounded column,
        missed (objectives that its typical trial misses) and confidence. Empty without objectives.
        """
        if self.feasibility is None:
            return pd.DataFrame()
        rows = {}
        for place, cell in self.feasibility.cells.by_place.items():
            judged = self.feasibility.judged.get(place)
            missed = self.feasibility.missed(place) if judged else ()
            rows[place[::-1]] = {
                "n": len(cell.trials),
                **{
                    bound.column: cell.typical(bound.column)
                    for bound in self.feasibility.objectives
                },
                "missed": ", ".join(bound.column for bound in missed),
                "confidence": judged.confidence if judged else np.nan,
            }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis([RATE, self.pool])
        return table.sort_index()

    @cached_property
    def warmups(self) -> pd.DataFrame:
        """One row a trial that has a course over time: its pool and rate, length_s with low_s and
        high_s, probability, first_ms and steady_ms (mean latency of the first second and
        afterwards), mean_bias (share by which the warm-up would move the mean), matters."""
        cold = self.cold_start
        names = ("length_s", "low_s", "high_s", "probability", "mean_bias", "matters")
        rows = {
            trial: {name: getattr(warmup, name) for name in names}
            | {"first_ms": cold.first_ms[trial], "steady_ms": cold.steady_ms[trial]}
            for trial, warmup in cold.warmups.items()
        }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("trial")
        if not rows:
            return table
        where = self.trials.drop_duplicates("trial", keep="last").set_index("trial")[
            [self.pool, RATE]
        ]
        return where.join(table, how="inner")

    def verdict(self) -> str:
        """The smallest pool that meets all objectives at the rate that is judged; without any, the
        best one there, and where more hurts."""
        pool, rate = plain_name(self.pool), f"{exact(self.judged_rate)} requests/s"
        if self.feasibility is None:
            sentences = (self._best(), self.where_more_hurts(), NO_OBJECTIVES)
            return " ".join(sentence for sentence in sentences if sentence)
        smallest = self.feasibility.smallest(self.judged_rate)
        if not smallest.sure:
            return f"At {rate} no trial says what the server does."
        key, level = smallest.named
        sure = probability(smallest.sure[level])
        if key == "smallest":
            sentence = (
                f"Set {setting(level, self.pool)}: the smallest that meets all objectives at "
                f"{rate} ({sure} sure)."
            )
            rest = [exact(pool) for pool in smallest.undecided]
            return (
                f"{sentence} Of smaller ones {listing(rest)} can neither be shown to meet them nor "
                "to miss them."
                if rest
                else sentence
            )
        if key == "smallest_likely":
            wanted = percent(CONFIDENCE)
            return (
                f"No {pool} is {wanted} sure to meet all objectives at {rate}; {exact(level)} is "
                f"the smallest that probably does ({sure})."
            )
        nearest = (
            f"; nearest is {exact(level)} ({sure} sure)" if smallest.sure[level] > HOPELESS else ""
        )
        return f"No {pool} that was tried meets all objectives at {rate}{nearest}."

    def _best(self) -> str:
        """The best pool at the rate that is judged, or that none is told from another there; empty
        where no curve could be fitted."""
        model = self.models.get(self.judged_rate)
        if model is None:
            return ""
        rate, advice = f"{exact(self.judged_rate)} requests/s", model.recommend()
        if advice.setting is not None and len(advice.tied) < len(model.levels):
            return f"At {rate}: {advice.reason}"
        return (
            f"At {rate} no setting of {plain_name(self.pool)} is shown to be better than another; "
            "a higher rate, at which the server has to queue, may tell them apart."
        )

    def where_more_hurts(self) -> str:
        """The sentence on where the curves turn back."""
        if not self.models:
            return f"No phases could be fitted: {self.problem}"
        there = [(turn, turn.start) for turn in self.reversals if turn.start is not None]
        if not there:
            largest = max(float(model.levels["level"].max()) for model in self.models.values())
            return (
                f"At no rate does the curve turn back: more does not hurt up to {exact(largest)}."
            )
        sure = [(turn, start) for turn, start in there if turn.probability >= CONFIDENCE]
        if not sure:
            most, start = max(there, key=lambda pair: pair[0].probability)
            return (
                f"That more hurts is not shown: at {exact(most.rate)} requests/s, beyond "
                f"{exact(start)}, it is {probability(most.probability)} sure. A higher rate, or "
                "more replicates, may show it."
            )
        sentences = [
            f"beyond {exact(start)} at {exact(turn.rate)} requests/s "
            f"({probability(turn.probability)} sure; the largest is {percent(turn.worse)} worse)"
            for turn, start in sure
        ]
        return f"More hurts {'; '.join(sentences)}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before anything else."""
        return (*self.left_out, *self._of_the_rate(), *self._of_the_cells(), *self._of_warm_up())

    def _of_the_rate(self) -> list[str]:
        wanted, judged = self.wanted, exact(self.judged_rate)
        if wanted is None or self.judged_rate == wanted:
            return []
        if self.judged_rate < wanted:
            return [
                f"The rate to be borne, {exact(wanted)} requests/s, was not reached: the highest "
                f"measured is {judged}."
            ]
        return [
            f"The rate to be borne, {exact(wanted)} requests/s, was not measured; the next one up, "
            f"{judged}, decides."
        ]

    def _of_the_cells(self) -> list[str]:
        if self.feasibility is None:
            return []
        cells = self.feasibility.cells.by_place.values()
        unknown = [why for cell in cells for why in cell.unknown]
        failed = [why for cell in cells for why in cell.failed]
        sentences = []
        if unknown:
            sentences.append(
                f"{_trials(len(unknown))} left out: the load was not made as asked, which says "
                "nothing of the server."
            )
        if failed:
            sentences.append(
                f"{_trials(len(failed))} failed at the server and miss all objectives; the first: "
                f"{failed[0].rstrip('.')}."
            )
        if not self.feasibility.scatter_known:
            sentences.append(
                "Nothing was repeated: how much trials differ is not known, and the confidences "
                "are too high."
            )
        return sentences

    def _of_warm_up(self) -> list[str]:
        if not self.cold_start.unsteady:
            return []
        return [
            f"{_trials(len(self.cold_start.unsteady))} never became steady: the figures depend on "
            "how long they lasted."
        ]

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.by_rate.to_string()}"

    def _repr_html_(self) -> str:
        return str(self.by_rate.to_html())


def _trials(n: int) -> str:
    return "1 trial is" if n == 1 else f"{n} trials are"


def load_test(
    trials: pd.DataFrame,
    pool: str,
    response: str,
    goal: str = "min",
    *,
    objectives: Sequence[Objective] = (),
    wanted: float | None = None,
    histograms: pd.DataFrame | None = None,
    others: Sequence[str] = (),
) -> LoadTest:
    """A load test over pools and rates.

    trials: every attempt, one row each, with `rate`, and `status`, `trusted`, `warmup` where they
    are known. pool: its knob. wanted: the rate to be borne [1/s]. histograms: slices of the trials
    as a run keeps them, of which a warm-up that reaches into the measured window is cut out.
    others: further factors, of which one level is shown.

    Raises PhaseError if an objective bounds a column that the trials do not have, TableError
    without a rate, or without a trial that says anything.
    """
    if RATE not in trials:
        raise TableError("The trials have no rate, neither as a factor nor in their workload.")
    trials, left_out = _one_slice(trials, (pool, RATE), others)
    kept = _of_last_attempts(NO_HISTOGRAMS if histograms is None else histograms, trials)
    # The histogram that the response is a statistic of; that of the requests where it is of none.
    metric = Objective(response, "at_most", 0.0).metric or "latency_us"
    cold = cold_start(series(kept, metric))
    counts = trial_counts(kept, cold.begins_s)
    trials = _freed(trials, counts, cold.reaching_in)
    sound = well(counted(trials))
    judgeable = _judgeable(trials, sound)
    if sound.empty and (judgeable.empty or not objectives):
        raise TableError(f"No trial of this load test ended well{_first_failure(trials)}.")
    harmless = tolerated_response(response, objectives)
    models, problem = _models(sound, pool, response, goal, harmless)
    cells = cells_of(judgeable, pool, RATE, objectives, counts)
    rates = sorted(float(rate) for rate in trials[RATE].dropna().unique())
    turning = reversals(models, sound, harmless=harmless) if models else ()
    judged = feasibility(cells, objectives) if objectives else None
    return LoadTest(
        sound, pool, response, goal, wanted, judged_level(rates, wanted), models, problem,
        tuple(turning), judged, cold, littles_law(sound, pool, RATE), left_out,
    )  # fmt: skip


def _first_failure(trials: pd.DataFrame) -> str:
    """How the first of some trials failed, as the end of a sentence."""
    errors = trials["error"].dropna() if "error" in trials else trials.iloc[:0]
    return f"; the first: {str(errors.iloc[0]).rstrip('.')}" if len(errors) else ""


def _models(
    sound: pd.DataFrame, pool: str, response: str, goal: str, harmless: float | None
) -> tuple[dict[float, PhaseModel], str]:
    """The curve of each rate, and why there is none."""
    try:
        models = slices_of(answer(sound, pool, response, goal, by=(RATE,)), sound)
        models = reversals_alone(models, harmless)
    except PhaseError as error:
        return {}, str(error)
    return {float(rate): model for rate, model in models.items()}, ""


def _one_slice(
    trials: pd.DataFrame, shown: Sequence[str], others: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The trials at one level of every factor beside pool and rate, and what to say of it."""
    sentences = []
    for name in others:
        if name in shown or name not in trials or trials[name].astype(str).nunique() < 2:
            continue
        level = trials[name].iloc[0]
        trials = trials[trials[name] == level]
        sentences.append(f"Other factors vary too; shown is {name} = {level} alone.")
    return trials, tuple(sentences)


def _of_last_attempts(histograms: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    if histograms.empty or "attempt" not in trials:
        return histograms
    last = trials.groupby("trial")["attempt"].max()
    return histograms[histograms["attempt"] == histograms["trial"].map(last)]


def _freed(
    trials: pd.DataFrame, counts: Mapping[int, Mapping[str, Counts]], cut: Sequence[int]
) -> pd.DataFrame:
    """The trials with the statistics of those whose warm-up was cut out taken from what is left."""
    freed = trials.copy()
    for column, trial in product(trials.columns, cut):
        objective, own = Objective(str(column), "at_most", 0.0), counts.get(trial, {})
        if objective.metric is not None and objective.metric in own:
            freed[column] = freed[column].mask(
                freed["trial"] == trial, statistic(objective, own[objective.metric])
            )
    return freed


def _judgeable(trials: pd.DataFrame, sound: pd.DataFrame) -> pd.DataFrame:
    """The trials that count for or against a cell: the sound ones, and the last attempts that ended
    badly."""
    if "status" not in trials:
        return sound
    last = trials.groupby("trial").tail(1).index if "trial" in trials else trials.index
    bad = trials[
        (trials["status"] != "ok")
        & ~marked(trials, "warmup", missing=False)
        & trials.index.isin(last)
    ]
    return pd.concat([sound, bad]).sort_index()
