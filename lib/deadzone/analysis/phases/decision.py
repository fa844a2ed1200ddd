"""What is recommended, in words: the one place that says a decision, from the table that it rests
on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from deadzone.analysis.finding import NOTHING_TRUSTED, Finding
from deadzone.analysis.phases.best_set import MOST_WORTH, POWER, BestSet, replicates_to_tell
from deadzone.analysis.phases.candidates import Candidates
from deadzone.analysis.phases.level_estimates import STANDARD_ERRORS
from deadzone.analysis.phases.prepare import ONE_TRIAL_A_LEVEL
from deadzone.analysis.phases.quantities import (
    capital,
    exact_response,
    listing,
    plain_name,
    response,
    setting,
)
from deadzone.analysis.response_scale import RATIO
from deadzone.language.messages import N_, Message, Text, _, join, ngettext, say

State = Literal["set", "tied", "open", "stopped", "no_setting"]
"""What became of the question: one setting, several that cannot be told apart, more to measure
first, a finding that keeps a setting from being given, or nothing to set."""

UNANSWERED: tuple[State, ...] = ("open", "stopped")
"""Commands end with the exit code of a finding."""

PROBABLE = 0.5
"""A setting that is less probably than this what was asked for is not recommended alone."""

CLEARLY_WORSE = float(np.log(1.10))
"""A value worse than the best one by more than this [ln] is worse unless the trials scatter so
much."""

MOST_AS_WELL = 4
"""Of more settings that do as well the decision names the first and the last, and counts the
rest."""

Row = Mapping[str, Any] | pd.Series


def stopping(findings: Sequence[Finding], level: Any = None) -> Finding | None:
    """The finding that keeps a setting from being recommended: one that stops every verdict, or
    says that too many trials of just this level of the knob did not end well."""
    stops = [finding for finding in findings if finding.severity == "stops"]
    barring = [finding for finding in findings if finding.bars and level in finding.levels]
    return next(iter([*stops, *barring]), None)


def problem(finding: Finding) -> Message:
    """Why there is no setting."""
    return _("No verdict: {finding}", finding=finding.sentence)


def doubt_of(findings: Sequence[Finding]) -> str:
    """What makes the setting doubtful, to be said in the same sentence; empty where nothing
    does."""
    doubt = next((finding for finding in findings if finding.severity in ("stops", "doubts")), None)
    return doubt.seen.rstrip(".") if doubt else ""


def own_level(setting: Any, knob: str) -> Any:
    """The level of the knob in a setting."""
    return setting.get(knob) if isinstance(setting, Mapping) else setting


def state_of(
    candidates: Candidates, tied_set: BestSet, table: pd.DataFrame, index: int, again: np.ndarray
) -> State:
    """Whether the setting at `index` is set, tied with others, or open.

    again: positions of settings to measure again. It is open, too, where no setting is told from
    the best: by the noise of replicates, though some are expected to be clearly worse, or of single
    trials, where none is probably within the tolerance.
    """
    is_noisy, within = candidates["estimable"].any(), table["within"]
    is_untold = tied_set.loss.max() > CLEARLY_WORSE if is_noisy else within.max() < PROBABLE
    if len(again) or (tied_set.member.all() and is_untold):
        return "open"
    return "set" if within[index] >= PROBABLE else "tied"


def without_denied(candidates: Candidates, tied_set: BestSet) -> BestSet:
    """The set without settings that their own trials deny; the best value measured is in it.

    A curve that is drawn through all levels lends each the trials of its neighbours. Where a level
    does not lie on it (a saw tooth, a cliff, a level off) the curve says of it what its trials
    deny. So a setting may be worse than the best value measured by what does not matter much, or by
    what its trials scatter, whichever is more; what doubted settings are worth is not known.
    """
    if candidates.scale.kind != RATIO:
        return tied_set
    own, error, doubted = (
        candidates.sign * candidates["own"],
        candidates["own_error"],
        candidates.doubted,
    )
    best = int(np.argmin(own if doubted.all() else np.where(doubted, np.inf, own)))
    room = np.maximum(
        STANDARD_ERRORS * np.hypot(error, error[best]),
        max(CLEARLY_WORSE, np.log1p(tied_set.tolerance)),
    )
    may = own - own[best] <= room
    member = (tied_set.member & may) | (np.arange(len(own)) == best)
    low = np.where(member, 0.0, tied_set.low)
    loss = np.maximum(tied_set.loss - tied_set.loss[member].min(), low)
    loss = np.where(tied_set.member & ~may, np.maximum(own - own[best], loss), loss)
    return replace(
        tied_set, member=member, loss=loss, low=low, high=np.maximum(tied_set.high, loss)
    )


def to_measure_again(candidates: Candidates, tolerance: float, index: int) -> np.ndarray:
    """Positions of settings whose few trials all lie far from the curve, and that would change the
    choice of `index` if those trials are right."""
    gain = candidates.sign * (candidates["estimate"][index] - candidates["own"])
    is_better = gain > np.log1p(tolerance)
    return np.flatnonzero(candidates.doubted & (is_better | (np.arange(len(gain)) == index)))


def best(
    table: pd.DataFrame, row: pd.Series, candidates: Candidates, tolerance: str, confidence: float
) -> Message:
    """The setting to choose, what it gives, how sure that is, and what does as well.

    `Set 2 threads: 0.178 s, >99 % sure to be within 3 % of the best. 3 threads do as well.`
    table: as of `Recommendation`. tolerance: in words. confidence: with which a setting is within
    it that does as well.
    """
    known = {"setting": row["name"], "value": value_text(row, candidates.response, candidates.unit)}
    if len(table) == 1:
        return _("{setting}: {value}. There is no other setting to compare it with.", **known)
    if candidates.is_assumed:
        sentence = _("Set {setting}: {value}, by one trial of each.", **known)
    else:
        sentence = _(
            "Set {setting}: {value}, {chance:probability} sure to be within {tolerance} of the "
            "best.",
            **known,
            chance=float(row["within"]),
            tolerance=tolerance,
        )
    return join([sentence, *as_well(table, row, confidence)])


def as_well(table: pd.DataFrame, row: pd.Series, confidence: float) -> list[Message]:
    """Which settings of the tied set do as well as that of a row, and which cannot be told apart
    from it. table, confidence: as of `best`."""
    tied, shown = table["tied"] & (table.index != row.name), table["within"] >= confidence
    alike, untold = ([str(name) for name in table["name"][tied & of]] for of in (shown, ~shown))
    parts = []
    if alike:
        number = len(alike) + alike[-1].endswith("s")  # "4 threads do", "64 MB does"
        names = listing(alike, MOST_AS_WELL)
        parts.append(
            ngettext("{settings} does as well.", "{settings} do as well.", settings=names, n=number)
        )
    if untold:
        names = listing(untold, MOST_AS_WELL)
        parts.append(_("{settings} cannot be told apart from it.", settings=names))
    return parts


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
        own, about = candidates.scale.backward(candidates["own"][again]), candidates.response
        values = [response(float(value), about, unit=candidates.unit) for value in own]
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


def doubted(row: Row, candidates: Candidates, doubt: str) -> Message:
    """The setting of an experiment with which something may be wrong, and what that is."""
    return _(
        "Set {setting} ({value}), but that is doubtful: {doubt}.",
        setting=row["name"],
        value=value_text(row, candidates.response, candidates.unit),
        doubt=doubt,
    )


def stopped(finding: Finding, row: Row | None, candidates: Candidates) -> Message:
    """Why there is no setting; without a trusted trial, what the others would say. row: of that
    setting."""
    if finding.key != NOTHING_TRUSTED or row is None:
        return problem(finding)
    would = chosen(row, candidates.response, candidates.unit)
    return join([problem(finding), _("Without trust: {setting}.", setting=would)])


def chosen(row: Row | None, quantity: str, unit: str = "") -> str:
    """A setting with what it gives: `12 cores (3.48 s)`. row: None where there is none. unit: of
    the cells."""
    if row is None:
        return _("no setting")
    return _("{setting} ({value})", setting=row["name"], value=value_text(row, quantity, unit))


def value_text(row: Row, quantity: str, unit: str = "", column: str = "estimate") -> str:
    """The estimate of a setting in words, or another column of the table, of which row is one, with
    the digits that its interval leaves. unit: of the cells."""
    half = (float(row["high"]) - float(row["low"])) / 2
    return response(float(row[column]), quantity, half, unit)


def measured_beside(row: Row, quantity: str, unit: str) -> Message:
    """What the curve says of a setting, and what its own trials say."""
    return _(
        "{setting}: {value} by the curve, {measured} is the median of its own trials.",
        setting=row["name"],
        value=value_text(row, quantity, unit),
        measured=value_text(row, quantity, unit, "measured"),
    )


def within(
    row: Row, candidates: Candidates, share: float, high: float, confidence: float
) -> Message:
    """The cheapest setting within a share of the best. high: how much worse it may be, on the scale
    of the estimates."""
    return _(
        "Set {setting}: {value}, the cheapest setting estimated to be within {share} of the best; "
        "at {confidence:exact_percent} confidence it is at most {high} worse.",
        setting=row["name"],
        value=value_text(row, candidates.response, candidates.unit),
        share=candidates.scale.tolerance_text(share),
        confidence=confidence,
        high=candidates.scale.loss_text(high),
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
    nearest = chance if chance.max() > 0 else -candidates.sign * candidates["estimate"]
    row = table.iloc[int(np.argmax(nearest)) if index is None else index]
    sign = "≤" if candidates.goal == "min" else "≥"
    return say(
        MEETS_TARGETS if row["chance"] >= confidence else MEETS_NO_TARGETS,
        setting=row["name"],
        targets=listing(
            [
                f"{name} {sign} {exact_response(value, candidates.response, candidates.unit)}"
                for name, value in wanted.items()
            ]
        ),
        chance=float(row["chance"]),
        confidence=confidence,
        typical=value_text(row, candidates.response, candidates.unit),
    )


MEETS_TARGETS = N_(
    "Set {setting}: {typical} in a typical trial, the cheapest setting that meets {targets} with a "
    "probability of {chance:probability} (wanted: {confidence:exact_percent})."
)
MEETS_NO_TARGETS = N_(
    "No setting meets {targets} with a probability of {confidence:exact_percent}; {setting} comes "
    "nearest with {chance:probability}, a typical trial gives {typical}."
)

ONE_TRIAL_EACH = N_(
    "With one trial per setting the noise cannot be measured: the usual 2 % is assumed."
)
ONE_SPREAD_EACH = N_(
    "With one trial per setting the noise cannot be measured: {noise:percent}, the spread in its "
    "cells, is assumed."
)


def caveats(
    candidates: Candidates,
    index: int | None,
    all_there_is: float,
    settles: Sequence[Message],
) -> list[Message]:
    """What a reader must know before following the recommendation, as sentences. settles: of
    `trials_that_settle`."""
    apart = ONE_SPREAD_EACH if candidates.spread else ONE_TRIAL_EACH
    once = ONE_TRIAL_A_LEVEL if candidates["on_curve"].any() else apart
    is_known = candidates["estimable"].any()
    sentences = [*([] if is_known else [say(once, noise=candidates.spread)]), *settles]
    if index is None:
        return sentences
    row, level = candidates.table.iloc[index], candidates.levels[index]
    name = row["name"]
    begins = capital(name) if name[:3] in ("no ", "the", "it ") else name
    here: tuple[tuple[Text, bool, dict[str, Any]], ...] = (
        (
            N_("{setting} is inside a dead zone: less does as well, and much more does better."),
            row["dead"],
            {"setting": begins},
        ),
        (
            N_(
                "The response still improves at the end of the range: a larger setting may be "
                "better."
            ),
            row["last"] and level < all_there_is,
            {},
        ),
        (
            N_(
                "Flagged as outliers at {setting}, and counting for little: {n} of {trials} trials."
            ),
            row["flagged"] > 0,
            {"n": int(row["flagged"]), "trials": int(row["n"]), "setting": name},
        ),
        (
            N_("{setting} is more than there is to have: {most} would do as well."),
            all_there_is < level < np.inf,
            {"setting": begins, "most": setting(all_there_is, candidates.knob)},
        ),
    )
    return sentences + [say(key, **values) for key, is_so, values in here if is_so]


TRIALS_DO_NOT_SETTLE = {
    "many": N_(
        "More trials will not settle it: {other} is expected to be {difference} worse than {best}. "
        "In this noise {most:count} trials of each would not show more than {tolerance}."
    ),
    "tolerated": N_(
        "More trials will not settle it: {other} is expected to be {difference} worse than "
        "{best}, which is within the tolerance of {tolerance}."
    ),
    "noise": N_("No setting has more than one trial, so how many would settle it is unknown."),
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


def trials_that_settle(
    candidates: Candidates, tied_set: BestSet, tolerance: str
) -> tuple[int | None, Message]:
    """How many trials of each tied setting would show that the one expected to be worst is worse
    than the best by more than the tolerance, in words, and the sentence; None, and why, where more
    would not: of more than MOST_WORTH nothing is asked."""
    tied = np.flatnonzero(tied_set.member)
    best, *_, other = tied[np.argsort(tied_set.loss[tied], kind="stable")]
    noise = float(np.hypot(*candidates["noise"][[best, other]]) / np.sqrt(2))
    difference = float(tied_set.loss[other] - tied_set.loss[best])
    beyond, n = difference - float(np.log1p(tied_set.tolerance)), None
    if beyond > 0 and noise > 0:
        n = replicates_to_tell(beyond, noise, len(tied), tied_set.confidence)
    # The trials that were made did not tell them apart.
    least = int(candidates["n"][[best, other]].min()) + 1
    n = max(n, least) if n and max(n, least) <= MOST_WORTH else None
    why_not = "tolerated" if beyond <= 0 else "many"
    why_not = why_not if candidates["estimable"].any() else "noise"
    return n, say(
        TRIALS_SETTLE if n else TRIALS_DO_NOT_SETTLE[why_not],
        best=candidates["name"][best],
        other=candidates["name"][other],
        difference=candidates.scale.loss_text(difference),
        tolerance=tolerance,
        most=MOST_WORTH,
        replicates=n,
        trials=n and n * len(tied),
        power=POWER,
    )
