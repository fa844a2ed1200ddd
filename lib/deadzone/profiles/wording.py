"""Sentences about a comparison, made from its numbers, for titles, captions and the terminal."""

from __future__ import annotations

import math
from typing import Any

from deadzone.profiles.attribution import Attribution
from deadzone.profiles.causes import OTHER
from deadzone.profiles.comparison import METHODS, Comparison
from deadzone.profiles.units import readable

SURE = 0.05
"""A change with p or q below this is called one."""


def change_of_total(comparison: Comparison) -> str:
    """The total before and after, its change and how sure that is, as a sentence."""
    row, unit, name = comparison.total.iloc[0], comparison.pair.unit, comparison.pair.value.name
    if comparison.identical:
        return f"The two profiles are identical: the same stacks with the same {name}, {readable(row.before, unit)}."
    before, after = readable(row.before, unit), readable(row.after, unit)
    share = f", {row.change / row.before:+.1%}" if row.before else ""
    return f"{name}: {before} before, {after} after ({readable(row.change, unit, signed=True)}{share}{_interval(row, unit)})."


def how_sure(comparison: Comparison) -> str:
    """Whether the change of the total is more than chance, and what the intervals are."""
    row = comparison.total.iloc[0]
    if comparison.identical:
        return "Nothing changed, so there is nothing to attribute."
    if math.isnan(row.p):
        return METHODS[comparison.method]
    verdict = "more than chance" if row.p < SURE else "not distinguishable from chance"
    return f"The change of the total is {verdict} (p = {row.p:.2g}). {METHODS[comparison.method]}"


def largest_cause(attribution: Attribution) -> str:
    """The finding of the waterfall: the cause that changed most."""
    causes = attribution.table[attribution.table["cause"] != OTHER]
    row = causes.iloc[int(causes["change"].abs().argmax())]
    if not row.change:
        return "None of the causes changed"
    verb = "saves" if row.change < 0 else "costs"
    amount = readable(abs(row.change), attribution.unit.partition(" ")[0])
    whole = readable(float(attribution.total), attribution.unit.partition(" ")[0], signed=True)
    return f"{row.cause} {verb} most: {amount} of a change of {whole}"


def naive_against_exact(attribution: Attribution) -> str:
    """The sum of overlapping changes beside what the causes are answerable for, with the overlaps named."""
    unit = attribution.unit
    total, naive = float(attribution.total), float(attribution.naive_sum)
    causes = total - float(attribution.exact[OTHER])
    text = (
        f"The causes and {OTHER} add up to the change of {readable(total, unit, signed=True)} exactly. "
        f"Everything that matches each cause, added up, would be {readable(naive, unit, signed=True)}"
    )
    if not len(attribution.overlaps):
        return f"{text}; no sample matches two causes."
    order = attribution.overlaps["change"].abs().sort_values(ascending=False, kind="stable").index
    pairs: list[Any] = attribution.overlaps.loc[order].to_dict("records")
    named = ", ".join(
        f"{pair['first']} and {pair['second']} ({readable(pair['change'], unit, signed=True)})"
        for pair in pairs
    )
    twice = readable(naive - causes, unit, signed=True)
    return f"{text}: {twice} of it is counted more than once, on stacks of {named}."


def _interval(row: Any, unit: str) -> str:
    low, high = float(row.change_low), float(row.change_high)
    if math.isnan(low):
        return ""
    size = max(abs(low), abs(high))
    ends = (readable(end, unit, signed=True, scale_of=size) for end in (low, high))
    return f"; 95 % interval {' to '.join(ends)}"
