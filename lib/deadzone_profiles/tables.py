"""A comparison of profiles as text for a terminal: sentences, then tables whose columns align and
whose amounts are written out. And as plain data for JSON: numbers in the unit of the profile,
nothing rounded.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import pandas as pd

from deadzone.analysis.records import records
from deadzone.language.formats import p_value
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout, tabled
from deadzone.plugins import _
from deadzone_profiles.attribution import OTHER, Ablations, CauseAttribution, rule_text
from deadzone_profiles.comparison import ProfileComparison, method_text
from deadzone_profiles.projection import Projection
from deadzone_profiles.units import readable

STATUSES = {
    "new": N_("new"),
    "vanished": N_("vanished"),
}


CAUSES_TABLE = Layout(
    columns={
        N_("cause"): "{name}",
        N_("before"): "{before}",
        N_("after"): "{after}",
        N_("change"): "{change}",
        N_("95 % interval"): "{interval}",
        N_("of the change"): "{share_of_change:percent}",
        N_("all that matches"): "{naive_change}",
    },
)

ABLATIONS_TABLE = Layout(
    columns={
        N_("option alone"): "{option}",
        N_("change"): "{change}",
        N_("95 % interval"): "{interval}",
        N_("by its stacks"): "{by_stacks}",
        N_("on other stacks"): "{elsewhere}",
    },
)

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
    method = method_text(comparison.method)
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


def largest_cause(attribution: CauseAttribution) -> str:
    """The cause that changed most, in words."""
    causes = attribution.table[attribution.table["cause"] != OTHER]
    row, unit = (
        causes.iloc[int(causes["change"].abs().argmax())],
        attribution.unit.partition(" ")[0],
    )
    if not row.change:
        return _("None of the causes changed")
    amount, whole = (
        readable(abs(row.change), unit),
        readable(float(attribution.total), unit, signed=True),
    )
    text = (
        N_("{cause} saves most: {amount} of a change of {whole}")
        if row.change < 0
        else N_("{cause} costs most: {amount} of a change of {whole}")
    )
    return say(text, cause=row.cause, amount=amount, whole=whole)


def naive_against_exact(attribution: CauseAttribution) -> str:
    """The sum of overlapping changes beside what the causes are answerable for, with the overlaps
    named."""
    signed = partial(readable, unit=attribution.unit, signed=True)
    total, naive = float(attribution.total), float(attribution.naive_sum)
    causes = total - float(attribution.exact[OTHER])
    text = _(
        "The causes and {other} add up to the change of {total} exactly. Everything that matches "
        "each cause, added up, would be {naive}",
        other=_("other"),
        total=signed(total),
        naive=signed(naive),
    )
    if not len(attribution.overlaps):
        return _("{exact}; no sample matches two causes.", exact=text)
    order = attribution.overlaps["change"].abs().sort_values(ascending=False, kind="stable").index
    pairs = attribution.overlaps.loc[order].itertuples(index=False, name=None)
    named = [
        _("{first} and {second} ({change})", first=first, second=second, change=signed(part))
        for first, second, part in pairs
    ]
    return _(
        "{exact}: {twice} of it is counted more than once, on stacks of {named}.",
        exact=text,
        twice=signed(naive - causes),
        named=", ".join(named),
    )


def projected(name: str, projection: Projection, unit: str) -> str:
    """The amount at another load with its interval. name: of what is projected. unit: of the
    measurements."""
    between = ""
    if projection.low is not None and projection.high is not None:
        ends, size = (projection.low, projection.high), projection.amount
        interval = interval_text(*ends, unit, size, signed=False)
        between = _("; 95 % prediction interval {interval}", interval=interval)
    amount = readable(projection.amount, unit)
    return _(
        "{name} at a load of {load:count}: {amount}{between}.",
        name=name,
        load=projection.load,
        amount=amount,
        between=between,
    )


SIDES = ("before", "after")

AMOUNTS = (*SIDES, "change", "naive_change", "cum_change", "by_stacks", "elsewhere")
"""Columns of profiles' results that hold amounts."""

LONGEST_NAME = 52
TYPE_PARAMETERS = re.compile(r"(?<=\w)\[.*\]")
"""Of generic functions of Go; they make names several lines long."""


def interval_text(
    low: float, high: float, unit: str, size: float | None = None, signed: bool = True
) -> str:
    """An interval; empty where it is not known. size: the amount whose size chooses the unit."""
    if math.isnan(low):
        return ""
    base = unit.partition(" ")[0]
    scale = max(abs(low), abs(high)) if size is None else size
    first, last = (readable(end, base, signed=signed, scale_of=scale) for end in (low, high))
    number, symbol = first.rpartition(" ")[::2]
    return _(
        "{low} to {high}",
        low=number if number and last.endswith(f" {symbol}") else first,
        high=last,
    )


def _size(table: pd.DataFrame) -> float:
    return float(table[["before", "after"]].abs().to_numpy().max(initial=0))


def _amounts(row: Mapping[Any, Any], of: str, size: float) -> dict[Any, Any]:
    """A row whose amounts are written out, changes with their sign; empty where one is not known.
    of: their unit, with the load that they are per."""
    unit = of.partition(" per ")[0]
    texts = {
        name: ""
        if math.isnan(row[name])
        else readable(row[name], unit, name not in SIDES, scale_of=size)
        for name in AMOUNTS
        if name in row
    }
    return {
        **row,
        **texts,
        "interval": interval_text(row["change_low"], row["change_high"], unit, size),
    }


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
        for title, table in (
            ("Packages", comparison.packages),
            ("Functions", comparison.functions),
        ):
            parts.append(f"\n{title}: {comparison.pair.what}, flat, by absolute change")
            changed = table[(table["change"] != 0) | (table["cum_change"] != 0)]
            parts.append(_changes(changed.head(rows), comparison.pair.unit, _size(table)))
            left = len(changed) - rows
            parts += [f"... and {left} more; --rows shows them"] if left > 0 else []
    return "\n".join(parts)


def _changes(table: pd.DataFrame, unit: str, size: float) -> str:
    """Functions or packages with their shares, new and vanished ones named. size: the amount whose
    size chooses the unit shown."""
    rows = [
        {
            **_amounts(row, unit, size),
            "name": _named(row),
            "q": "" if math.isnan(row["q"]) else p_value(row["q"]),
        }
        for row in table.to_dict("records")
    ]
    return aligned(tabled(FUNCTIONS_TABLE, rows).frame)


def attribution_text(attribution: CauseAttribution) -> str:
    """The causes with their change, then the naive sum beside it."""
    size = _size(attribution.table)
    rows = [
        {
            **_amounts(row, attribution.unit, size),
            "name": _("other") if row["cause"] == OTHER else row["cause"],
        }
        for row in attribution.table.to_dict("records")
    ]
    table = aligned(tabled(CAUSES_TABLE, rows).frame)
    return "\n".join(
        ["Causes", table, rule_text(attribution.rule), naive_against_exact(attribution)]
    )


def ablation_text(ablations: Ablations) -> str:
    """Options switched one at a time, beside what the stacks say."""
    size = float(ablations.table["before"].abs().max())
    rows = [_amounts(row, ablations.unit, size) for row in ablations.table.to_dict("records")]
    table = aligned(tabled(ABLATIONS_TABLE, rows).frame)
    return "\n".join(["Ablations", table, ablations.statement()])


def projection_text(name: str, projection: Projection, unit: str) -> str:
    """The projected amount with its interval and doubts."""
    doubts = [f"Warning: {doubt}" for doubt in projection.doubts]
    return "\n".join([projected(name, projection, unit), *doubts])


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
        "method_text": method_text(comparison.method),
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


def attribution_data(attribution: CauseAttribution) -> dict[str, Any]:
    """The causes, the naive sum, and the overlaps."""
    return {
        "rule": attribution.rule,
        "unit": attribution.unit,
        "total_change": float(attribution.total),
        "naive_sum": float(attribution.naive_sum),
        "counted_more_than_once": float(attribution.counted_twice),
        "causes": records(attribution.table),
        "overlaps": records(attribution.overlaps),
    }


def ablation_data(ablations: Ablations) -> dict[str, Any]:
    """The single effects, their stacks, and the interaction."""
    return {
        "unit": ablations.unit,
        "options": records(ablations.table),
        "by_cause": {
            str(option): row for option, row in ablations.by_cause.to_dict("index").items()
        },
        "total_change": ablations.total,
        "interaction": ablations.interaction,
    }


def projection_data(projection: Projection, unit: str) -> dict[str, Any]:
    """The projection with its unit."""
    lists = {"loads": list(projection.loads), "doubts": list(projection.doubts)}
    return {**asdict(projection), **lists, "unit": unit}
