"""What is recommended, in words: the one place that says a decision, from the table that it rests
on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from deadzone.analysis.finding import NOTHING_TRUSTED, Finding
from deadzone.analysis.phases.best_set import BestSet
from deadzone.analysis.phases.candidates import Candidates
from deadzone.analysis.phases.heeding import problem
from deadzone.analysis.phases.notes import ONE_TRIAL_A_LEVEL
from deadzone.analysis.phases.own_values import CLEARLY_WORSE, allowed
from deadzone.analysis.phases.power import MOST_WORTH, ReplicatesNeeded
from deadzone.analysis.phases.quantities import (
    capital,
    listing,
    plain_name,
    response,
    setting,
    unit_name,
)
from deadzone.analysis.response_scale import RATIO
from deadzone.language.formats import exact
from deadzone.language.messages import N_, Message, Text, _, join, ngettext, say

State = Literal["set", "tied", "open", "stopped", "no_setting"]
"""What became of the question: one setting, several that cannot be told apart, more to measure
first, a finding that keeps a setting from being given, or nothing to set."""

UNANSWERED: tuple[State, ...] = ("open", "stopped")
"""Commands end with the exit code of a finding."""

PROBABLE = 0.5
"""A setting that is less probably than this what was asked for is not recommended alone."""

GROWS = 0.3
"""A response of less elasticity over the size of the work is not made of units: a unit costs
nothing that could be said."""

MOST_AS_WELL = 4
"""Of more settings that do as well the decision names the first and the last, and counts the
rest."""

Row = Mapping[str, Any] | pd.Series


def state_of(
    candidates: Candidates, tied_set: BestSet, within: np.ndarray, index: int, again: np.ndarray
) -> State:
    """Whether the setting at `index` is set, tied with others, or open.

    within: probability of each setting that it is within the tolerance of the best, shape (n,).
    again: positions of settings to measure again, of `to_measure_again`. It is open, too, where no
    setting is told from the best: by the noise of replicates, though some are expected to be
    clearly worse, or of single trials, where none is probably within the tolerance.
    """
    is_noisy = candidates["estimable"].any()
    is_untold = tied_set.loss.max() > CLEARLY_WORSE if is_noisy else within.max() < PROBABLE
    if len(again) or (tied_set.member.all() and is_untold):
        return "open"
    return "set" if within[index] >= PROBABLE else "tied"


def without_denied(candidates: Candidates, tied_set: BestSet) -> BestSet:
    """The set without settings that their own trials deny (see `own_values`); the best value
    measured is in it."""
    if candidates.scale.kind != RATIO:
        return tied_set
    own = candidates.sign * candidates["own"]
    may, best = allowed(own, candidates["own_error"], candidates.doubted, tied_set.tolerance)
    denied = tied_set.member & ~may
    member = (tied_set.member & may) | (np.arange(len(own)) == best)
    loss = np.maximum(
        tied_set.loss - tied_set.loss[member].min(), np.where(member, 0.0, tied_set.low)
    )
    loss = np.where(denied, np.maximum(own - own[best], loss), loss)
    return replace(
        tied_set,
        member=member,
        loss=loss,
        low=np.where(member, 0.0, tied_set.low),
        high=np.maximum(tied_set.high, loss),
    )


def to_measure_again(candidates: Candidates, tolerance: float, index: int) -> np.ndarray:
    """Positions of settings whose few trials all lie far from the curve, and that would change the
    choice of `index` if those trials are right."""
    gain = candidates.sign * (candidates["estimate"][index] - candidates["own"])
    is_better = gain > np.log1p(tolerance)
    return np.flatnonzero(candidates.doubted & (is_better | (np.arange(len(gain)) == index)))


def best(
    table: pd.DataFrame, index: int, quantity: str, tolerance: str, confidence: float
) -> Message:
    """The setting to choose, what it gives, how sure that is, and what does as well.

    `Set 2 threads: 0.178 s, >99 % sure to be within 3 % of the best. 3 threads do as well.`
    table: as of `Recommendation`. quantity: what is compared. tolerance: in words. confidence: with
    which a setting is within it that does as well.
    """
    row = table.iloc[index]
    if len(table) == 1:
        return _(
            "{setting}: {value}. There is no other setting to compare it with.",
            setting=row["name"],
            value=value_text(row, quantity),
        )
    sentence = _(
        "Set {setting}: {value}, {chance:probability} sure to be within {tolerance} of the best.",
        setting=row["name"],
        value=value_text(row, quantity),
        chance=float(row["within"]),
        tolerance=tolerance,
    )
    tied, shown = table["tied"] & (table.index != index), table["within"] >= confidence
    alike, untold = ([str(name) for name in table["name"][tied & of]] for of in (shown, ~shown))
    as_well = (
        ngettext(
            "{settings} does as well.",
            "{settings} do as well.",
            settings=listing(alike, MOST_AS_WELL),
            n=len(alike) + alike[-1].endswith("s"),  # "4 threads do", "64 MB does"
        )
        if alike
        else ""
    )
    apart = (
        _("{settings} cannot be told apart from it.", settings=listing(untold, MOST_AS_WELL))
        if untold
        else ""
    )
    return join([sentence, as_well, apart])


ASSUMED = N_(
    "Less {response} is assumed to be better: neither its name nor a unit says. Where more is "
    "better: `--goal max`, in Python and in a study `goal` max."
)
"""The name is that of its column, without a unit in it."""

BY = {
    ("max", "name"): N_("More {response} is better, by its name."),
    ("max", "unit"): N_("More {response} is better, by its unit."),
    ("min", "unit"): N_("Less {response} is better, by its unit."),
    ("max", "cells"): N_("More {response} is better, by the unit of its cells."),
    ("min", "cells"): N_("Less {response} is better, by the unit of its cells."),
}
"""That less of what is named a time is better need not be said."""


def directed(candidates: Candidates, decided: Message) -> Message:
    """The decision with which way was taken for better, where that was not asked."""
    named = {"response": plain_name(candidates.response)}
    if candidates.goal_from == "assumed":
        return join([say(ASSUMED, **named), decided])
    by = BY.get((candidates.goal, candidates.goal_from))
    return decided if by is None else join([decided, say(by, **named)])


def tied(table: pd.DataFrame, doubt: str) -> Message:
    """The settings of which none is probably the best, those that are worse, and what makes that
    doubtful."""
    alike, worse = (
        [str(name) for name in table["name"][table["tied"] == is_so]] for is_so in (True, False)
    )
    sentence = _(
        "Set one of {settings}: they cannot be told apart.", settings=listing(alike, MOST_AS_WELL)
    )
    others = _("Worse: {settings}.", settings=listing(worse, MOST_AS_WELL)) if worse else ""
    return join([sentence, others, _("Doubt: {doubt}", doubt=f"{doubt}.") if doubt else ""])


def open_(candidates: Candidates, loss: np.ndarray, again: np.ndarray) -> Message:
    """Why there is no setting before more is measured, and what to measure. loss: of each setting
    against the best one, as estimated. again: positions of settings to measure again."""
    if len(again):
        names = listing([str(candidates["name"][i]) for i in again], MOST_AS_WELL)
        own = candidates.scale.backward(candidates["own"][again])
        values = [response(float(value), candidates.response) for value in own]
        return _(
            "No setting yet: {settings} measured {values}, far from the curve, and would change "
            "the setting. Measure {settings} again.",
            settings=names,
            values=listing(values, MOST_AS_WELL),
        )
    if not candidates["estimable"].any():
        return _(
            "No setting yet: one trial of each does not tell which of the {n} is best. Measure "
            "each three times or more.",
            n=len(candidates),
        )
    best, worst = int(np.argmin(loss)), int(np.argmax(loss))
    return _(
        "No setting yet: noise hides which of the {n} is best, though {worst} is expected to be "
        "{difference} worse than {best}. Measure them again, more often or with less noise.",
        n=len(candidates),
        worst=candidates["name"][worst],
        best=candidates["name"][best],
        difference=candidates.scale.amount_text(float(candidates.scale.amount(loss[worst]))),
    )


def doubted(row: Row, quantity: str, doubt: str) -> Message:
    """The setting of an experiment with which something may be wrong, and what that is."""
    return _(
        "Set {setting} ({value}), but that is doubtful: {doubt}.",
        setting=row["name"],
        value=value_text(row, quantity),
        doubt=doubt,
    )


def stopped(finding: Finding, row: Row | None, quantity: str) -> Message:
    """Why there is no setting; without a trusted trial, what the others would say. row: of that
    setting."""
    would = finding.key == NOTHING_TRUSTED and row is not None
    told = _("Without trust: {setting}.", setting=chosen(row, quantity)) if would else ""
    return join([problem(finding), told])


def chosen(row: Row | None, quantity: str) -> str:
    """A setting with what it gives: `12 cores (3.48 s)`. row: None where there is none."""
    if row is None:
        return _("no setting")
    return _("{setting} ({value})", setting=row["name"], value=value_text(row, quantity))


def value_text(row: Row, quantity: str) -> str:
    """The estimate of a setting in words, with the digits that its interval leaves. row: of the
    table."""
    return response(float(row["estimate"]), quantity, (float(row["high"]) - float(row["low"])) / 2)


def of_work(candidates: Candidates, sentence: str) -> Message:
    """Why no level of a knob is recommended that is the size of the work, and what a unit of it
    takes at both ends, doubted levels left out."""
    levels = candidates.levels
    value = candidates.scale.backward(candidates["estimate"])
    is_known = np.isfinite(levels) & (levels > 0) & (value > 0) & ~candidates.doubted
    known = np.flatnonzero(is_known)
    if candidates.goal != "min" or len(known) < 2:
        return join([sentence])
    ends = [known[np.argmin(levels[known])], known[np.argmax(levels[known])]]
    grown, more = np.log(value[ends[1]] / value[ends[0]]), np.log(levels[ends[1]] / levels[ends[0]])
    if grown < GROWS * more:
        return join([sentence])
    first, last = (
        response(float(ratio), candidates.response, 0.005 * float(ratio))
        for ratio in (value / levels)[ends]
    )
    least, most = (candidates["name"][i] for i in ends)
    return join(
        [
            sentence,
            _(
                "A unit takes {first} at {least} and {last} at {most}.",
                first=first,
                last=last,
                least=least,
                most=most,
            ),
        ]
    )


def within(row: Row, quantity: str, share: str, high: str, confidence: float) -> Message:
    """The cheapest setting within a share of the best. high: how much worse it may be, in words, as
    is share."""
    figures = {"share": share, "confidence": confidence, "high": high}
    return _(
        "Set {setting}: {value}, the cheapest setting estimated to be within {share} of the best; "
        "at {confidence:percent} confidence it is at most {high} worse.",
        setting=row["name"],
        value=value_text(row, quantity),
        **figures,
    )


def targets(
    candidates: Candidates,
    wanted: Mapping[str, float],
    table: pd.DataFrame,
    index: int | None,
    confidence: float,
) -> Message:
    """The cheapest setting that meets the targets and how sure that is, or that none does, and what
    comes nearest."""
    chance = table["chance"].to_numpy(float)
    if index is None:
        text = N_(
            "No setting meets {targets}; {setting} comes nearest, where a typical trial gives "
            "{typical} and the targets are met with a probability of {chance:probability}."
        )
        nearest = chance if chance.max() > 0 else -candidates.sign * candidates["estimate"]
        row = table.iloc[int(np.argmax(nearest))]
    else:
        text = (
            N_(
                "Set {setting}: {typical} in a typical trial, the cheapest setting that meets "
                "{targets} with a probability of {chance:probability} (wanted: "
                "{confidence:percent})."
            )
            if chance[index] >= confidence
            else N_(
                "No setting meets {targets} with a probability of {confidence:percent}; {setting} "
                "comes nearest with {chance:probability}, a typical trial gives {typical}."
            )
        )
        row = table.iloc[index]
    sign, unit = "≤" if candidates.goal == "min" else "≥", unit_name(candidates.response)
    return say(
        text,
        setting=row["name"],
        targets=listing(
            [f"{name} {sign} {exact(bound)} {unit}".strip() for name, bound in wanted.items()]
        ),
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
    shown: pd.Series,
) -> list[Message]:
    """What a reader must know before following the recommendation, as sentences. shown: how much
    worse each setting is shown to be."""
    sentences = []
    if not candidates["estimable"].any():
        sentences.append(
            say(
                ONE_TRIAL_A_LEVEL
                if candidates["on_curve"].any()
                else N_(
                    "With one trial of each setting the difference between settings cannot be "
                    "judged: the noise is assumed to be 2 %, as is usual."
                )
            )
        )
    if needed is not None:
        sentences.append(replicates_text(needed, candidates, tolerance))
    if index is None:
        return sentences
    name = candidates["name"][index]
    flagged, trials = (int(candidates[column][index]) for column in ("flagged", "n"))
    levels = candidates.levels
    here: tuple[tuple[Text, Any, dict[str, Any]], ...] = (
        (
            N_(
                "{setting} lies inside a dead zone: less of the knob does as well, and more of it "
                "does better later."
            ),
            candidates["dead"][index],
            {"setting": _capital(name)},
        ),
        (
            N_(
                "The response still improves at the end of the range: a larger setting may be "
                "better."
            ),
            candidates["last"][index],
            {},
        ),
        (
            N_(
                "No limit counts as the most expensive setting, and every limited one is shown to "
                "be worse."
            ),
            candidates["setting"][index] == "none" and (shown > 0).sum() == len(shown) - 1,
            {},
        ),
        (
            N_("{n} of {trials} trials at {setting} are flagged as outliers and count for little."),
            flagged > 0,
            {"n": flagged, "trials": trials, "setting": name},
        ),
    )
    sentences += [say(key, **values) for key, is_so, values in here if is_so]
    if all_there_is is not None and all_there_is < levels[index] < np.inf:
        sentences.append(
            _(
                "{setting} is more than there is to have: {most} would do as well.",
                setting=_capital(name),
                most=setting(all_there_is, candidates.knob),
            )
        )
    return sentences


TRIALS_DO_NOT_SETTLE = {
    "many": N_(
        "More trials will not settle it: {other} is expected to be {difference} worse than {best}. "
        "Against the noise, {most:count} trials of each would not show that it is more than "
        "{tolerance}."
    ),
    "tolerated": N_(
        "More trials will not settle it: {other} is expected to be {difference} worse than {best}, "
        "and up to {tolerance} counts as no worse."
    ),
    "noise": N_("How many trials would settle it is not known, for no setting has more than one."),
}
TRIALS_SETTLE = N_(
    "To show that {other} is worse than {best} by more than {tolerance} ({difference} are "
    "expected) takes {replicates:count} trials of each tied setting, {trials:count} in all "
    "({power:percent} power)."
)


def is_of_trials(caveat: str) -> bool:
    """Whether a caveat says how many more trials would decide, or that none would."""
    texts = (*TRIALS_DO_NOT_SETTLE.values(), TRIALS_SETTLE)
    return isinstance(caveat, Message) and caveat.text in texts


def replicates_text(needed: ReplicatesNeeded, candidates: Candidates, tolerance: str) -> Message:
    """How many replicates would decide, or why more would not, as a sentence. tolerance: in
    words."""
    text = TRIALS_SETTLE if needed.replicates else TRIALS_DO_NOT_SETTLE[needed.why_not]
    values = {
        "difference": candidates.scale.amount_text(needed.difference),
        "tolerance": tolerance,
        "most": MOST_WORTH,
    }
    return say(text, **vars(needed) | values)


def _capital(text: str) -> str:
    return capital(text) if text[:3] in ("no ", "the", "it ") else text
