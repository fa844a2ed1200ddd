"""The verdict of a fit in one line, for the title of a figure or a table of studies."""

import numpy as np

from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.quantities import listing, response
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.catalogue import Message, join, say

TITLE_UNCERTAINTY = 0.1
"""A title shows values as if they were this uncertain, which leaves three digits: more is for the tables."""

MOST_AS_WELL = 4
"""Of more settings that do as well the decision names the first and the last, and counts the rest."""

FLAT = 0.1
"""A single plateau that changes by less than this in ln(response) over the whole range is called flat."""


def verdict(model: PhaseResult, advice: Recommendation) -> Message:
    """What the fit says, in a line: `Best setting 12 cores (3.48 s); dead zone 4-6; nothing to gain beyond 12`.

    advice: a recommendation made from the same model. Says so where no setting is recommended.
    """
    parts = [advice_text(advice), _dead_zones(model), _ending(model)]
    return join(parts, "; ")


def advice_text(advice: Recommendation) -> str:
    """The recommended setting in words, with its estimate: `Best setting 12 cores (3.48 s)`."""
    if advice.setting is None:
        return say("verdict.of_work" if advice.is_of_work else "verdict.no_setting")
    opening = _opening(advice, float(advice.chosen["loss"]))
    return say("verdict.advice", opening=opening, chosen=chosen_text(advice))


def decision(advice: Recommendation) -> Message:
    """The setting to choose, what it gives and how sure that is, in one form for every reader.

    `Set 2 threads: 0.178 s, >99 % sure to be within 3.0 % of the best. 3 threads do as well.` For other goals than the
    fastest, and where no setting does what was asked, the reason of the recommendation.
    """
    if advice.setting is None or advice.goal != "fastest":
        return join([advice.reason])
    row = advice.chosen
    half = (float(row["high"]) - float(row["low"])) / 2
    value = response(float(row["estimate"]), advice.quantity, half)
    if advice.doubt:
        return say("verdict.set_doubted", setting=row["name"], value=value, doubt=advice.doubt)
    said = say(
        "verdict.set",
        setting=row["name"],
        value=value,
        chance=float(row["within"]),
        tolerance=advice.tolerance,
    )
    table = advice.table
    others = [str(name) for name in table["name"][table["tied"] & (table["name"] != row["name"])]]
    as_well = say("verdict.as_well", settings=listing(others, MOST_AS_WELL), n=len(others)) if others else ""
    return join([said, as_well])


def chosen_text(advice: Recommendation) -> str:
    """The recommended setting with its estimate: `12 cores (3.48 s)`."""
    if advice.setting is None:
        return say("verdict.no_setting")
    row = advice.chosen
    estimate = float(row["estimate"])
    value = response(estimate, advice.quantity, TITLE_UNCERTAINTY * estimate)
    return say("verdict.chosen", setting=_unbroken(row["name"]), value=_unbroken(value))


def _unbroken(text: str) -> str:
    """The text with spaces at which no line is broken: a number stays with its unit."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _opening(advice: Recommendation, loss: float) -> str:
    is_cheapest = advice.is_ordered and advice.setting == advice.tied[0]
    if advice.goal == "fastest" and len(advice.tied) > 1 and loss == 0 and not is_cheapest:
        return say("verdict.best_estimate")
    if advice.goal == "fastest":
        return say("verdict.best" if len(advice.tied) == 1 else "verdict.tied")
    return say(f"verdict.{advice.goal}")


def _dead_zones(model: PhaseResult) -> str:
    zones = model.phases[model.phases["label"] == "dead_zone"]
    spans = [
        f"{level_text(model, start)}-{level_text(model, stop)}"
        for start, stop in zip(zones["start"], zones["stop"], strict=True)
    ]
    return say("verdict.dead_zones", n=len(spans), spans=listing(spans)) if spans else ""


def _ending(model: PhaseResult) -> str:
    last = model.phases.iloc[-1]
    start, stop = level_text(model, float(last["start"])), level_text(model, float(last["stop"]))
    if len(model.phases) == 1 and last["label"] == "plateau":
        change = float(np.ptp(np.log(model.levels["fitted"].to_numpy(float))))
        if change < FLAT:
            return say("verdict.no_difference", start=start, stop=stop)
    key = {
        "plateau": "verdict.nothing_beyond",
        "reversal": "verdict.worse_beyond",
        "linear": "verdict.still_improving",
        "breakthrough": "verdict.still_improving",
    }.get(str(last["label"]))
    return say(key, start=start, stop=stop) if key else ""
