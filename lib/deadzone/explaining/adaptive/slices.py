"""The proposer of a sweep: the next treatments of a study, where it has several factors in the slice that tells most.

The curve over the knob is fitted for each combination of the other factors, as the report does it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from deadzone.explaining.adaptive.cell_search import next_cells, seeks_cells
from deadzone.explaining.adaptive.proposing import Proposal, propose
from deadzone.explaining.adaptive.rate_search import next_rates
from deadzone.language.catalogue import Message, say
from deadzone.store.table import rows_at
from deadzone.study.design import NextTreatments, Treatment
from deadzone.study.levels import Level, format_level
from deadzone.study.plan import Plan


@dataclass(frozen=True)
class _Slice:
    """The treatments at one combination of the other factors, by the level of the knob."""

    others: Mapping[str, Level]
    treatments: dict[Level, Treatment]


def proposer_of(plan: Plan) -> Callable[[pd.DataFrame], NextTreatments]:
    """What chooses the next trials of a plan from the tidy table of those before, without warm-up."""
    if plan.study.search:
        return lambda table: next_rates(plan, table)
    if seeks_cells(plan):
        return lambda table: next_cells(plan, table)
    slices = _slices(plan)

    def choose(table: pd.DataFrame) -> NextTreatments:
        answers = [
            (one, _propose(plan, one, rows_at(table, one.others) if len(table) else table)) for one in slices
        ]
        waiting = [(one, said) for one, said in answers if said.levels]
        still_open = tuple(_of_slice(one, said) for one, answer in answers for said in answer.open)
        if not waiting:
            reasons = dict.fromkeys(_of_slice(one, said.reason) for one, said in answers)
            reason = next(iter(reasons)) if len(reasons) == 1 else say("adaptive.all_slices", n=len(slices))
            return NextTreatments((), reason, (), still_open, 0.0)
        # An opening has no gain yet, and comes first: nothing can be said of a slice without it.
        best, found = min(waiting, key=lambda pair: (sum(pair[1].gain) > 0, -sum(pair[1].gain)))
        treatments = tuple(_treatment(plan, best, level) for level in found.levels)
        return NextTreatments(treatments, _of_slice(best, found.reason), found.gain, still_open, found.cost)

    return choose


def _propose(plan: Plan, one: _Slice, rows: pd.DataFrame) -> Proposal:
    design, response = plan.design, plan.study.response
    return propose(
        rows, plan.study.knob_name, response.name, tuple(one.treatments), response.goal,
        batch=design.batch, seed=design.seed, until=design.until,
    )  # fmt: skip


def _treatment(plan: Plan, one: _Slice, level: Level) -> Treatment:
    """The treatment at a level of the knob; at one that was not listed, with what equals the knob."""
    if level in one.treatments:
        return one.treatments[level]
    knob, like = plan.study.knob_name, next(iter(one.treatments.values()))
    follows = {name for name, factor in plan.study.factors.items() if getattr(factor, "equals", None) == knob}
    return Treatment({name: level if name in (knob, *follows) else old for name, old in like.levels.items()})


def _of_slice(one: _Slice, said: Message) -> Message:
    if not one.others:
        return said
    name = ", ".join(f"{factor}={format_level(level)}" for factor, level in one.others.items())
    return say("adaptive.in_slice", slice=name, said=said)


def _slices(plan: Plan) -> list[_Slice]:
    """The treatments of a plan by what they have beside the knob and what follows from it."""
    knob = plan.study.knob_name
    levels = {treatment.levels[knob] for treatment in plan.treatments}
    others = [
        name
        for name in plan.factors
        if name != knob and len({(t.levels[knob], t.levels[name]) for t in plan.treatments}) > len(levels)
    ]
    found: dict[str, _Slice] = {}
    for treatment in plan.treatments:
        fixed = {name: treatment.levels[name] for name in others}
        one = found.setdefault(Treatment(fixed).label(), _Slice(fixed, {}))
        one.treatments[treatment.levels[knob]] = treatment
    return list(found.values())
