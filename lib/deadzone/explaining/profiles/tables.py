"""The tables of a comparison of profiles, with amounts written out; a terminal and a report show the same.

A comparison as text for a terminal: sentences, then tables whose columns align.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from deadzone.explaining.profiles import wording
from deadzone.explaining.profiles.attribution import Ablations, Attribution, rule_text
from deadzone.explaining.profiles.causes import OTHER
from deadzone.explaining.profiles.comparison import Comparison
from deadzone.explaining.profiles.projection import Projection
from deadzone.explaining.profiles.units import readable
from deadzone.language.catalogue import say
from deadzone.language.tabling import Tabled, tabled

SIDES = ("before", "after")

AMOUNTS = (*SIDES, "change", "naive_change", "cum_change", "by_stacks", "elsewhere")
"""Columns of profiles' results that hold amounts."""

LONGEST_NAME = 52
TYPE_PARAMETERS = re.compile(r"(?<=\w)\[.*\]")
"""Of generic functions of Go; they make names several lines long."""

ROWS_SHOWN = 15


def causes_table(attribution: Attribution) -> Tabled:
    """The change of each cause, beside the change of everything that matches it."""
    unit, per = split_unit(attribution.unit)
    rows = [
        {**_amounts(row, unit, _size(attribution.table)), "name": cause_name(row), "position": position}
        for position, row in enumerate(attribution.table.to_dict("records"))
    ]
    return tabled("explaining/profiles.causes", rows, per=per, rule=rule_text(attribution.rule))


def cause_name(row: Mapping[Any, Any]) -> str:
    """The cause of a row; what no cause explains in words."""
    return say("profile.other") if row["cause"] == OTHER else str(row["cause"])


def ablations_table(ablations: Ablations) -> Tabled:
    """What each option did alone, beside what its own stacks say."""
    unit, per = split_unit(ablations.unit)
    size = float(ablations.table["before"].abs().max())
    rows = [_amounts(row, unit, size) for row in ablations.table.to_dict("records")]
    return tabled("explaining/profiles.ablations", rows, per=per)


def changes_table(table: pd.DataFrame, of: str, most: int, head: str) -> Tabled:
    """The functions or packages that changed most, with their shares, new and vanished ones named.

    of: the unit of the amounts. most: rows. head: of the first column.
    """
    unit, per = split_unit(of)
    changed, size = changed_rows(table), _size(table)
    rows = [
        {
            **_amounts(row, unit, size),
            "name": _named(row),
            "q": "" if math.isnan(row["q"]) else f"{row['q']:.2g}",
        }
        for row in changed.head(most).to_dict("records")
    ]
    new, gone = (int((changed["status"] == status).sum()) for status in ("new", "vanished"))
    counted = {"shown": len(rows), "n": len(changed), "new": new, "gone": gone}
    return tabled("explaining/profiles.functions", rows, per=per, head=head, **counted)


def changed_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose flat or cumulative amount changed."""
    return table[(table["change"] != 0) | (table["cum_change"] != 0)]


def interval_text(low: float, high: float, unit: str, size: float | None = None, signed: bool = True) -> str:
    """An interval; empty where it is not known. size: the amount whose size chooses the unit."""
    if math.isnan(low):
        return ""
    base = unit.partition(" ")[0]
    scale = max(abs(low), abs(high)) if size is None else size
    first, last = (readable(end, base, signed=signed, scale_of=scale) for end in (low, high))
    number, _, symbol = first.rpartition(" ")
    return say("profile.range", low=number if number and last.endswith(f" {symbol}") else first, high=last)


def split_unit(unit: str) -> tuple[str, str]:
    """The unit of the cells of a table, and what its caption says they are for each of, with a space before."""
    base, _, rest = unit.partition(" per ")
    return base, f" {say('profile.per_each', load=rest)}" if rest else ""


def _size(table: pd.DataFrame) -> float:
    return float(table[["before", "after"]].abs().to_numpy().max(initial=0))


def _amounts(row: Mapping[Any, Any], unit: str, size: float) -> dict[Any, Any]:
    """A row whose amounts are written out, changes with their sign; empty where one is not known."""
    texts = {
        name: "" if math.isnan(row[name]) else readable(row[name], unit, name not in SIDES, scale_of=size)
        for name in AMOUNTS
        if name in row
    }
    return {**row, **texts, "interval": interval_text(row["change_low"], row["change_high"], unit, size)}


def _named(row: Mapping[Any, Any]) -> str:
    """The name of a row, shortened at its front, and whether it is new or vanished."""
    name = TYPE_PARAMETERS.sub("[...]", str(row["name"]))
    short = name if len(name) <= LONGEST_NAME else "..." + name[-(LONGEST_NAME - 3) :]
    return f"{short} ({say('profile.' + row['status'])})" if row["status"] else short


def comparison_text(comparison: Comparison, rows: int = ROWS_SHOWN) -> str:
    """Total, notes, doubts, and the tables of packages and functions, the first rows of each."""
    parts = [
        wording.change_of_total(comparison),
        wording.how_sure(comparison),
        *filter(None, [wording.by_ranks(comparison)]),
    ]
    parts += [f"Note: {note}" for note in comparison.pair.notes]
    parts += [f"Warning: {doubt}" for doubt in comparison.doubts]
    if not comparison.identical:
        for title, table in (("Packages", comparison.packages), ("Functions", comparison.functions)):
            parts.append(f"\n{title}: {comparison.pair.what}, flat, by absolute change")
            parts.append(aligned(changes_table(table, comparison.pair.unit, rows, "name").frame))
            left = len(changed_rows(table)) - rows
            parts += [f"... and {left} more; --rows shows them"] if left > 0 else []
    return "\n".join(parts)


def attribution_text(attribution: Attribution) -> str:
    """The causes with their change, then the naive sum beside it."""
    table = aligned(causes_table(attribution).frame)
    return "\n".join(["Causes", table, rule_text(attribution.rule), wording.naive_against_exact(attribution)])


def ablation_text(ablations: Ablations) -> str:
    """Options switched one at a time, beside what the stacks say."""
    return "\n".join(["Ablations", aligned(ablations_table(ablations).frame), ablations.statement()])


def projection_text(name: str, projection: Projection, unit: str) -> str:
    """The projected amount with its interval and doubts."""
    doubts = [f"Warning: {doubt}" for doubt in projection.doubts]
    return "\n".join([wording.projected(name, projection, unit), *doubts])


def aligned(table: pd.DataFrame) -> str:
    """A table as text, its first column to the left and the others to the right."""
    head, rows = [str(name) for name in table.columns], table.to_numpy().tolist()
    first, *others = (max(map(len, column)) for column in zip(head, *rows, strict=True))
    layout = "  ".join((f"{{:<{first}}}", *(f"{{:>{width}}}" for width in others)))
    dashes = ["-" * width for width in (first, *others)]
    return "\n".join(layout.format(*row).rstrip() for row in (head, dashes, *rows))
