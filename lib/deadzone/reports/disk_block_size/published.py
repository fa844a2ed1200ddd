"""The report of the published study `disk-io`: block size, throughput, and an upload's chunk.

The study `disk-io`: five runs of dd, and what two block sizes allow to say.
"""

from dataclasses import dataclass

from deadzone.language.catalogue import say
from deadzone.reports.disk_block_size.run import DiskRun, load_run
from deadzone.reports.document.display import Figure
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.published.report import REFERENCE, PublishedReport, load_report
from deadzone.style import MUTED, TRIAL_COLOUR

MEGA = 1e6

OFFSETS = {"write": ((0, -16), (0, 9)), "read": ((0, 9), (-26, 9))}
"""Where the label of each point stands from it, so that no line runs through one [points]."""


@dataclass(frozen=True, eq=False)
class DiskBlockSize(PublishedReport):
    """The study with its runs."""

    FOLDER = "disk_block_size"

    def throughput_figure(self) -> Figure:
        """Throughput over block size, both directions; the lines join what was measured and claim nothing between."""
        facts = self.facts()
        with new_figure(4.0) as (drawing, ax):
            for name, colour, marker in (("write", TRIAL_COLOUR, "o"), ("read", MUTED, "s")):
                x = [facts[f"{name}_{size}"] / 1024 for size in ("small", "large")]
                y = [facts[f"{name}_{speed}"] / MEGA for speed in ("slow", "fast")]
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


def load(source: str = REFERENCE, lang: str = "en") -> DiskBlockSize | DiskRun:
    """The published study, or a run measured here; see `deadzone.reports.published.report.load_report`."""
    return load_report("disk-io", source, lang, DiskBlockSize, load_run, "disk-block-size")
