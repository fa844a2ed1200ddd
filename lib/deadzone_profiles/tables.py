"""A comparison of profiles as a page of sentences and tables, whose amounts are written out; and as
plain data for JSON: numbers in the unit of the profile, nothing rounded.
"""

import math
import re
from functools import partial
from typing import Any

import pandas as pd

from deadzone.analysis.page import Page
from deadzone.analysis.records import records
from deadzone.language.formats import p_value
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout, Tabled, tabled
from deadzone.plugins import _
from deadzone_profiles.comparison import METHOD_TEXTS, ProfileComparison
from deadzone_profiles.pairing import Pair
from deadzone_profiles.units import readable

STATUSES = {"new": N_("new"), "vanished": N_("vanished")}

FUNCTIONS_TABLE = Layout(
    columns={
        "name": "{name}{status}",
        N_("before"): "{before}",
        N_("after"): "{after}",
        N_("change"): "{change}",
        N_("95 % interval"): "{interval}",
        N_("share"): "{share_before:percent} → {share_after:percent}",
        N_("cum. change"): "{cum_change}",
        "q": "{q}",
    },
    caption="{title}: {what}, flat, by absolute change",
)

SURE = 0.05
"""A change with p or q below this is called one."""


def change_of_total(comparison: ProfileComparison, with_interval: bool = True) -> str:
    """The total before and after, its change and, unless left out, the interval of it, as a
    sentence."""
    row, unit, name = comparison.total.iloc[0], comparison.pair.unit, comparison.pair.value.name
    before, after = readable(row.before, unit), readable(row.after, unit)
    if comparison.identical:
        return _(
            "The two profiles are identical: the same stacks with the same {name}, {amount}.",
            name=name,
            amount=before,
        )
    interval = interval_text(row.change_low, row.change_high, unit) if with_interval else ""
    return _(
        "{name}: {before} before, {after} after ({change}{share}{interval}).",
        name=name,
        before=before,
        after=after,
        change=readable(row.change, unit, signed=True),
        share=f", {row.change / row.before:+.1%}" if row.before else "",
        interval=_("; 95 % interval {interval}", interval=interval) if interval else "",
    )


def how_sure(comparison: ProfileComparison) -> str:
    """Whether the change of the total is more than chance, and what the intervals are."""
    row = comparison.total.iloc[0]
    if comparison.identical:
        return _("Nothing changed, so there is nothing to attribute.")
    method = say(METHOD_TEXTS[comparison.method])
    if math.isnan(row.p):
        return method
    text = (
        N_("The change of the total is more than chance ({p:p_equals}). {method}")
        if row.p < SURE
        else N_(
            "The change of the total is not distinguishable from chance ({p:p_equals}). {method}"
        )
    )
    return say(text, p=float(row.p), method=method)


TYPE_PARAMETERS = re.compile(r"(?<=\w)\[.*\]")
"""Of generic functions of Go; they make names several lines long."""


def interval_text(low: float, high: float, unit: str, size: float | None = None) -> str:
    """An interval; empty where it is not known. size: the amount whose size chooses the unit."""
    if math.isnan(low):
        return ""
    base = unit.partition(" ")[0]
    scale = max(abs(low), abs(high)) if size is None else size
    ends = (readable(end, base, signed=True, scale_of=scale) for end in (low, high))
    return _("{low} to {high}", **dict(zip(("low", "high"), ends, strict=True)))


def answer(comparison: ProfileComparison) -> list[str]:
    """What changed in all, how sure that is, and what is doubtful: first, where nothing is in both
    profiles."""
    found = [change_of_total(comparison), how_sure(comparison)]
    doubts = [f"Warning: {doubt}" for doubt in comparison.doubts]
    return [*doubts, *found] if comparison.is_disjoint else [*found, *doubts]


def comparison_page(comparison: ProfileComparison) -> Page:
    """The tables of packages and functions, and what their amounts are divided by."""
    pair = comparison.pair
    tables = {"Packages": comparison.packages, "Functions": comparison.functions}
    sections = [_changes(title, table, pair) for title, table in tables.items()]
    return Page("What changed?", [] if comparison.identical else sections, {"Note": pair.notes})


def _changes(title: str, table: pd.DataFrame, pair: Pair) -> Tabled:
    """Functions or packages with their shares, new and vanished ones named. All amounts have the
    unit that suits the largest, without the load that they are per."""
    size = float(table[["before", "after"]].abs().to_numpy().max(initial=0))
    amount = partial(readable, unit=pair.unit.partition(" per ")[0], scale_of=size)
    changed = table[(table["change"] != 0) | (table["cum_change"] != 0)]
    rows = [
        {
            **row,
            "name": TYPE_PARAMETERS.sub("[...]", row["name"]),
            "status": f" ({say(STATUSES[row['status']])})" if row["status"] else "",
            **{side: amount(row[side]) for side in ("before", "after")},
            **{name: amount(row[name], signed=True) for name in ("change", "cum_change")},
            "interval": interval_text(row["change_low"], row["change_high"], pair.unit, size),
            "q": "" if math.isnan(row["q"]) else p_value(row["q"]),
        }
        for row in changed.to_dict("records")
    ]
    return tabled(FUNCTIONS_TABLE, rows, title=title, what=pair.what)


def comparison_data(comparison: ProfileComparison) -> dict[str, Any]:
    """Value, unit, total, functions, packages, method, notes and doubts; unknown numbers are
    None."""
    pair = comparison.pair
    return {
        "value": pair.value.name,
        "unit": pair.unit,
        "identical": comparison.identical,
        "method": comparison.method,
        "method_text": say(METHOD_TEXTS[comparison.method]),
        "profiles": {
            side: [profile.source for profile in getattr(pair, side).profiles]
            for side in ("before", "after")
        },
        "total": records(comparison.total)[0],
        "packages": records(comparison.packages),
        "functions": records(comparison.functions),
        "notes": list(pair.notes),
        "warnings": list(comparison.doubts),
    }
