"""The waterfall of a change: from the total before, cause by cause, to the total after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.explaining import waterfall as chart
from deadzone.explaining.profiles.attribution import Attribution, rule_text
from deadzone.explaining.profiles.axis import in_units
from deadzone.explaining.profiles.causes import OTHER
from deadzone.explaining.profiles.units import readable
from deadzone.explaining.profiles.wording import largest_cause
from deadzone.language.catalogue import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def waterfall(attribution: Attribution) -> Figure:
    """A row for the total before, for each cause, for what no cause explains, and for the total after.

    A whisker is the 95 % interval of a cause's change. Returns a matplotlib figure, which the caller closes.
    """
    table, unit = attribution.table, attribution.unit.partition(" ")[0]
    before, after = float(table["before"].sum()), float(table["after"].sum())
    size = max(before, after, float(table["change"].abs().max()))
    causes = [say("profile.other") if name == OTHER else name for name in table["cause"]]
    return chart.draw(
        before,
        table["change"].to_numpy(float),
        table[["change_low", "change_high"]].to_numpy(float),
        names=[say("profile.before"), *causes, say("profile.after")],
        texts=[
            readable(before, unit, scale_of=size),
            *(readable(change, unit, signed=True, scale_of=size) for change in table["change"]),
            readable(after, unit, scale_of=size),
        ],
        title=largest_cause(attribution),
        axis=say("profile.waterfall_axis", what=attribution.what) + "\n" + rule_text(attribution.rule),
        finish=lambda ax: in_units(ax, unit, size),
    )
