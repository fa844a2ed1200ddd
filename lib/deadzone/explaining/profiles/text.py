"""A comparison as text for a terminal: sentences, then tables whose columns align."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from deadzone.explaining.profiles.ablation import Ablations
from deadzone.explaining.profiles.attribution import Attribution, rule_text
from deadzone.explaining.profiles.comparison import Comparison
from deadzone.explaining.profiles.gates import Verdict
from deadzone.explaining.profiles.projection import Projection
from deadzone.explaining.profiles.units import readable
from deadzone.explaining.profiles.wording import (
    by_ranks,
    change_of_total,
    how_sure,
    naive_against_exact,
    projected,
)
from deadzone.language.catalogue import say

ROWS_SHOWN = 15
LONGEST_NAME = 52
TYPE_PARAMETERS = re.compile(r"(?<=\w)\[.*\]")
"""Of generic functions of Go; they make names several lines long."""

COLUMNS = ("before", "after", "change", "95 % interval", "share", "cum. change", "q")


def comparison_text(comparison: Comparison, rows: int = ROWS_SHOWN) -> str:
    """Total, notes, doubts, and the tables of packages and functions, the first rows of each."""
    parts = [change_of_total(comparison), how_sure(comparison), *filter(None, [by_ranks(comparison)])]
    parts += [f"Note: {note}" for note in comparison.pair.notes]
    parts += [f"Warning: {doubt}" for doubt in comparison.doubts]
    if not comparison.identical:
        unit = comparison.pair.unit
        for title, table in (("Packages", comparison.packages), ("Functions", comparison.functions)):
            parts.append(f"\n{title}: {comparison.pair.what}, flat, by absolute change")
            parts.append(_changes(table, unit, rows))
    return "\n".join(parts)


def attribution_text(attribution: Attribution) -> str:
    """The causes with their change, then the naive sum beside it."""
    table, unit = attribution.table, attribution.unit
    size = float(table[["before", "after"]].abs().to_numpy().max(initial=0))
    rows = [
        (
            row["cause"],
            *(_amount(row[name], unit, size, name == "change") for name in ("before", "after", "change")),
            _interval(row, unit, size),
            f"{row['share_of_change']:.1%}",
            _amount(row["naive_change"], unit, size, True),
        )
        for row in table.to_dict("records")
    ]
    head = ("cause", "before", "after", "change", "95 % interval", "of the change", "all that matches")
    lines = ["Causes", aligned(head, rows), rule_text(attribution.rule), naive_against_exact(attribution)]
    return "\n".join(lines)


def ablation_text(ablations: Ablations) -> str:
    """Options switched one at a time, beside what the stacks say."""
    table, unit = ablations.table, ablations.unit
    size = float(table["before"].abs().max())
    rows = [
        (
            row["option"],
            _amount(row["change"], unit, size, True),
            _interval(row, unit, size),
            _amount(row["by_stacks"], unit, size, True),
            _amount(row["elsewhere"], unit, size, True),
        )
        for row in table.to_dict("records")
    ]
    head = ("option alone", "change", "95 % interval", "by its stacks", "on other stacks")
    return "\n".join(["Ablations", aligned(head, rows), ablations.statement()])


def projection_text(name: str, projection: Projection, unit: str) -> str:
    """The projected amount with its interval and doubts."""
    return "\n".join([projected(name, projection, unit), *_warnings(projection.doubts)])


def verdict_text(verdict: Verdict) -> str:
    """The verdict of the quality gates, and each gate."""
    return "\n".join([f"Verdict: {verdict}", *(f"  {outcome}" for outcome in verdict.outcomes)])


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of text, its first column to the left and the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for row in (head, ["-" * width for width in widths], *rows):
        first, *others = (
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join((first, *others)).rstrip())
    return "\n".join(lines)


def _changes(table: pd.DataFrame, unit: str, most: int) -> str:
    changed = table[(table["change"] != 0) | (table["cum_change"] != 0)]
    size = float(table[["before", "after"]].abs().to_numpy().max(initial=0))
    rows = [
        (
            named(row),
            *(_amount(row[name], unit, size, name == "change") for name in ("before", "after", "change")),
            _interval(row, unit, size),
            f"{row['share_before']:.1%} -> {row['share_after']:.1%}",
            _amount(row["cum_change"], unit, size, True),
            "" if math.isnan(row["q"]) else f"{row['q']:.2g}",
        )
        for row in changed.head(most).to_dict("records")
    ]
    left = len(changed) - len(rows)
    more = f"\n... and {left} more; --rows shows them" if left else ""
    return aligned(("name", *COLUMNS), rows) + more


def named(row: Mapping[Any, Any]) -> str:
    """The name of a row, shortened at its front, and whether it is new or vanished."""
    name = TYPE_PARAMETERS.sub("[...]", str(row["name"]))
    short = name if len(name) <= LONGEST_NAME else "..." + name[-(LONGEST_NAME - 3) :]
    return f"{short} ({say('profile.' + row['status'])})" if row["status"] else short


def _amount(amount: float, unit: str, size: float, signed: bool = False) -> str:
    return "" if math.isnan(amount) else readable(amount, unit.partition(" ")[0], signed, scale_of=size)


def _interval(row: Mapping[Any, Any], unit: str, size: float) -> str:
    low, high = row["change_low"], row["change_high"]
    if math.isnan(low):
        return ""
    return " to ".join(_amount(end, unit, size, True) for end in (low, high))


def _warnings(doubts: Sequence[str]) -> list[str]:
    return [f"Warning: {doubt}" for doubt in doubts]
