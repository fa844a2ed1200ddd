"""A comparison of profiles as text for a terminal: sentences, then tables whose columns align and
whose amounts are written out. And as plain data for JSON: numbers in the unit of the profile,
nothing rounded.
"""

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from deadzone.analysis.records import records
from deadzone.language.formats import p_value
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout, tabled
from deadzone.plugins import _
from deadzone_profiles.comparison import METHOD_TEXTS, ProfileComparison
from deadzone_profiles.units import readable

STATUSES = {"new": N_("new"), "vanished": N_("vanished")}

FUNCTIONS_TABLE = Layout(
    columns={
        "name": "{name}",
        N_("before"): "{before}",
        N_("after"): "{after}",
        N_("change"): "{change}",
        N_("95 % interval"): "{interval}",
        N_("share"): "{share_before:percent} → {share_after:percent}",
        N_("cum. change"): "{cum_change}",
        "q": "{q}",
    },
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
    facts = {
        "change": readable(row.change, unit, signed=True),
        "share": f", {row.change / row.before:+.1%}" if row.before else "",
        "interval": _("; 95 % interval {interval}", interval=interval) if interval else "",
    }
    return _(
        "{name}: {before} before, {after} after ({change}{share}{interval}).",
        name=name,
        before=before,
        after=after,
        **facts,
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


LONGEST_NAME = 52
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


def _named(row: Mapping[Any, Any]) -> str:
    """The name of a row, shortened at its front, and whether it is new or vanished."""
    name = TYPE_PARAMETERS.sub("[...]", str(row["name"]))
    short = name if len(name) <= LONGEST_NAME else "..." + name[-(LONGEST_NAME - 3) :]
    return f"{short} ({say(STATUSES[row['status']])})" if row["status"] else short


def comparison_text(comparison: ProfileComparison, rows: int) -> str:
    """Total, notes, doubts, and the tables of packages and functions, the first rows of each."""
    parts = [change_of_total(comparison), how_sure(comparison)]
    parts += [f"Note: {note}" for note in comparison.pair.notes]
    doubts = [f"Warning: {doubt}" for doubt in comparison.doubts]
    parts = [*doubts, *parts] if comparison.is_disjoint else [*parts, *doubts]
    if not comparison.identical:
        tables = {"Packages": comparison.packages, "Functions": comparison.functions}
        for title, table in tables.items():
            parts.append(f"\n{title}: {comparison.pair.what}, flat, by absolute change")
            size = float(table[["before", "after"]].abs().to_numpy().max(initial=0))
            changed = table[(table["change"] != 0) | (table["cum_change"] != 0)]
            parts.append(_changes(changed.head(rows), comparison.pair.unit, size))
            left = len(changed) - rows
            parts += [f"... and {left} more; --rows shows them"] if left > 0 else []
    return "\n".join(parts)


def _changes(table: pd.DataFrame, unit: str, size: float) -> str:
    """Functions or packages with their shares, new and vanished ones named. size: the amount whose
    size chooses the unit shown, without the load that amounts are per."""
    amount = partial(readable, unit=unit.partition(" per ")[0], scale_of=size)
    rows = [
        {
            **row,
            "name": _named(row),
            **{side: amount(row[side]) for side in ("before", "after")},
            **{name: amount(row[name], signed=True) for name in ("change", "cum_change")},
            "interval": interval_text(row["change_low"], row["change_high"], unit, size),
            "q": "" if math.isnan(row["q"]) else p_value(row["q"]),
        }
        for row in table.to_dict("records")
    ]
    return aligned(tabled(FUNCTIONS_TABLE, rows).frame)


def aligned(table: pd.DataFrame) -> str:
    """A table as text, its first column to the left and the others to the right."""
    head, rows = [str(name) for name in table.columns], table.to_numpy().tolist()
    first, *others = (max(map(len, column)) for column in zip(head, *rows, strict=True))
    layout = "  ".join((f"{{:<{first}}}", *(f"{{:>{width}}}" for width in others)))
    dashes = ["-" * width for width in (first, *others)]
    return "\n".join(layout.format(*row).rstrip() for row in (head, dashes, *rows))


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
