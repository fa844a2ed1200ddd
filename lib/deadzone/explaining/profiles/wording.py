"""Sentences about a comparison, made from its numbers, for titles, captions and the terminal."""

import math
from functools import partial
from typing import Any

from deadzone.errors import CompareError
from deadzone.explaining.compare.comparing import compare_tables
from deadzone.explaining.compare.page import verdict_text
from deadzone.explaining.compare.result import rows_of
from deadzone.explaining.profiles.attribution import Attribution
from deadzone.explaining.profiles.causes import OTHER
from deadzone.explaining.profiles.comparison import Comparison, method_text, tidy
from deadzone.explaining.profiles.projection import Projection
from deadzone.explaining.profiles.units import readable
from deadzone.language.catalogue import say

SURE = 0.05
"""A change with p or q below this is called one."""


def change_of_total(comparison: Comparison, with_interval: bool = True) -> str:
    """The total before and after, its change and, unless left out, the interval of it, as a sentence."""
    row, unit, name = comparison.total.iloc[0], comparison.pair.unit, comparison.pair.value.name
    before, after = readable(row.before, unit), readable(row.after, unit)
    if comparison.identical:
        return say("profile.identical", name=name, amount=before)
    told = {
        "change": readable(row.change, unit, signed=True),
        "share": f", {row.change / row.before:+.1%}" if row.before else "",
        "interval": _interval(row, unit) if with_interval else "",
    }
    return say("profile.total", name=name, before=before, after=after, **told)


def how_sure(comparison: Comparison) -> str:
    """Whether the change of the total is more than chance, and what the intervals are."""
    row = comparison.total.iloc[0]
    if comparison.identical:
        return say("profile.nothing_changed")
    method = method_text(comparison.method)
    if math.isnan(row.p):
        return method
    key = "profile.more_than_chance" if row.p < SURE else "profile.not_more_than_chance"
    return say(key, p=float(row.p), method=method)


def by_ranks(comparison: Comparison) -> str:
    """What `deadzone compare` says of the totals of the replicates; empty where a side has only one profile."""
    if comparison.method != "replicates" or comparison.identical:
        return ""
    table = tidy(comparison.pair)
    column = str(table.columns[-1])
    before, after = (table.loc[table["side"] == side, [column]] for side in ("before", "after"))
    try:
        row = rows_of(compare_tables(before, after, column, goal="min").overall)[0]
    except CompareError:  # a difference of profiles has negative totals
        return ""
    columns = {"ratio": "ratio", "low": "ratio_low", "high": "ratio_high", "p": "p_value"}
    figures = {name: float(row[column]) for name, column in columns.items()}
    return say("profile.by_ranks", verdict=verdict_text(row), **figures)


def largest_cause(attribution: Attribution) -> str:
    """The headline of the waterfall: the cause that changed most."""
    causes = attribution.table[attribution.table["cause"] != OTHER]
    row, unit = causes.iloc[int(causes["change"].abs().argmax())], attribution.unit.partition(" ")[0]
    if not row.change:
        return say("profile.no_cause_changed")
    amount, whole = readable(abs(row.change), unit), readable(float(attribution.total), unit, signed=True)
    key = "profile.cause_saves" if row.change < 0 else "profile.cause_costs"
    return say(key, cause=row.cause, amount=amount, whole=whole)


def naive_against_exact(attribution: Attribution) -> str:
    """The sum of overlapping changes beside what the causes are answerable for, with the overlaps named."""
    signed = partial(readable, unit=attribution.unit, signed=True)
    total, naive = float(attribution.total), float(attribution.naive_sum)
    causes = total - float(attribution.exact[OTHER])
    text = say("profile.exact", other=say("profile.other"), total=signed(total), naive=signed(naive))
    if not len(attribution.overlaps):
        return say("profile.no_overlap", exact=text)
    order = attribution.overlaps["change"].abs().sort_values(ascending=False, kind="stable").index
    pairs = attribution.overlaps.loc[order].itertuples(index=False, name=None)
    named = [say("profile.both", first=one, second=other, change=signed(part)) for one, other, part in pairs]
    return say("profile.overlap", exact=text, twice=signed(naive - causes), named=", ".join(named))


def projected(name: str, projection: Projection, unit: str) -> str:
    """The amount at another load with its interval. name: of what is projected. unit: of the measurements."""
    between = ""
    if projection.low is not None and projection.high is not None:
        ends = (projection.low, projection.high)
        low, high = (readable(end, unit, scale_of=projection.amount) for end in ends)
        between = say("profile.projected_between", low=low, high=high)
    amount = readable(projection.amount, unit)
    return say("profile.projected", name=name, load=projection.load, amount=amount, between=between)


def _interval(row: Any, unit: str) -> str:
    low, high = float(row.change_low), float(row.change_high)
    if math.isnan(low):
        return ""
    base, size = unit.partition(" ")[0], max(abs(low), abs(high))
    first, last = (readable(end, base, signed=True, scale_of=size) for end in (low, high))
    return say("profile.interval", low=first, high=last)
