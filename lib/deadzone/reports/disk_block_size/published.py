"""The report of the published study `disk-io`: block size, throughput, and an upload's chunk.

The study `disk-io`: five runs of dd, and what two block sizes allow to say.
"""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from deadzone.language.catalogue import say
from deadzone.reports.disk_block_size.run import DiskRun, load_run
from deadzone.reports.document.display import Figure
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.published.published import REFERENCE, Published
from deadzone.reports.published.report import PublishedReport, load_report
from deadzone.style import MUTED, TRIAL_COLOUR

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

    def named(self, name: str) -> dict[str, float]:
        """All of it by name, each beginning with the direction's."""
        more = {one: getattr(self, one) for one in ("elasticity", "bandwidth", "call_s", "half")}
        return {f"{name}_{one}": value for one, value in {**asdict(self), **more}.items()}


def two_points(rows: pd.DataFrame, operation: str) -> TwoPoints:
    """The two block sizes of "write" or "read", in the folder where both were tried."""
    there = rows[(rows["operation"] == operation) & (rows["location"] == "tmp")].sort_values("block_size")
    return TwoPoints(*(float(there[name].iloc[i]) for name in ("block_size", "throughput") for i in (0, -1)))


@dataclass(frozen=True, eq=False)
class DiskBlockSize(PublishedReport):
    """The study with its runs.

    rows: the runs of dd with their throughput [bytes/s]. write, read: the two points of each direction. chunk: the
    largest of an upload [bytes].
    """

    FOLDER = "disk_block_size"
    rows: pd.DataFrame
    write: TwoPoints
    read: TwoPoints
    chunk: float

    def throughput_figure(self) -> Figure:
        """Throughput over block size, both directions; the lines join what was measured and claim nothing between."""
        with new_figure(4.0) as (drawing, ax):
            for points, colour, marker, name in (
                (self.write, TRIAL_COLOUR, "o", "write"),
                (self.read, MUTED, "s", "read"),
            ):
                x, y = [points.small / 1024, points.large / 1024], [points.slow / MEGA, points.fast / MEGA]
                ax.plot(x, y, color=colour, linestyle=":", linewidth=1.2)
                label = say(f"block_times.legend_{name}")
                ax.plot(x, y, color=colour, linestyle="", marker=marker, markersize=8, label=label)
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
        caption = self.said("block_times.figure")
        return Figure.of(drawing, caption, caption, id="response")


def read_study(published: Published) -> DiskBlockSize:
    """The study with the throughput recomputed from bytes and time."""
    rows = published.table("dd")
    rows = rows.assign(throughput=rows["transferred_bytes"] / rows["wall_s"])
    write, read = two_points(rows, "write"), two_points(rows, "read")
    chunk = MEGA * float(published.table("environment")["upload_chunk_mb"].iloc[0])
    known = {**write.named("write"), **read.named("read"), "chunk": chunk}
    return DiskBlockSize(published, rows, write, read, chunk, known=known)


def load(source: str = REFERENCE, lang: str = "en") -> DiskBlockSize | DiskRun:
    """The published study, or a run measured here; see `deadzone.reports.published.report.load_report`."""
    return load_report("disk-io", source, lang, read_study, load_run, "disk-block-size")
