"""An attribution in words: durations, verdicts, the evidence for each, and the verdict on the whole."""

import math

import pandas as pd

from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.phases.quantities import capital, percent
from deadzone.language.catalogue import join
from deadzone.plugins import Message, listing, say
from deadzone_services.attribution.hypotheses import ABOUT, CPU_LIMIT, UNDECIDED, VERDICTS
from deadzone_services.attribution.measures import Measure
from deadzone_services.attribution.result import AttributionResult

DIGITS = 3
"""Significant digits of a duration; its interval says how many of them hold."""

MOST_DECIMALS = 2
"""No clock of a request means more than hundredths of a millisecond."""

LEAST_SHARE = 5e-4
"""A share this near to nothing is written as nothing, without a sign."""


def hypothesis_name(name: str) -> Message:
    """A hypothesis in words."""
    return say(f"attribution.name_{name}")


def part_name(name: str) -> Message:
    """A part of the response in words."""
    return say(f"attribution.part_{name}")


def duration(seconds: float, signed: bool = False) -> str:
    """A time with its unit: `148.8 s` is `149 s`, `0.0123` is `12.3 ms`; with its sign where asked for."""
    if not math.isfinite(seconds):
        return "-"
    sign = "+" if signed and seconds >= 0 else ""
    if abs(seconds) < 5e-6:
        return f"{sign}0 ms"
    if abs(seconds) < 1:
        return f"{sign}{_plain(1000 * seconds)} ms"
    return f"{sign}{_plain(seconds)} s"


def verdict_name(row: pd.Series) -> Message:
    """A verdict in a word, or two where it is undecided for a reason."""
    if row["verdict"] != UNDECIDED:
        return say(f"attribution.{row['verdict']}")
    return say("attribution.undecided_because", why=say(f"attribution.short_{row['why']}"))


def share_text(row: pd.Series) -> str:
    """The share of the slowdown with its interval: `97 % (93 % to 101 %)`; a dash where it is not known."""
    if math.isnan(row["share"]):
        return "-"
    value, low, high = map(share_only, row[["share", "share_low", "share_high"]])
    if math.isnan(row["share_low"]):
        return value
    return say("attribution.interval", value=value, low=low, high=high)


def difference_text(low: float, value: float, high: float) -> str:
    """A difference with its interval: `+1.2 s (1.1 s to 1.3 s)`; without the interval where there is none."""
    told = duration(value, signed=True)
    if math.isnan(low):
        return told
    return say("attribution.interval", value=told, low=duration(low), high=duration(high))


def evidence_of(result: AttributionResult, name: str) -> Message:
    """What speaks for the verdict on a hypothesis, as sentences."""
    row = result.of(name)
    said = [_measured(result.measures[part]) for part in ABOUT[name].shown]
    if name == CPU_LIMIT:
        said += _limit(result)
    if result.cases[name].is_bounded:
        said.append(say("attribution.bounded"))
    if row["why"]:
        said.append(_why(result, row))
    return join(said)


def verdict(result: AttributionResult) -> Message:
    """How much slower, why, and what is excluded or open."""
    roles, slowdown = result.roles, result.slowdown
    named = {"slow": roles.slow, "fast": roles.fast}
    if result.is_same:
        said = [say("attribution.nothing", **named, margin=duration(result.margin.floor_s))]
    else:
        difference = difference_text(slowdown.low, slowdown.difference, slowdown.high)
        said = [say("attribution.slower", **named, ratio=f"{result.ratio:.3g}", difference=difference)]
        said += [] if result.is_slower else [say("attribution.not_shown", **named)]
    if result.is_slower and not result.confirmed:
        largest = result.largest
        said.append(say("attribution.largest", part=part_name(largest["part"]), share=share_text(largest)))
    for kind in VERDICTS:
        if names := [hypothesis_name(name) for name in result.named(kind)]:
            said.append(say(f"attribution.all_{kind}", n=len(names), names=listing(names)))
    return join(said)


def method(result: AttributionResult) -> Message:
    """How it was decided, with the margin and the correction."""
    return say(
        "attribution.method_text" if result.margin.share else "attribution.method_floor",
        share=result.margin.share,
        floor=duration(result.margin.floor_s),
        margin=duration(result.margin_s),
        n=result.tests,
        level=f"{1 - result.confidence:.2g}",
        confidence=result.confidence,
    )


def _measured(found: Measure) -> str:
    if not found.is_known:
        return ""
    part, slow, fast = capital(part_name(found.part)), duration(found.slow), duration(found.fast)
    if not (found.slow or found.fast):
        return say("attribution.measured_none", part=part)
    difference = difference_text(found.low, found.difference, found.high)
    return say("attribution.measured", part=part, slow=slow, fast=fast, difference=difference)


def _limit(result: AttributionResult) -> list[str]:
    roles, case = result.roles, result.cases[CPU_LIMIT]
    said: list[str] = []
    if roles.restored is not None:
        time, other = (duration(result.medians[name]) for name in (roles.restored, roles.fast))
        named = {"restored": roles.restored, "fast": roles.fast}
        said.append(say("attribution.removal", **named, time=time, other=other, p=case.removal))
    if roles.doses:
        count = len({roles.limits[name] for name in roles.doses})
        said.append(say("attribution.dose", n=count, p=case.dose))
    return said


def _why(result: AttributionResult, row: pd.Series) -> Message:
    n = min(result.sizes[result.roles.slow], result.sizes[result.roles.fast])
    return say(
        f"attribution.why_{row['why']}",
        slow=result.roles.slow,
        fast=result.roles.fast,
        restored=result.roles.restored or "",
        n=n,
        least=least_trials(max(result.tests, 1), result.confidence, sides=1),
        margin=duration(result.margin_s),
        what=say(f"attribution.unmeasured_{row['hypothesis']}"),
    )


def share_only(value: float) -> str:
    """A share as a percentage, without the sign of a rounded nothing."""
    return percent(value if abs(value) >= LEAST_SHARE else 0.0)


def _plain(value: float) -> str:
    """Three significant digits without an exponent."""
    size = math.floor(math.log10(abs(value)))
    return f"{value:,.{min(max(DIGITS - 1 - size, 0), MOST_DECIMALS)}f}"
