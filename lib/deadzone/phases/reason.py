"""The sentences of a recommendation, made from its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from deadzone.phases.quantities import listing, percent, response, unit_of

if TYPE_CHECKING:
    from deadzone.phases.best_set import BestSet
    from deadzone.phases.candidates import Candidates
    from deadzone.phases.power import ReplicatesNeeded


def fastest(candidates: Candidates, found: BestSet, index: int) -> str:
    """Why a setting is the cheapest of those that noise cannot tell from the best."""
    best = int(np.argmin(found.loss))
    level = f"{percent(found.confidence)} family-wise"
    names = [name for name, tied in zip(candidates.names, found.member, strict=True) if tied]
    opening = _opening(candidates, found, index, best)
    if len(names) == 1:
        margin = float(np.expm1(np.delete(found.low, index).min()))
        said = f"Every other setting is shown to be worse, by {percent(margin)} or more ({level})."
    else:
        first = int(np.argmax(found.member))
        said = (
            f"Noise cannot tell {listing(_shortened(names))} from the best within "
            f"{percent(found.tolerance)} ({level})"
        )
        if first == index:
            said += f", and {candidates.names[index]} is the cheapest of them."
        else:
            said += (
                f"; {candidates.names[first]} is cheaper but expected to be "
                f"{percent(float(np.expm1(found.loss[first])))} worse."
            )
    return _join(opening, said, _placed(candidates, index))


def within(candidates: Candidates, found: BestSet, index: int, share: float) -> str:
    """Why a setting is the cheapest within a tolerance of the best."""
    best = int(np.argmin(found.loss))
    opening = _opening(candidates, found, index, best)
    said = (
        f"It is the cheapest setting estimated to be within {percent(share)} of the best; at "
        f"{percent(found.confidence)} confidence it is at most {percent(float(np.expm1(found.high[index])))} worse."
    )
    return _join(opening, said, _placed(candidates, index))


def targets(
    candidates: Candidates, wanted: Mapping[str, float], chance: np.ndarray, index: int, confidence: float
) -> str:
    """Why a setting is the cheapest that meets the targets, and how sure that is."""
    text = _targets_text(candidates, wanted)
    typical = _value(candidates, index)
    if chance[index] >= confidence:
        said = (
            f"{_capital(candidates.names[index])} is the cheapest setting that meets {text} with a "
            f"probability of {_chance(chance[index])} (wanted: {percent(confidence)}); a typical trial gives {typical}."
        )
    else:
        said = (
            f"No setting meets {text} with a probability of {percent(confidence)}; "
            f"{candidates.names[index]} comes nearest with {_chance(chance[index])}, a typical trial gives {typical}."
        )
    return _join(said, _placed(candidates, index))


def no_target(candidates: Candidates, wanted: Mapping[str, float], chance: np.ndarray, index: int) -> str:
    """Why no setting is recommended for the targets."""
    best = int(np.argmin(candidates.sign * candidates.estimates.log_response))
    nearest = index if chance[index] > 0 else best
    return (
        f"No setting meets {_targets_text(candidates, wanted)}; {candidates.names[nearest]} comes nearest, "
        f"where a typical trial gives {_value(candidates, nearest)} and the targets are met with a probability "
        f"of {_chance(chance[nearest])}."
    )


def caveats(
    candidates: Candidates, index: int | None, member: np.ndarray, needed: ReplicatesNeeded | None
) -> list[str]:
    """What a reader must know before following the recommendation, as sentences."""
    said = []
    if not candidates.estimable:
        said.append(
            "With one trial a level the difference between settings cannot be judged from replicates; the noise "
            "is taken from how the trials scatter around the fitted curve."
        )
    if needed is not None:
        said.append(replicates_text(needed))
    if index is None:
        return said
    if candidates.dead[index]:
        said.append(
            f"{_capital(candidates.names[index])} lies inside a dead zone: less of the knob does as well, and more "
            "of it does better later."
        )
    if candidates.last[index]:
        said.append("The response still improves at the end of the range: a larger setting may be better.")
    if candidates.settings[index] == "none":
        said.append(
            "No limit counts as the most expensive setting, and every limited one is shown to be worse."
        )
    if candidates.flagged[index]:
        said.append(
            f"{candidates.flagged[index]} of {candidates.trials[index]} trials at {candidates.names[index]} "
            "are flagged as outliers and count for little."
        )
    return said + _doubtful(candidates, index)


def _doubtful(candidates: Candidates, index: int) -> list[str]:
    """Settings at which a flagged trial beat the recommended one: either the flag or the advice is wrong."""
    here = float(np.exp(candidates.estimates.log_response[index]))
    better = candidates.sign * candidates.flagged_best < candidates.sign * here
    return [
        f"A trial at {candidates.names[i]} that is flagged as an outlier measured "
        f"{response(float(candidates.flagged_best[i]), candidates.response)}, better than the recommended setting: "
        "repeat it before following this advice."
        for i in np.nonzero(better & (candidates.flagged == candidates.trials))[0]
    ]


def replicates_text(needed: ReplicatesNeeded) -> str:
    """How many replicates would decide, as a sentence."""
    pair = f"{needed.best} from {needed.other}"
    if needed.replicates is None:
        return f"No sensible number of replicates would tell {pair}: the noise is far larger than the difference."
    return (
        f"To tell {pair} by a difference of {percent(needed.difference)} takes {needed.replicates} trials of each "
        f"tied setting, {needed.trials} in all ({percent(needed.power)} power)."
    )


def _opening(candidates: Candidates, found: BestSet, index: int, best: int) -> str:
    here = f"{_capital(candidates.names[index])}: {_value(candidates, index)}"
    if index == best:
        return f"{here}, the best estimate."
    loss = percent(float(np.expm1(found.loss[index])))
    return f"{here}, {loss} worse than the best estimate ({_value(candidates, best)} at {candidates.names[best]})."


def _placed(candidates: Candidates, index: int) -> str:
    return f"{_capital(candidates.places[index])}." if candidates.places[index] else ""


def _value(candidates: Candidates, index: int) -> str:
    e = candidates.estimates
    value = float(np.exp(e.log_response[index]))
    return response(value, candidates.response, value * float(e.std_error[index]))


def _targets_text(candidates: Candidates, wanted: Mapping[str, float]) -> str:
    sign = "≤" if candidates.goal == "min" else "≥"
    unit = unit_of(candidates.response)
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
    if probability > 0.999 or probability < 0.001:
        return "more than 99.9 %" if probability > 0.5 else "less than 0.1 %"
    return percent(float(probability))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:3] in ("no ", "the", "it ") else text


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
