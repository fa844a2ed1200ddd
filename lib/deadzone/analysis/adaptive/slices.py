"""The proposer of a sweep: the next treatments of a study, where it has several factors in the
slice that tells most.

The curve over the knob is fitted for each combination of the other factors, as the report does it.

Of a load test the cells at the edge of what meets all objectives are measured next. A pool that
misses its objectives at a rate is taken to miss them at every higher one until that is measured, so
that the edge lies between two rates of each pool, and is found by bisection. What counts there is
replicates, for the capacity of a pool and the smallest pool at a rate rest on the two cells of its
edge; what lies far from it on either side is left out. The trials of a batch are those whose
outcome is least certain (uncertainty sampling: Lewis and Gale 1994, Proceedings of SIGIR, 3-12).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone import packs
from deadzone.analysis.adaptive.gains import entropy
from deadzone.analysis.adaptive.proposing import LEAST_GAIN, Proposal, propose
from deadzone.analysis.objectives.cells import Objective, cells_of, objectives_of
from deadzone.analysis.objectives.feasibility import CONFIDENCE, HOPELESS, Feasibility, feasibility
from deadzone.language.messages import Message
from deadzone.store.table import rows_at
from deadzone.study.claims_of_study import RATE, judged_level
from deadzone.study.design import NextTreatments, Treatment
from deadzone.study.levels import Level, format_level, is_number
from deadzone.study.plan import Plan
from deadzone.study.reasons import reason
from deadzone.study.spec import Study

MOST_REPLICATES = 2
"""A cell that is not decided after so many times the study's replicates lies on the edge itself,
and is left open."""

Place = tuple[float, float]


def bounds_of(study: Study) -> tuple[Objective, ...]:
    """What a rate has to meet."""
    return objectives_of(study.objectives, study.factor_names())[0]


def seeks_cells(plan: Plan) -> bool:
    """Whether the trials of a plan are chosen by its objectives: a load test over one knob and the
    rate, of which not the phases are asked."""
    study, knob = plan.study, plan.study.knob_name
    if not bounds_of(study) or knob == RATE or {*plan.factors} != {knob, RATE}:
        return False
    levels = [treatment.levels.get(name) for treatment in plan.treatments for name in (knob, RATE)]
    asks = plan.design.until is None or plan.design.until.decide != "phases"
    return asks and all(map(is_number, levels))


def next_cells(plan: Plan, table: pd.DataFrame) -> NextTreatments:
    """The next trials of a plan: every pool at the load to be borne, then the cells at the edge of
    each.

    table: the trials so far without warm-up; may be empty.
    """
    rng = np.random.default_rng([plan.design.seed, len(table)])
    knob = plan.study.knob_name
    treatments = {
        (float(treatment.levels[knob]), float(treatment.levels[RATE])): treatment
        for treatment in plan.treatments
    }
    rates = sorted({rate for _, rate in treatments})
    bounds, least = objectives_of(plan.study.objectives, plan.study.factor_names())
    load = judged_level(rates, least.get(RATE))
    tried = Counter[Place]()
    if len(table):
        tried.update(zip(table[knob].astype(float), table[RATE].astype(float), strict=True))
    each_s = float("nan") if table.empty else float(table["wall_s"].mean())
    opening = [place for place in treatments if place[1] == load and place not in tried]
    if opening:
        order = [opening[i] for i in rng.permutation(len(opening))]
        why = reason("load_opening", n=len(order), rate=load)
        cells = tuple(treatments[place] for place in order)
        return NextTreatments(cells, why, (0.0,) * len(cells), (), each_s * len(cells))
    judgement = feasibility(cells_of(table, knob, RATE, bounds), bounds)
    gains, still_open = dict[Place, float](), list[Message]()
    for pool in dict.fromkeys(pool for pool, _rate in treatments):
        here = [rate for rate in rates if (pool, rate) in treatments]
        facts = {
            (pool, rate): gain
            for rate, gain in _of_pool(judgement, pool, here, load, tried, plan.design.replicates)
            if gain >= LEAST_GAIN
        }
        if facts:
            gains |= facts
            between = ", ".join(f"{rate:g}" for _, rate in sorted(facts))
            still_open.append(reason("open_cell", knob=knob, pool=pool, rates=between))
    if not gains:
        return NextTreatments((), reason("edge_known", n=len(rates)), (), (), 0.0)
    shuffled = [list(gains)[i] for i in rng.permutation(len(gains))]
    best = sorted(shuffled, key=lambda place: -gains[place])[: plan.design.batch]
    chosen = [best[i] for i in rng.permutation(len(best))]
    cells = tuple(treatments[place] for place in chosen)
    per_second = tuple(gains[place] / each_s for place in chosen)
    why = reason("at_edge")
    return NextTreatments(cells, why, per_second, tuple(still_open), each_s * len(cells))


def _of_pool(
    judgement: Feasibility,
    pool: float,
    rates: list[float],
    load: float,
    tried: Mapping[Place, int],
    replicates: int,
) -> Iterator[tuple[float, float]]:
    """The rates that are worth a trial, with what one would tell of whether they are borne
    [nats]."""
    judged = judgement.judged
    sure = {rate: judged[pool, rate].confidence for rate in rates if (pool, rate) in judged}
    missed = [rate for rate in rates if sure.get(rate, 1.0) < 0.5]
    high = missed[0] if missed else None
    low = max((rate for rate in sure if high is None or rate < high), default=None)
    unknown = [
        rate
        for rate in rates
        if (pool, rate) not in tried
        and (low is None or rate > low)
        and (high is None or rate < high)
    ]
    if unknown:
        yield unknown[len(unknown) // 2], float(np.log(2))
    for rate in {low, high, load} & {*sure}:
        assert rate is not None
        n, chance = tried.get((pool, rate), 0), sure[rate]
        is_edge = rate != load or load in (low, high)
        if n < replicates and is_edge and not unknown:
            yield rate, max(entropy(np.array([chance, 1 - chance])), LEAST_GAIN)
        elif HOPELESS < chance < CONFIDENCE and n < MOST_REPLICATES * replicates:
            yield rate, entropy(np.array([chance, 1 - chance]))


@dataclass(frozen=True)
class _Slice:
    """The treatments at one combination of the other factors, by the level of the knob."""

    others: Mapping[str, Level]
    treatments: dict[Level, Treatment]


def proposer_of(plan: Plan) -> Callable[[pd.DataFrame], NextTreatments]:
    """What chooses the next trials of a plan from the tidy table of those before, without
    warm-up."""
    if plan.study.search:
        next_rates = packs.part(lambda pack: pack.next_rates)
        return lambda table: next_rates(plan, table)
    if seeks_cells(plan):
        return lambda table: next_cells(plan, table)
    slices = _slices(plan)

    def choose(table: pd.DataFrame) -> NextTreatments:
        answers = [
            (part, _propose(plan, part, rows_at(table, part.others) if len(table) else table))
            for part in slices
        ]
        waiting = [(part, answer) for part, answer in answers if answer.levels]
        still_open = tuple(
            _of_slice(part, question) for part, answer in answers for question in answer.open
        )
        if not waiting:
            reasons = dict.fromkeys(_of_slice(part, answer.reason) for part, answer in answers)
            why = next(iter(reasons)) if len(reasons) == 1 else reason("all_slices", n=len(slices))
            return NextTreatments((), why, (), still_open, 0.0)
        # An opening has no gain yet, and comes first: nothing can be said of a slice without it.
        best, proposal = min(waiting, key=lambda pair: (sum(pair[1].gain) > 0, -sum(pair[1].gain)))
        treatments = tuple(_treatment(plan, best, level) for level in proposal.levels)
        why = _of_slice(best, proposal.reason)
        return NextTreatments(treatments, why, proposal.gain, still_open, proposal.cost)

    return choose


def _propose(plan: Plan, part: _Slice, rows: pd.DataFrame) -> Proposal:
    design, response = plan.design, plan.study.response
    return propose(
        rows, plan.study.knob_name, response.name, tuple(part.treatments), response.goal,
        batch=design.batch, seed=design.seed, until=design.until,
    )  # fmt: skip


def _treatment(plan: Plan, part: _Slice, level: Level) -> Treatment:
    """The treatment at a level of the knob; at one that was not listed, with what equals the
    knob."""
    if level in part.treatments:
        return part.treatments[level]
    knob, like = plan.study.knob_name, next(iter(part.treatments.values()))
    factors = plan.study.factors.items()
    follows = [knob, *(name for name, of in factors if getattr(of, "equals", None) == knob)]
    return Treatment({name: level if name in follows else old for name, old in like.levels.items()})


def _of_slice(part: _Slice, message: Message) -> Message:
    if not part.others:
        return message
    name = ", ".join(f"{factor}={format_level(level)}" for factor, level in part.others.items())
    return reason("in_slice", slice=name, said=message)


def _slices(plan: Plan) -> list[_Slice]:
    """The treatments of a plan by what they have beside the knob and what follows from it."""
    knob = plan.study.knob_name
    levels = {treatment.levels[knob] for treatment in plan.treatments}
    others = [
        name
        for name in plan.factors
        if name != knob
        and len({(t.levels[knob], t.levels[name]) for t in plan.treatments}) > len(levels)
    ]
    slices: dict[str, _Slice] = {}
    for treatment in plan.treatments:
        fixed = {name: treatment.levels[name] for name in others}
        part = slices.setdefault(Treatment(fixed).label(), _Slice(fixed, {}))
        part.treatments[treatment.levels[knob]] = treatment
    return list(slices.values())
