"""An attribution in words: durations, verdicts, the evidence for each, and the verdict on the
whole."""

import math

import pandas as pd

from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.phases.quantities import capital, percent
from deadzone.language.formats import exact, number
from deadzone.language.messages import N_, join, say
from deadzone.plugins import Message, _, listing
from deadzone_services.attribution.hypotheses import ABOUT, CPU_LIMIT, UNDECIDED, VERDICTS
from deadzone_services.attribution.measures import Measure
from deadzone_services.attribution.result import AttributionResult
from deadzone_services.attribution.sentences import (
    HYPOTHESES,
    PARTS,
    TOO_FEW,
    TOO_FEW_FOR_ALL,
    UNMEASURED,
    VERDICTS_IN_WORDS,
    VERDICTS_ON,
    WHY_IN_SHORT,
    WHY_UNDECIDED,
)

CLOCK_MS = 0.1
"""A clock of a request is good to a tenth of a millisecond: two digits of that are shown."""


ALL_OF_IT = 0.95
"""A part that makes up so much of the slowdown is all of it."""


def hypothesis_name(name: str) -> Message:
    """A hypothesis in words."""
    return say(HYPOTHESES[name])


def part_name(name: str) -> Message:
    """A part of the response in words."""
    return say(PARTS[name])


def duration(seconds: float, signed: bool = False) -> str:
    """A time with its unit: `148.8 s` is `149 s`, `0.0123` is `12.3 ms`; with its sign where asked
    for."""
    if not math.isfinite(seconds):
        return "-"
    sign = "+" if signed and seconds >= 0 else ""
    if abs(seconds) < 1:
        return f"{sign}{number(1000 * seconds, CLOCK_MS)} ms"
    return f"{sign}{number(seconds)} s"


def verdict_name(row: pd.Series) -> Message:
    """A verdict in a word, or two where it is undecided for a reason."""
    if row["verdict"] != UNDECIDED:
        return say(VERDICTS_IN_WORDS[row["verdict"]])
    return _("undecided: {why}", why=say(WHY_IN_SHORT[row["why"]]))


def share_text(row: pd.Series) -> str:
    """The share of the slowdown with its interval: `97 % (93 % to 101 %)`; a dash where it is not
    known."""
    if math.isnan(row["share"]):
        return "-"
    value, low, high = map(percent, row[["share", "share_low", "share_high"]])
    if math.isnan(row["share_low"]):
        return value
    return _("{value} ({low} to {high})", value=value, low=low, high=high)


def difference_text(low: float, value: float, high: float) -> str:
    """A difference with its interval: `+1.2 s (1.1 s to 1.3 s)`; without the interval where there
    is none."""
    told = duration(value, signed=True)
    if math.isnan(low):
        return told
    return _("{value} ({low} to {high})", value=told, low=duration(low), high=duration(high))


def evidence_of(result: AttributionResult, name: str) -> Message:
    """What speaks for the verdict on a hypothesis, as sentences."""
    row = result.of(name)
    sentences = [_measured(result.measures[part]) for part in ABOUT[name].shown]
    if name == CPU_LIMIT:
        sentences += _limit(result)
    if result.cases[name].is_bounded:
        sentences.append(
            _(
                "All of it together is under the margin in every request, so it cannot be the "
                "cause, whatever a test says."
            )
        )
    if row["why"]:
        sentences.append(_why(result, row))
    return join(sentences)


def verdict(result: AttributionResult) -> Message:
    """How much slower, why, and what is excluded or open."""
    roles, slowdown = result.roles, result.slowdown
    named = {"slow": roles.slow, "fast": roles.fast}
    if result.is_same:
        sentences = [
            _(
                "{slow} and {fast} respond equally fast, within {margin}: there is nothing to "
                "explain.",
                **named,
                margin=duration(result.margin.floor_s),
            )
        ]
    else:
        difference = difference_text(slowdown.low, slowdown.difference, slowdown.high)
        sentences = [
            _(
                "{slow} takes {ratio} times as long as {fast}: {difference}.",
                **named,
                ratio=number(result.ratio),
                difference=difference,
            )
        ]
        sentences += (
            []
            if result.is_slower
            else [_("That {slow} is slower than {fast} is not shown.", **named)]
        )
    if result.is_slower and not result.confirmed:
        largest = result.largest
        is_all = result.largest["share"] >= ALL_OF_IT
        facts = {
            "part": part_name(largest["part"]),
            "share": share_text(largest),
            "n": _fewest(result),
            "least": _least(result),
        }
        if (result.hypotheses["why"] == "few").any():
            sentences.append(say(TOO_FEW_FOR_ALL if is_all else TOO_FEW, **facts))
        else:
            sentences.append(
                _(
                    'No hypothesis is confirmed; the largest part of the slowdown is "{part}": '
                    "{share}.",
                    **facts,
                )
            )
    sentences += _setting(result)
    for kind in VERDICTS:
        if names := [hypothesis_name(name) for name in result.named(kind)]:
            sentences.append(say(VERDICTS_ON[kind], n=len(names), names=listing(names)))
    return join(sentences)


def _setting(result: AttributionResult) -> list[Message]:
    """Which CPU limit to set, where the limit makes up the slowdown."""
    name = result.least_limit
    if name is None:
        return []
    limit, margin = result.roles.limits[name], duration(result.margin.floor_s)
    if math.isinf(limit):
        return [
            _("Each CPU limit that was measured costs more than {margin}.", margin=margin),
        ]
    return [
        _(
            "Set cpu_limit {limit}: the median there is {time}, within {margin} of the fastest, "
            "and that of no smaller limit is.",
            limit=f"{limit:g}",
            time=duration(result.medians[name]),
            margin=margin,
        )
    ]


def method(result: AttributionResult) -> Message:
    """How it was decided, with the margin and the correction."""
    return say(
        N_(
            "A hypothesis is confirmed where its time is shown to differ by more than the margin, "
            "and excluded where two one-sided tests (TOST) show that it differs "
            "by less. For the time outside the service one test shows that it is not longer. A "
            "difference that is merely not significant excludes nothing. The margin is "
            "{share:percent} of the slowdown plus {floor}, here {margin}. All are rank tests "
            "between the environments; their {n} p-values are corrected together by Holm's method, "
            "at the level {level}. Differences are means over the middle half of the trials with a "
            "bootstrap interval ({confidence:percent}), so that the parts add up to the slowdown "
            "exactly. The kernel counts what the service did for its control group. Throttled "
            "time, which it counts once for each CPU, is divided by the CPUs that the service kept "
            "busy at once."
        )
        if result.margin.share
        else N_(
            "A hypothesis is confirmed where its time is shown to differ by more than the margin, "
            "and excluded where two one-sided tests (TOST) show that it differs "
            "by less. For the time outside the service one test shows that it is not longer. A "
            "difference that is merely not significant excludes nothing. Since no slowdown is "
            "shown of which a part could be a share, the margin is {floor}. All are rank tests "
            "between the environments; their {n} p-values are corrected together by Holm's method, "
            "at the level {level}. Differences are means over the middle half of the trials with a "
            "bootstrap interval ({confidence:percent}), so that the parts add up to the slowdown "
            "exactly. The kernel counts what the service did for its control group. Throttled "
            "time, which it counts once for each CPU, is divided by the CPUs that the service kept "
            "busy at once."
        ),
        share=result.margin.share,
        floor=duration(result.margin.floor_s),
        margin=duration(result.margin_s),
        n=result.tests,
        level=exact(1 - result.confidence),
        confidence=result.confidence,
    )


def _measured(measure: Measure) -> str:
    if not measure.is_known:
        return ""
    part, slow, fast = (
        capital(part_name(measure.part)),
        duration(measure.slow),
        duration(measure.fast),
    )
    if not (measure.slow or measure.fast):
        return _("{part}: none in either.", part=part)
    difference = difference_text(measure.low, measure.difference, measure.high)
    return _(
        "{part}: {slow} against {fast}, {difference}.",
        part=part,
        slow=slow,
        fast=fast,
        difference=difference,
    )


def _limit(result: AttributionResult) -> list[str]:
    roles, case = result.roles, result.cases[CPU_LIMIT]
    sentences: list[str] = []
    if roles.restored is not None:
        time, other = (duration(result.medians[name]) for name in (roles.restored, roles.fast))
        named = {"restored": roles.restored, "fast": roles.fast}
        sentences.append(
            _(
                "Without the limit ({restored}): {time}, in {fast} {other}; that the two are the "
                "same within the margin has {p:p_equals}.",
                **named,
                time=time,
                other=other,
                p=case.removal,
            )
        )
    if roles.doses:
        count = len({roles.limits[name] for name in roles.doses})
        sentences.append(
            _(
                "Over {n} limits the response falls as the limit rises ({p:p_equals}).",
                n=count,
                p=case.dose,
            )
        )
    return sentences


def _why(result: AttributionResult, row: pd.Series) -> Message:
    return say(
        WHY_UNDECIDED[row["why"]],
        slow=result.roles.slow,
        fast=result.roles.fast,
        restored=result.roles.restored or "",
        n=_fewest(result),
        least=_least(result),
        margin=duration(result.margin_s),
        what=say(UNMEASURED[row["hypothesis"]]),
    )


def _fewest(result: AttributionResult) -> int:
    """Trials of the environment that has fewer."""
    return min(result.sizes[result.roles.slow], result.sizes[result.roles.fast])


def _least(result: AttributionResult) -> int:
    """Trials of each environment that can show anything."""
    return least_trials(max(result.tests, 1), result.confidence, sides=1)
