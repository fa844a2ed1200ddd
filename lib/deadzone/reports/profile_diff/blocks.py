"""Tables and figures of a run with profiles, as blocks of a report."""

import math
from collections.abc import Mapping
from typing import Any

from deadzone.explaining.compare.comparing import Comparison as Judged
from deadzone.explaining.compare.page import verdict_text
from deadzone.explaining.compare.result import rows_of
from deadzone.explaining.profiles.attribution import Attribution
from deadzone.explaining.profiles.comparison import Comparison
from deadzone.explaining.profiles.figures import headline, package_bars, waterfall
from deadzone.explaining.profiles.flame_graph import flame_graph
from deadzone.explaining.profiles.projection import Projection
from deadzone.explaining.profiles.tables import (
    cause_name,
    change_of_total,
    changes_table,
    interval_text,
    largest_cause,
    projected,
    split_unit,
)
from deadzone.explaining.profiles.units import readable
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Figure, Prose, Table
from deadzone.reports.profile_diff.sides import Sides

FUNCTIONS_SHOWN = 15
"""More rows than this nobody reads; the flame graph holds the others."""

FLAME_WIDTH = 780.0
"""Width of a flame graph on a page, at which its letters keep their size [pixels]."""


def slice_text(sides: Sides) -> str:
    """Which trials the tables are of, as a sentence."""
    trials = [len(sides.rows(level)) for level in (sides.before, sides.after)]
    key = "profile_run.slice" if sides.chosen else "profile_run.all_trials"
    return say(key, before=trials[0], after=trials[1], at=sides.chosen)


def totals_table(
    comparisons: Mapping[str, Comparison], ranked: Mapping[str, Judged | None], names: tuple[str, str]
) -> Table:
    """The total of every kind of profile, before and after, with its interval and the verdict by ranks."""
    rows = []
    for kind, one in comparisons.items():
        row, (unit, per) = one.total.iloc[0], split_unit(one.pair.unit)
        judged = ranked.get(kind)
        overall: dict[str, Any] = rows_of(judged.overall)[0] if judged else {}
        rows.append(
            {
                "kind": kind,
                "name": say(f"profile_run.kind_{kind}") + per,
                "before": readable(row.before, unit),
                "after": readable(row.after, unit),
                "change": readable(row.change, unit, signed=True),
                "interval": interval_text(row.change_low, row.change_high, unit),
                "ratio": _ratio(overall) if overall else "",
                "by_ranks": verdict_text(overall) if overall else "",
            }
        )
    return Table.of("profile_diff.totals", rows, sides=names)


def functions_table(comparison: Comparison) -> Table:
    """The functions that changed most."""
    head = say("profile_run.function")
    table = changes_table(comparison.functions, comparison.pair.unit, FUNCTIONS_SHOWN, head)
    return Table.shown(table, "functions")


def waterfall_figure(attribution: Attribution, identity: str, is_face: bool = False) -> Figure:
    """From the total before to the total after by cause."""
    caption = say("profile_run.waterfall_caption", headline=largest_cause(attribution))
    unit = attribution.unit
    words = ", ".join(
        f"{cause_name(row)} {readable(row['change'], unit, signed=True)}"
        for row in attribution.table.to_dict("records")
    )
    return Figure.of(waterfall(attribution), caption, f"{caption} {words}.", id=identity, is_face=is_face)


def packages_figure(comparison: Comparison, identity: str, is_face: bool = False) -> Figure:
    """Before and after by package."""
    caption = say("profile_run.packages_caption", headline=headline(comparison))
    return Figure.of(package_bars(comparison), caption, caption, id=identity, is_face=is_face)


def flame_figure(comparison: Comparison, identity: str) -> Figure:
    """The differential flame graph, interactive where scripts run."""
    description = say("profile_run.flame_description", headline=change_of_total(comparison))
    drawing = flame_graph(comparison, width=FLAME_WIDTH)
    return Figure(drawing, say("profile_run.flame_caption"), description, id=identity)


def projection_blocks(made: Mapping[str, tuple[Projection, str]], kind: str) -> list[Block]:
    """What each side would take at the load asked for, with every doubt about it."""
    rows, doubts = [], []
    for when, (one, unit) in made.items():
        row = {"when": when, "made": one, "amount": readable(one.amount, unit), "interval": ""}
        if one.low is not None and one.high is not None:
            row["interval"] = interval_text(one.low, one.high, unit, one.amount, False)
        rows.append(row | {"loads": ", ".join(f"{load:.4g}" for load in one.loads)})
        doubts += [doubt for doubt in one.doubts if doubt not in doubts]
    found: list[Block] = [
        Table.of("profile_diff.projection", rows, name=say(f"profile_run.kind_{kind}")),
        Prose(tuple(projected(say(f"profile.{when}"), one, unit) for when, (one, unit) in made.items())),
    ]
    return [*found, Prose(tuple(doubts), style="warnings")] if doubts else found


def _ratio(row: Mapping[str, Any]) -> str:
    """A ratio with its interval, where it has one."""
    if math.isnan(row["ratio_low"]):
        return f"{row['ratio']:.3g}"
    between = say("profile.range", low=f"{row['ratio_low']:.3g}", high=f"{row['ratio_high']:.3g}")
    return f"{row['ratio']:.3g} ({between})"
