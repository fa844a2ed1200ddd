"""The waterfall of a slowdown: from the fast response, part by part, to the slow one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deadzone.explaining import waterfall as chart
from deadzone.explaining.attribution import wording
from deadzone.explaining.attribution.result import AttributionResult
from deadzone.explaining.phases.quantities import capital
from deadzone.language.catalogue import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def waterfall(result: AttributionResult) -> Figure:
    """A row for the fast environment, for each part of the difference, and for the slow one.

    A whisker is the interval of a part's difference. Returns a matplotlib figure, which the caller closes.
    """
    table = result.waterfall
    parts = [wording.part_name(part) for part in table["part"]]
    return chart.draw(
        result.slowdown.fast,
        table["difference_s"].to_numpy(float),
        table[["low_s", "high_s"]].to_numpy(float),
        names=[result.roles.fast, *parts, result.roles.slow],
        texts=[
            wording.duration(result.slowdown.fast),
            *(wording.duration(value, signed=True) for value in table["difference_s"]),
            wording.duration(result.slowdown.slow),
        ],
        title=headline(result),
        axis=say("attribution.axis", confidence=result.confidence),
    )


def headline(result: AttributionResult) -> str:
    """The largest part of the slowdown, as the figure's title."""
    if not result.is_slower:
        return say("attribution.headline_none", slow=result.roles.slow, fast=result.roles.fast)
    largest = result.largest
    return say(
        "attribution.headline",
        part=capital(wording.part_name(largest["part"])),
        share=wording.share_text(largest),
    )


def description(result: AttributionResult) -> str:
    """The figure in words, for readers who do not see it."""
    rows = [
        f"{wording.part_name(row['part'])} {wording.duration(row['difference_s'], signed=True)}"
        + (f" ({wording.share_only(row['share'])})" if np.isfinite(row["share"]) else "")
        for _, row in result.waterfall.iterrows()
    ]
    return say(
        "attribution.description",
        fast=result.roles.fast,
        slow=result.roles.slow,
        start=wording.duration(result.slowdown.fast),
        end=wording.duration(result.slowdown.slow),
        rows="; ".join(rows),
    )
