"""Packages before and after, as pairs of bars.

The axis of a figure of amounts: round numbers in the unit that people read, 200 KiB and not 195.312
KiB.

The waterfall of a change: from the total before, cause by cause, to the total after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.analysis import waterfall as chart
from deadzone.language.messages import N_, _, say
from deadzone.style import AFTER_COLOUR, BEFORE_COLOUR, INK, figure_style
from deadzone_profiles.attribution import OTHER, CauseAttribution, rule_text
from deadzone_profiles.comparison import ProfileComparison
from deadzone_profiles.tables import STATUSES, largest_cause
from deadzone_profiles.units import readable, step_of, tick

SIDES = {
    "before": N_("before"),
    "after": N_("after"),
}


KINDS = {
    "flat": N_("flat"),
    "cumulative": N_("cumulative"),
}


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TICKS = 7

PACKAGES_SHOWN = 10
WIDTH_IN = 7.2
ROW_IN = 0.46
FRAME_IN = 1.3
LONGEST_NAME = 38


def waterfall(attribution: CauseAttribution) -> Figure:
    """A row for the total before, for each cause, for what no cause explains, and for the total
    after.

    A whisker is the 95 % interval of a cause's change. Returns a matplotlib figure, which the
    caller closes.
    """
    table, unit = attribution.table, attribution.unit.partition(" ")[0]
    before, after = float(table["before"].sum()), float(table["after"].sum())
    size = max(before, after, float(table["change"].abs().max()))
    causes = [_("other") if name == OTHER else name for name in table["cause"]]
    return chart.draw(
        before,
        table["change"].to_numpy(float),
        table[["change_low", "change_high"]].to_numpy(float),
        names=[_("before"), *causes, _("after")],
        texts=[
            readable(before, unit, scale_of=size),
            *(readable(change, unit, signed=True, scale_of=size) for change in table["change"]),
            readable(after, unit, scale_of=size),
        ],
        title=largest_cause(attribution),
        axis=_("{what}; whiskers: 95 % interval of the change", what=attribution.what)
        + "\n"
        + rule_text(attribution.rule),
        finish=lambda ax: in_units(ax, unit, size),
    )


def in_units(ax: Axes, unit: str, size: float) -> None:
    """Give the horizontal axis round ticks. unit: of the data. size: the amount whose size chooses
    the unit shown."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    step = step_of(unit, size)
    low, high = ax.get_xlim()
    inside = MaxNLocator(MOST_TICKS, steps=[1, 2, 2.5, 5, 10]).tick_values(low / step, high / step)
    ax.xaxis.set_major_locator(
        FixedLocator([value * step for value in inside if low <= value * step <= high])
    )
    ax.xaxis.set_major_formatter(lambda value, _: tick(value, unit, size))


def package_bars(comparison: ProfileComparison) -> Figure:
    """The packages that changed most, before and after, with their change at the right.

    Where flat amounts stand in the way (goroutines all wait in one function), cumulative ones are
    drawn.
    """
    from matplotlib.figure import Figure

    kind, table = _what(comparison.packages)
    table = (table[table["change"] != 0] if (table["change"] != 0).any() else table).head(
        PACKAGES_SHOWN
    )
    with figure_style():
        figure = Figure(
            figsize=(WIDTH_IN, FRAME_IN + ROW_IN * max(len(table), 1)), layout="constrained"
        )
        ax = figure.add_subplot()
        rows = np.arange(len(table))
        for side, offset, colour, edge, hatch in (
            ("before", -0.2, BEFORE_COLOUR, INK, None),
            ("after", 0.2, AFTER_COLOUR, "white", "..."),
        ):
            ax.barh(
                rows + offset,
                table[side],
                0.38,
                color=colour,
                edgecolor=edge,
                linewidth=0.5,
                hatch=hatch,
                label=say(SIDES[side]),
            )
        _label(ax, table, comparison.pair.unit.partition(" ")[0])
        ax.set_title(headline(comparison), wrap=True)
        ax.set_xlabel(_("{what}, {kind}", what=comparison.pair.what, kind=say(KINDS[kind])))
        ax.legend(loc="lower right")
    return figure


def _what(packages: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Flat amounts, or cumulative ones if one package holds nearly all the flat change."""
    changed = int((packages["change"] != 0).sum())
    if changed > 1 or not (packages["cum_change"] != 0).sum() > 1:
        return "flat", packages
    table = packages.assign(**{c: packages[f"cum_{c}"] for c in ("before", "after", "change")})
    order = table["change"].abs().sort_values(ascending=False, kind="stable").index
    return "cumulative", table.loc[order]


def _label(ax: Axes, table: pd.DataFrame, unit: str) -> None:
    size = float(table[["before", "after"]].to_numpy().max(initial=0))
    changes = [readable(change, unit, signed=True, scale_of=size) for change in table["change"]]
    texts = [
        f"{change}\n{say(STATUSES[status])}" if status else change
        for change, status in zip(changes, table["status"], strict=True)
    ]
    chart.label_rows(ax, [_shortened(name) for name in table["name"]], texts)
    in_units(ax, unit, size)


def _shortened(name: str) -> str:
    """The end of a long path, where packages differ."""
    return name if len(name) <= LONGEST_NAME else "..." + name[-(LONGEST_NAME - 3) :]


def headline(comparison: ProfileComparison) -> str:
    """The package that changed most, as the figure's title says it."""
    table = _what(comparison.packages)[1]
    changed = table[table["change"] != 0]
    if comparison.identical or not len(changed):
        return _("No package changed")
    row = changed.iloc[0]
    text = (
        N_("{package} lost most: {amount}")
        if row.change < 0
        else N_("{package} gained most: {amount}")
    )
    return say(
        text,
        package=_shortened(row["name"]),
        amount=readable(abs(row.change), comparison.pair.unit),
    )
