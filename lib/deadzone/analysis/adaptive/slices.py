"""The proposer of a sweep: the next treatments of a study, where it has several factors in the
slice that tells most.

The curve over the knob is fitted for each combination of the other factors, as the report does it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from deadzone import packs
from deadzone.analysis.adaptive.proposing import Proposal, propose
from deadzone.analysis.trial_columns import last_attempts
from deadzone.errors import PhaseError, UnsearchableError
from deadzone.language.messages import Message
from deadzone.store.table import rows_at
from deadzone.study.design import NextTreatments, Treatment
from deadzone.study.factors import FactorSpec
from deadzone.study.levels import Level, format_level
from deadzone.study.plan import Plan
from deadzone.study.reasons import reason


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
    if plan.study.is_search:
        return lambda table: _next_cells(plan, table)
    slices, design, response = _slices(plan), plan.study.design, plan.study.response
    knob = plan.study.knob_name
    written = plan.study.factors.get(knob) or FactorSpec()

    def propose_in(part: _Slice, table: pd.DataFrame) -> Proposal:
        return propose(
            last_attempts(rows_at(table, part.others), knob) if len(table) else table,
            knob, response.name, tuple(part.treatments), response.goal,
            batch=design.batch, seed=design.seed, until=design.until,
            scale=written.scale, at=written.at,
        )  # fmt: skip

    def choose(table: pd.DataFrame) -> NextTreatments:
        answers = [(part, propose_in(part, table)) for part in slices]
        waiting = [(part, answer) for part, answer in answers if answer.levels]
        still_open = tuple(
            _of_slice(part, question) for part, answer in answers for question in answer.open
        )
        if not waiting:
            reasons = dict.fromkeys(_of_slice(part, answer.reason) for part, answer in answers)
            why = next(iter(reasons)) if len(reasons) == 1 else reason("all_slices", n=len(slices))
            return NextTreatments((), why, (), still_open)
        # An opening has no gain yet, and comes first: nothing can be said of a slice without it.
        best, proposal = min(waiting, key=lambda pair: (sum(pair[1].gain) > 0, -sum(pair[1].gain)))
        # an opening is longer than a batch
        treatments = tuple(_treatment(plan, best, one) for one in proposal.levels[: design.batch])
        return NextTreatments(
            treatments, _of_slice(best, proposal.reason), proposal.gain, still_open
        )

    return choose


def _next_cells(plan: Plan, table: pd.DataFrame) -> NextTreatments:
    try:
        chosen: NextTreatments = packs.part(lambda pack: pack.next_cells)(plan, table)
    except PhaseError as error:
        raise UnsearchableError(str(error)) from error
    return chosen


def _treatment(plan: Plan, part: _Slice, level: Level) -> Treatment:
    """The treatment at a level of the knob; at one that was not listed, with all that is equal to
    the knob."""
    if level in part.treatments:
        return part.treatments[level]
    factors, like = plan.study.factors, next(iter(part.treatments.values()))
    lead = getattr(factors[plan.study.knob_name], "equals", plan.study.knob_name)
    equals = {name for name, of in factors.items() if getattr(of, "equals", name) == lead}
    return Treatment({name: level if name in equals else old for name, old in like.levels.items()})


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
        for name in plan.study.factor_names()
        if name != knob
        and len({(t.levels[knob], t.levels[name]) for t in plan.treatments}) > len(levels)
    ]
    slices: dict[str, _Slice] = {}
    for treatment in plan.treatments:
        fixed = {name: treatment.levels[name] for name in others}
        part = slices.setdefault(Treatment(fixed).label(), _Slice(fixed, {}))
        part.treatments[treatment.levels[knob]] = treatment
    return list(slices.values())
