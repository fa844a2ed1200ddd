"""The finding of a fit in one line, for the title of a figure or a table of studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deadzone.phases.candidates import level_text
from deadzone.phases.quantities import listing, response

if TYPE_CHECKING:
    from deadzone.phases.model import PhaseModel
    from deadzone.phases.recommend import Recommendation

TITLE_UNCERTAINTY = 0.1
"""A title shows values as if they were this uncertain, which leaves three digits: more is for the tables."""

FLAT = 0.1
"""A single plateau that changes by less than this in ln(response) over the whole range is called flat."""


def finding(model: PhaseModel, advice: Recommendation) -> str:
    """What the fit says, in a line: `Best setting 12 cores (3.48 s); dead zone 4-6; nothing to gain beyond 12`.

    advice: a recommendation made from the same model. Says so where no setting is recommended.
    """
    parts = [_advice(model, advice), _dead_zones(model), _ending(model)]
    return "; ".join(part for part in parts if part)


def _advice(model: PhaseModel, advice: Recommendation) -> str:
    if advice.setting is None:
        return "No setting does what was asked"
    row = advice.table[[item == advice.setting for item in advice.table["setting"]]].iloc[0]
    estimate = float(row["estimate"])
    value = response(estimate, advice.quantity, TITLE_UNCERTAINTY * estimate)
    return f"{_opening(advice)} {_unbroken(row['name'])} ({_unbroken(value)})"


def _unbroken(text: str) -> str:
    """The text with spaces at which no line is broken: a number stays with its unit."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _opening(advice: Recommendation) -> str:
    return {
        "fastest": "Best setting" if len(advice.tied) == 1 else "Cheapest of the best:",
        "within": "Cheapest within the tolerance:",
        "targets": "Meets the targets:",
        "cost": "Least cost:",
    }[advice.goal]


def _dead_zones(model: PhaseModel) -> str:
    zones = model.phases[model.phases["label"] == "dead_zone"]
    spans = [
        f"{level_text(model, start)}-{level_text(model, stop)}"
        for start, stop in zip(zones["start"], zones["stop"], strict=True)
    ]
    return f"dead zone{'s' if len(spans) > 1 else ''} {listing(spans)}" if spans else ""


def _ending(model: PhaseModel) -> str:
    last = model.phases.iloc[-1]
    start, stop = level_text(model, float(last["start"])), level_text(model, float(last["stop"]))
    if len(model.phases) == 1 and last["label"] == "plateau":
        change = float(np.ptp(np.log(model.levels["fitted"].to_numpy(float))))
        if change < FLAT:
            return f"the knob makes no difference from {start} to {stop}"
    return {
        "plateau": f"nothing to gain beyond {start}",
        "reversal": f"worse beyond {start}",
        "linear": f"still improving at {stop}",
        "breakthrough": f"still improving at {stop}",
    }.get(str(last["label"]), "")
