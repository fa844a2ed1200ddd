"""Which cells of a load test to measure next: those at the edge of what meets all objectives.

A pool that misses its objectives at a rate is taken to miss them at every higher one until that is measured, so that the edge
lies between two rates of each pool, and is found by bisection. What counts there is replicates, for the capacity of a pool and
the smallest pool at a rate rest on the two cells of its edge; what lies far from it on either side is left out. The trials of
a batch are those whose outcome is least certain (uncertainty sampling: Lewis and Gale 1994, Proceedings of SIGIR, 3-12).
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from deadzone.explaining.adaptive.gains import entropy
from deadzone.explaining.adaptive.proposing import LEAST_GAIN
from deadzone.explaining.capacity.cells import cells_of
from deadzone.explaining.capacity.feasibility import CONFIDENCE, HOPELESS, Feasibility, feasibility
from deadzone.explaining.capacity.objectives import objectives_of
from deadzone.language.catalogue import Message, say
from deadzone.study.design import NextTreatments
from deadzone.study.levels import is_number
from deadzone.study.plan import Plan
from deadzone.study.promises import RATE, judged_level

MOST_REPLICATES = 2
"""A cell that is not decided after so many times the study's replicates lies on the edge itself, and is left open."""

Place = tuple[float, float]


def seeks_cells(plan: Plan) -> bool:
    """Whether the trials of a plan are chosen by its objectives: a load test over one knob and the rate, of which not the
    phases are asked."""
    study, knob = plan.study, plan.study.knob_name
    numbers = all(is_number(one.levels.get(name)) for one in plan.treatments for name in (knob, RATE))
    bounds = objectives_of(study.objectives, study.factor_names()).bounds
    asks = plan.design.until is None or plan.design.until.decide != "phases"
    return bool(bounds) and {*plan.factors} == {knob, RATE} and knob != RATE and numbers and asks


def next_cells(plan: Plan, table: pd.DataFrame) -> NextTreatments:
    """The next trials of a plan: every pool at the load to be borne, then the cells at the edge of each.

    table: the trials so far without warm-up; may be empty.
    """
    rng = np.random.default_rng([plan.design.seed, len(table)])
    knob = plan.study.knob_name
    treatments = {(float(one.levels[knob]), float(one.levels[RATE])): one for one in plan.treatments}
    rates = sorted({rate for _, rate in treatments})
    asked = objectives_of(plan.study.objectives, plan.study.factor_names())
    load = judged_level(rates, asked.load.get(RATE))
    tried = Counter[Place]()
    if len(table):
        tried.update(zip(table[knob].astype(float), table[RATE].astype(float), strict=True))
    each_s = float("nan") if table.empty else float(table["wall_s"].mean())
    opening = [place for place in treatments if place[1] == load and place not in tried]
    if opening:
        order = [opening[i] for i in rng.permutation(len(opening))]
        said = say("adaptive.load_opening", n=len(order), rate=load)
        cells = tuple(treatments[place] for place in order)
        return NextTreatments(cells, said, (0.0,) * len(cells), (), each_s * len(cells))
    found = feasibility(cells_of(table, knob, RATE, asked.bounds), asked.bounds)
    gains, still_open = dict[Place, float](), list[Message]()
    for pool in dict.fromkeys(pool for pool, _ in treatments):
        here = [rate for rate in rates if (pool, rate) in treatments]
        told = {
            (pool, rate): gain
            for rate, gain in _of_pool(found, pool, here, load, tried, plan.design.replicates)
            if gain >= LEAST_GAIN
        }
        if told:
            gains |= told
            between = ", ".join(f"{rate:g}" for _, rate in sorted(told))
            still_open.append(say("adaptive.open_cell", knob=knob, pool=pool, rates=between))
    if not gains:
        return NextTreatments((), say("adaptive.edge_known", n=len(rates)), (), (), 0.0)
    shuffled = [list(gains)[i] for i in rng.permutation(len(gains))]
    best = sorted(shuffled, key=lambda place: -gains[place])[: plan.design.batch]
    chosen = [best[i] for i in rng.permutation(len(best))]
    cells = tuple(treatments[place] for place in chosen)
    per_second = tuple(gains[place] / each_s for place in chosen)
    said = say("adaptive.at_edge")
    return NextTreatments(cells, said, per_second, tuple(still_open), each_s * len(cells))


def _of_pool(
    found: Feasibility,
    pool: float,
    rates: list[float],
    load: float,
    tried: Mapping[Place, int],
    replicates: int,
) -> Iterator[tuple[float, float]]:
    """The rates that are worth a trial, with what one would tell of whether they are borne [nats]."""
    sure = {rate: found.judged[pool, rate].confidence for rate in rates if (pool, rate) in found.judged}
    missed = [rate for rate in rates if sure.get(rate, 1.0) < 0.5]
    high = missed[0] if missed else None
    low = max((rate for rate in sure if high is None or rate < high), default=None)
    unknown = [
        rate
        for rate in rates
        if (pool, rate) not in tried and (low is None or rate > low) and (high is None or rate < high)
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
