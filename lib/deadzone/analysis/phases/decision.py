"""What is recommended, in words: the one place that says a decision, from the table that it rests on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.candidates import Candidates
from deadzone.analysis.phases.power import ReplicatesNeeded
from deadzone.analysis.phases.quantities import capital, listing, response, setting, unit_name
from deadzone.language.catalogue import Message, join, say

GROWS = 0.3
"""A response of less elasticity over the size of the work is not made of units: a unit costs nothing that could be said."""

MOST_AS_WELL = 4
"""Of more settings that do as well the decision names the first and the last, and counts the rest."""

Row = Mapping[str, Any] | pd.Series


def best(table: pd.DataFrame, index: int, quantity: str, tolerance: str) -> Message:
    """The setting to choose, what it gives, how sure that is, and what does as well.

    `Set 2 threads: 0.178 s, >99 % sure to be within 3.0 % of the best. 3 threads do as well.`
    table: as of `Recommendation`. quantity: what is compared. tolerance: in words.
    """
    row = table.iloc[index]
    if len(table) == 1:
        return say("reason.alone", setting=row["name"], value=value_text(row, quantity))
    said = say(
        "reason.set",
        setting=row["name"],
        value=value_text(row, quantity),
        chance=float(row["within"]),
        tolerance=tolerance,
    )
    others = [str(name) for name in table["name"][table["tied"] & (table.index != index)]]
    as_well = say("reason.as_well", settings=listing(others, MOST_AS_WELL), n=len(others)) if others else ""
    return join([said, as_well])


def doubted(row: Row, quantity: str, doubt: str) -> Message:
    """The setting of an experiment with which something may be wrong, and what that is."""
    return say("reason.doubted", setting=row["name"], value=value_text(row, quantity), doubt=doubt)


def chosen(row: Row | None, quantity: str) -> str:
    """A setting with what it gives: `12 cores (3.48 s)`. row: None where there is none."""
    if row is None:
        return say("reason.no_setting")
    return say("reason.chosen", setting=row["name"], value=value_text(row, quantity))


def value_text(row: Row, quantity: str) -> str:
    """The estimate of a setting in words, with the digits that its interval leaves. row: of the table."""
    return response(float(row["estimate"]), quantity, (float(row["high"]) - float(row["low"])) / 2)


def of_work(candidates: Candidates, sentence: str) -> Message:
    """Why no level of a knob is recommended that is the size of the work, and what a unit of it takes at both ends."""
    levels = next(iter(candidates.columns.values()))
    value = candidates.scale.backward(candidates.estimates.log_response)
    known = np.flatnonzero(np.isfinite(levels) & (levels > 0) & (value > 0))
    if candidates.goal != "min" or len(known) < 2:
        return join([sentence])
    ends = [known[np.argmin(levels[known])], known[np.argmax(levels[known])]]
    grown, more = np.log(value[ends[1]] / value[ends[0]]), np.log(levels[ends[1]] / levels[ends[0]])
    if grown < GROWS * more:
        return join([sentence])
    first, last = (
        response(float(one), candidates.response, 0.005 * float(one)) for one in (value / levels)[ends]
    )
    least, most = (candidates.names[i] for i in ends)
    return join([sentence, say("reason.per_unit", first=first, last=last, least=least, most=most)])


def within(row: Row, quantity: str, share: str, high: str, confidence: float) -> Message:
    """The cheapest setting within a share of the best. high: how much worse it may be, in words, as is share."""
    said = {"share": share, "confidence": confidence, "high": high}
    return say("reason.within", setting=row["name"], value=value_text(row, quantity), **said)


def targets(
    candidates: Candidates,
    wanted: Mapping[str, float],
    table: pd.DataFrame,
    index: int | None,
    confidence: float,
) -> Message:
    """The cheapest setting that meets the targets and how sure that is, or that none does, and what comes nearest."""
    chance = table["chance"].to_numpy(float)
    if index is None:
        key = "meets_none"
        nearest = chance if chance.max() > 0 else -candidates.sign * candidates.estimates.log_response
        row = table.iloc[int(np.argmax(nearest))]
    else:
        key = "meets_targets" if chance[index] >= confidence else "nearly_meets"
        row = table.iloc[index]
    sign, unit = "≤" if candidates.goal == "min" else "≥", unit_name(candidates.response)
    return say(
        f"reason.{key}",
        setting=row["name"],
        targets=listing([f"{name} {sign} {bound:g} {unit}".strip() for name, bound in wanted.items()]),
        chance=float(row["chance"]),
        confidence=confidence,
        typical=value_text(row, candidates.response),
    )


def caveats(
    candidates: Candidates,
    index: int | None,
    needed: ReplicatesNeeded | None,
    tolerance: str,
    all_there_is: float | None,
) -> list[Message]:
    """What a reader must know before following the recommendation, as sentences."""
    said = []
    if not candidates.estimable:
        said.append(say("caveat.one_trial" if candidates.on_curve else "caveat.one_trial_each"))
    if needed is not None:
        said.append(replicates_text(needed, candidates, tolerance))
    if index is None:
        return said
    name = candidates.names[index]
    flagged, trials = int(candidates.flagged[index]), int(candidates.trials[index])
    knob, levels = next(iter(candidates.columns.items()))
    here: tuple[tuple[str, bool, dict[str, Any]], ...] = (
        ("caveat.in_dead_zone", candidates.dead[index], {"setting": _capital(name)}),
        ("caveat.end_of_range", candidates.last[index], {}),
        ("caveat.no_limit", candidates.settings[index] == "none", {}),
        ("caveat.flagged", flagged > 0, {"n": flagged, "trials": trials, "setting": name}),
    )
    said += [say(key, **values) for key, is_so, values in here if is_so]
    if all_there_is is not None and all_there_is < levels[index] < np.inf:
        said.append(say("caveat.beyond_all", setting=_capital(name), most=setting(all_there_is, knob)))
    return said + _doubtful(candidates, index)


def _doubtful(candidates: Candidates, index: int) -> list[Message]:
    """Settings at which a flagged trial beat the recommended one: either the flag or the advice is wrong."""
    here = float(candidates.scale.backward(candidates.estimates.log_response[index]))
    better = candidates.sign * candidates.flagged_best < candidates.sign * here
    return [
        say(
            "caveat.flagged_better",
            setting=candidates.names[i],
            value=response(float(candidates.flagged_best[i]), candidates.response),
        )
        for i in np.nonzero(better & (candidates.flagged == candidates.trials))[0]
    ]


def replicates_text(needed: ReplicatesNeeded, candidates: Candidates, tolerance: str) -> Message:
    """How many replicates would decide, or that more would not, as a sentence. tolerance: in words."""
    key = "caveat.hopeless" if needed.replicates is None else "caveat.replicates"
    values = {"difference": candidates.scale.amount_text(needed.difference), "tolerance": tolerance}
    return say(key, **vars(needed) | values)


def _capital(text: str) -> str:
    return capital(text) if text[:3] in ("no ", "the", "it ") else text
