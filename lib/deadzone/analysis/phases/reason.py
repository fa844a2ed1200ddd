"""The sentences of a recommendation, made from its numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deadzone.analysis.phases.best_set import BestSet
from deadzone.analysis.phases.candidates import Candidates
from deadzone.analysis.phases.power import ReplicatesNeeded
from deadzone.analysis.phases.quantities import capital, listing, percent, response, setting, unit_name
from deadzone.analysis.response_scale import RATIO
from deadzone.language.catalogue import Message, join, say

GROWS = 0.3
"""A response of less elasticity over the size of the work is not made of units: a unit costs nothing that could be said."""


def fastest(candidates: Candidates, found: BestSet, index: int, chance: float) -> Message:
    """Why a setting is chosen of those that noise cannot tell from the best, with the probability that it is a good one."""
    if len(candidates.names) == 1:
        return say("reason.alone", setting=candidates.names[index])
    names = [name for name, tied in zip(candidates.names, found.member, strict=True) if tied]
    opening = _opening(candidates, found, index)
    if len(names) == 1 and found.denied.any():
        worse = _amount(candidates, found.loss[found.denied].min())
        said = say("reason.only_measured", worse=worse, confidence=found.confidence)
    elif len(names) == 1:
        margin = _amount(candidates, np.delete(found.low, index).min())
        said = say("reason.only_best", margin=margin, confidence=found.confidence)
    else:
        first = int(np.where(found.member, candidates.doublings, np.inf).argmin())
        is_ordered = len(np.unique(candidates.kinds[found.member])) == 1
        key = "reason.tied_cheapest" if first == index else "reason.tied_dearer"
        said = say(
            key if is_ordered else "reason.tied_words",
            settings=listing(_shortened(names)),
            tolerance=_amount(candidates, np.log1p(found.tolerance)),
            confidence=found.confidence,
            setting=candidates.names[index],
            cheaper=candidates.names[first],
            loss=_amount(candidates, found.loss[first]),
            chance=_chance(chance),
        )
    return join([opening, said, *_denied(candidates, found, len(names)), _placed(candidates, index)])


def _denied(candidates: Candidates, found: BestSet, tied: int) -> list[Message]:
    """Settings that the curve allows and their own trials do not, beside those that are tied."""
    if tied == 1 or not found.denied.any():
        return []
    names = [name for name, denied in zip(candidates.names, found.denied, strict=True) if denied]
    worse = _amount(candidates, found.loss[found.denied].min())
    return [say("reason.denied", settings=listing(_shortened(names)), worse=worse)]


def doubted(candidates: Candidates, index: int, doubt: str) -> Message:
    """The setting of an experiment with which something may be wrong, in one sentence with what that is."""
    said = say(
        "reason.doubted", setting=candidates.names[index], value=_value(candidates, index), doubt=doubt
    )
    return join([said, _placed(candidates, index)])


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


def within(candidates: Candidates, found: BestSet, index: int, share: float) -> Message:
    """Why a setting is the cheapest within a tolerance of the best."""
    opening = _opening(candidates, found, index)
    high = _amount(candidates, found.high[index])
    said = say(
        "reason.within", share=_amount(candidates, np.log1p(share)), confidence=found.confidence, high=high
    )
    return join([opening, said, _placed(candidates, index)])


def targets(
    candidates: Candidates, wanted: Mapping[str, float], chance: np.ndarray, index: int, confidence: float
) -> Message:
    """Why a setting is the cheapest that meets the targets, and how sure that is."""
    met = bool(chance[index] >= confidence)
    name = candidates.names[index]
    said = say(
        "reason.meets_targets" if met else "reason.nearly_meets",
        setting=_capital(name) if met else name,
        targets=_targets_text(candidates, wanted),
        chance=_chance(chance[index]),
        confidence=confidence,
        typical=_value(candidates, index),
    )
    return join([said, _placed(candidates, index)])


def no_target(candidates: Candidates, wanted: Mapping[str, float], chance: np.ndarray, index: int) -> Message:
    """Why no setting is recommended for the targets."""
    best = int(np.argmin(candidates.sign * candidates.estimates.log_response))
    nearest = index if chance[index] > 0 else best
    return say(
        "reason.meets_none",
        targets=_targets_text(candidates, wanted),
        setting=candidates.names[nearest],
        typical=_value(candidates, nearest),
        chance=_chance(chance[nearest]),
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
        said.append(say("caveat.one_trial" if any(candidates.places) else "caveat.one_trial_each"))
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


def _opening(candidates: Candidates, found: BestSet, index: int) -> Message:
    best = int(np.argmin(found.loss))
    return say(
        "reason.best_estimate" if index == best else "reason.worse_estimate",
        setting=_capital(candidates.names[index]),
        value=_value(candidates, index),
        loss=_amount(candidates, found.loss[index]),
        best=candidates.names[best],
        best_value=_value(candidates, best),
    )


def _placed(candidates: Candidates, index: int) -> str:
    where = candidates.places[index]
    return say("reason.sentence", text=_capital(where)) if where else ""


def _value(candidates: Candidates, index: int) -> str:
    e = candidates.estimates
    scale = candidates.scale
    value = float(scale.backward(e.log_response[index]))
    size = value if scale.kind == RATIO else scale.size
    return response(value, candidates.response, size * float(e.std_error[index]))


def _amount(candidates: Candidates, loss: float) -> Message:
    """A difference on the scale of the estimates, in words."""
    return candidates.scale.amount_text(float(candidates.scale.amount(np.asarray(loss))))


def _targets_text(candidates: Candidates, wanted: Mapping[str, float]) -> str:
    sign = "≤" if candidates.goal == "min" else "≥"
    unit = unit_name(candidates.response)
    return listing([f"{name} {sign} {bound:g} {unit}".strip() for name, bound in wanted.items()])


def _shortened(names: list[str]) -> list[str]:
    """`1 core, 2 cores, 3 cores` as `1, 2, 3 cores`, `pool_size 8, pool_size 16` as `pool_size 8, 16`."""
    words = [name.split(" ") for name in names]
    if any(len(parts) != 2 for parts in words):
        return names
    if len({parts[1].removesuffix("s") for parts in words}) == 1:
        return [*(parts[0] for parts in words[:-1]), names[-1]]
    if len({parts[0] for parts in words}) == 1:
        return [names[0], *(parts[1] for parts in words[1:])]
    return names


def _chance(probability: float) -> str:
    if probability > 0.999:
        return say("reason.surely", limit=f"99.9{percent(0.001)[3:]}")
    if probability < 0.001:
        return say("reason.hardly", limit=percent(0.001))
    return percent(float(probability))


def _capital(text: str) -> str:
    return capital(text) if text[:3] in ("no ", "the", "it ") else text
