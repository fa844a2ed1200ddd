"""A comparison as text for a terminal: sentences, then tables whose columns align."""

from collections.abc import Sequence

import pandas as pd

from deadzone.explaining.profiles.ablation import Ablations
from deadzone.explaining.profiles.attribution import Attribution, rule_text
from deadzone.explaining.profiles.comparison import Comparison
from deadzone.explaining.profiles.gates import Verdict
from deadzone.explaining.profiles.projection import Projection
from deadzone.explaining.profiles.tables import ablations_table, causes_table, changed_rows, changes_table
from deadzone.explaining.profiles.wording import (
    by_ranks,
    change_of_total,
    how_sure,
    naive_against_exact,
    projected,
)

ROWS_SHOWN = 15


def comparison_text(comparison: Comparison, rows: int = ROWS_SHOWN) -> str:
    """Total, notes, doubts, and the tables of packages and functions, the first rows of each."""
    parts = [change_of_total(comparison), how_sure(comparison), *filter(None, [by_ranks(comparison)])]
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
    return "\n".join(["Causes", table, rule_text(attribution.rule), naive_against_exact(attribution)])


def ablation_text(ablations: Ablations) -> str:
    """Options switched one at a time, beside what the stacks say."""
    return "\n".join(["Ablations", aligned(ablations_table(ablations).frame), ablations.statement()])


def projection_text(name: str, projection: Projection, unit: str) -> str:
    """The projected amount with its interval and doubts."""
    return "\n".join(
        [projected(name, projection, unit), *(f"Warning: {doubt}" for doubt in projection.doubts)]
    )


def verdict_text(verdict: Verdict) -> str:
    """The verdict of the quality gates, and each gate."""
    return "\n".join([f"Verdict: {verdict}", *(f"  {outcome}" for outcome in verdict.outcomes)])


def aligned(table: pd.DataFrame) -> str:
    """A table as text, its first column to the left and the others to the right."""
    head, rows = [str(name) for name in table.columns], table.to_numpy().tolist()
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [_line(row, widths) for row in (head, ["-" * width for width in widths], *rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join((first, *others)).rstrip()
