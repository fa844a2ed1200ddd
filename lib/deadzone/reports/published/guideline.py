"""The guideline that follows from a fit: how much there is to spend, what to set, and why.

For every budget (the most of the knob that somebody can give) the cheapest setting is taken that the fitted
curve puts within the practical tolerance of the best one that the budget allows. Budgets in a row with the
same answer make a rule.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deadzone.explaining.phases.candidates import level_text, place_of
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import axis_label, listing, response
from deadzone.explaining.phases.recommend import PRACTICAL_TOLERANCE, Recommendation
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Table
from deadzone.reports.figures.curves import ends
from deadzone.style import PHASE_STYLES

Resources = Literal["scarce", "middling", "plenty"]

IMPROVING = ("linear", "breakthrough")


@dataclass(frozen=True)
class Rule:
    """One line of a guideline.

    resources: scarce up to the end of the first phase that pays, plenty from the recommended setting on.
    low, high: budgets that the rule is for, in units of the knob. setting: what to set, or None for all that
    the budget allows. value: the fitted response there, at the top of the budget where setting is None.
    """

    resources: Resources
    low: float
    high: float
    setting: float | None
    value: float


def rules(model: PhaseModel, advice: Recommendation) -> list[Rule]:
    """The rules of a curve, from the smallest budget to the largest."""
    levels = model.levels["level"].to_numpy(float)
    fitted = model.levels["fitted"].to_numpy(float)
    place = place_of(model, advice.setting)
    best = levels[-1] if place is None else place
    first = model.phases.iloc[0]
    scarce = float(first["stop"]) if first["label"] in IMPROVING else levels[0]
    found: list[Rule] = []
    for i, level in enumerate(levels):
        resources: Resources = "plenty" if level >= best else "scarce" if level <= scarce else "middling"
        if resources == "plenty":
            at = int(np.searchsorted(levels, best))
        else:
            at = _affordable(model, levels, fitted, i)
        setting = None if at == i and resources != "plenty" else float(levels[at])
        low = float(level)
        if found and (found[-1].resources, found[-1].setting) == (resources, setting):
            low = found.pop().low
        found.append(Rule(resources, low, float(level), setting, float(fitted[at])))
    return found


def _affordable(model: PhaseModel, levels: np.ndarray, fitted: np.ndarray, budget: int) -> int:
    """Position of the cheapest level up to the budget that is about as good as the best of them."""
    within = fitted[: budget + 1]
    loss = within / within.min() if model.goal == "min" else within.max() / within
    return int(np.argmax(loss <= 1 + PRACTICAL_TOLERANCE))


def guideline_table(model: PhaseModel, advice: Recommendation, identity: str = "guideline") -> Table:
    """The guideline as a table: resources, budget, setting, what to expect, reason."""
    rows = [
        {
            "rule": rule,
            "budget": span(model, rule.low, rule.high),
            "setting": say("guideline.all") if rule.setting is None else level_text(model, rule.setting),
            "expected": response(rule.value, model.response, 0.02 * rule.value),
            "why": reason(model, advice, rule),
        }
        for rule in rules(model, advice)
    ]
    return Table.of("published.guideline", rows, identity, knob=axis_label(model.knob))


def span(model: PhaseModel, low: float, high: float) -> str:
    """A range of levels, or the one level."""
    start, stop = level_text(model, low), level_text(model, high)
    return start if low == high else say("quantity.range", start=start, stop=stop)


def reason(model: PhaseModel, advice: Recommendation, rule: Rule) -> str:
    """Why a rule says what it says, from the phases that its budgets lie in."""
    crossed = _phases_of(model, rule.low, rule.high)
    names = listing([phase_name(model, phase) for phase in crossed])
    if rule.resources == "plenty":
        tied = len(advice.tied)
        return say("guideline.because_plenty" if tied > 1 else "guideline.because_best", phases=names, n=tied)
    return say("guideline.because_all" if rule.setting is None else "guideline.because_less", phases=names)


def _phases_of(model: PhaseModel, low: float, high: float) -> list[dict[Hashable, Any]]:
    """The phases whose steps lead to the levels from low to high; at the first level, the one that begins there."""
    records = model.phases.to_dict("records")
    reached = [p for p in records if float(p["start"]) < high and float(p["stop"]) >= low]
    return [p for p in reached if float(p["stop"]) > low or low == high] or reached or records[:1]


def phase_name(model: PhaseModel, phase: Mapping[Hashable, Any]) -> str:
    """A phase with its steps and elasticity in a few words."""
    name, elasticity = PHASE_STYLES[str(phase["label"])].name, f"{float(phase['elasticity']):.2f}"
    return say("guideline.phase", name=name, elasticity=elasticity, **ends(model, phase))
