"""The study `disk-io`: five runs of dd, the time of an upload's chunk, and what two block sizes allow to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.explaining.phases.quantities import number
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.published.reference_checks import figure
from deadzone.style import MUTED, TRIAL_COLOUR, figure_style

if TYPE_CHECKING:
    from deadzone.reports.published.published import Published

MEGA = 1e6

OFFSETS = {"write": ((0, -16), (0, 9)), "read": ((0, 9), (-26, 9))}
"""Where the label of each point stands from it, so that no line runs through one [points]."""


@dataclass(frozen=True)
class TwoPoints:
    """What a direction's two block sizes give.

    small, large: block sizes [bytes]. slow, fast: their throughput [bytes/s]. elasticity: of the throughput over
    the block size, between them. call_s, bandwidth: the fixed time of a call [s] and the rate of the bytes
    [bytes/s] that give both points exactly if a call takes call_s + size / bandwidth: an assumption that two
    points cannot test.
    """

    small: float
    large: float
    slow: float
    fast: float

    @property
    def elasticity(self) -> float:
        """ln(throughput) over ln(block size) between the two points, dimensionless."""
        return float(np.log(self.fast / self.slow) / np.log(self.large / self.small))

    @property
    def bandwidth(self) -> float:
        """Rate of the bytes under the assumption of a fixed time a call [bytes/s]."""
        return (self.large - self.small) / (self.large / self.fast - self.small / self.slow)

    @property
    def call_s(self) -> float:
        """Fixed time of a call under the same assumption [s]."""
        return self.small / self.slow - self.small / self.bandwidth

    @property
    def half(self) -> float:
        """Block size that would reach half the bandwidth under the same assumption [bytes]."""
        return self.call_s * self.bandwidth


def measured(published: Published) -> pd.DataFrame:
    """The five runs with the throughput recomputed from bytes and time [bytes/s]."""
    rows = published.table("dd")
    return rows.assign(throughput=rows["transferred_bytes"] / rows["wall_s"])


def two_points(rows: pd.DataFrame, operation: str) -> TwoPoints:
    """The two block sizes of "write" or "read", in the folder where both were tried."""
    there = rows[(rows["operation"] == operation) & (rows["location"] == "tmp")].sort_values("block_size")
    first, last = there.iloc[0], there.iloc[-1]
    return TwoPoints(
        float(first["block_size"]),
        float(last["block_size"]),
        float(first["throughput"]),
        float(last["throughput"]),
    )


def chunk(published: Published) -> float:
    """Size of the largest chunk of an upload [bytes]."""
    return MEGA * float(published.table("environment")["upload_chunk_mb"].iloc[0])


def repeat_difference(rows: pd.DataFrame) -> float:
    """How much the one pair of like runs differs, a fraction: 1 KiB writes to two folders."""
    home, tmp = (
        figure(rows, "throughput", operation="write", location=place, block_size=1024)
        for place in ("home", "tmp")
    )
    return abs(tmp / home - 1)


def runs_table(published: Published, rows: pd.DataFrame) -> Table:
    """The runs with their throughput and the time that one chunk takes."""
    size = chunk(published)
    frame = pd.DataFrame(
        {
            say("block_times.operation"): [
                say(f"block_times.{row['operation']}") for row in rows.to_dict("records")
            ],
            say("block_times.block"): [f"{value:,}" for value in rows["block_size"]],
            say("block_times.cache"): [
                say("block_times.past" if value else "block_times.through") for value in rows["direct"]
            ],
            say("block_times.moved"): [f"{value / MEGA:,.1f}" for value in rows["transferred_bytes"]],
            say("block_times.took"): [f"{value:.2f}" for value in rows["wall_s"]],
            say("block_times.throughput"): [
                number(value / MEGA, value / MEGA / 50) for value in rows["throughput"]
            ],
            say("block_times.chunk"): [
                number(size / value, size / value / 50) for value in rows["throughput"]
            ],
        }
    )
    small, large = two_points(rows, "write"), two_points(rows, "read")
    caption = say(
        "block_times.caption",
        slow=number(size / small.slow, 0.5),
        fast=f"{1000 * size / small.fast:.0f}",
        read=f"{1000 * size / large.fast:.0f}",
        size=f"{size / MEGA:g}",
    )
    ids = [f"{row['operation']}-{row['location']}-{row['block_size']}" for row in rows.to_dict("records")]
    return Table(frame, caption, numeric=[frame.columns[1], *frame.columns[3:]], id="runs", row_ids=ids)


def throughput_figure(rows: pd.DataFrame) -> Figure:
    """Throughput over block size, both directions; the lines join what was measured and claim nothing between."""
    import matplotlib.pyplot as plt

    write, read = two_points(rows, "write"), two_points(rows, "read")
    with figure_style():
        drawing, ax = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
        for points, colour, marker, name in ((write, TRIAL_COLOUR, "o", "write"), (read, MUTED, "s", "read")):
            x, y = [points.small / 1024, points.large / 1024], [points.slow / MEGA, points.fast / MEGA]
            ax.plot(x, y, color=colour, linestyle=":", linewidth=1.2)
            ax.plot(
                x,
                y,
                color=colour,
                linestyle="",
                marker=marker,
                markersize=8,
                label=say(f"block_times.legend_{name}"),
            )
            for a, b, offset in zip(x, y, OFFSETS[name], strict=True):
                ax.annotate(f"{b:,.3g} MB/s", (a, b), xytext=offset, textcoords="offset points",
                            ha="center", color=colour, fontsize=8)  # fmt: skip
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks([1, 64, 4096, 20000], ["1", "64", "4,096", "20,000"])
        ax.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        ax.set_ylim(0.8, 1500)
        ax.margins(x=0.12)
        ax.minorticks_off()
        ax.set_xlabel(say("block_times.block_axis"))
        ax.set_ylabel(say("block_times.throughput_axis"))
        ax.legend(loc="lower right", fontsize=8)
    caption = say(
        "block_times.figure",
        factor=f"{write.fast / write.slow:.0f}",
        blocks=f"{write.large / write.small:,.0f}",
        read=f"{read.fast / read.slow:.1f}",
    )
    return Figure.of(drawing, caption, caption, id="response")


def assumption_sentence(points: TwoPoints) -> str:
    """What follows if a call has a fixed time and the bytes a fixed rate, and why that is an assumption."""
    return say(
        "block_times.assumption",
        call=f"{1e6 * points.call_s:,.0f}",
        bandwidth=f"{points.bandwidth / MEGA:,.0f}",
        half=f"{points.half / 1000:,.0f}",
        elasticity=f"{points.elasticity:.2f}",
    )
