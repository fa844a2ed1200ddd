"""The report of a load test of a pool: the published study `thread-pools`, or a run of one's own."""

from dataclasses import dataclass, replace
from typing import Any, get_args

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.plot import plot
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Block, Figure, Table
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.document.regression import regression
from deadzone.reports.figures import curves
from deadzone.reports.figures.heat_map import heat_map
from deadzone.reports.published.report import REFERENCE, Published, PublishedReport, load_report
from deadzone.reports.sweep.source import load_source
from deadzone.reports.thread_pool import pools
from deadzone.reports.thread_pool.connection_run import ConnectionRun, Mode, analyse_connections
from deadzone.reports.thread_pool.pool_run import analyse_pools
from deadzone.reports.thread_pool.run import PoolRunReport
from deadzone.style import MUTED, TRIAL_COLOUR


@dataclass(frozen=True, eq=False)
class ThreadPool(PublishedReport):
    """The study, its two channels and the spike test: longest time to connect over new connections a second."""

    FOLDER = "thread_pool"
    inbound: pools.Channel
    outbound: pools.Channel
    spike: PhaseModel

    def channel_map(self, name: str) -> Figure:
        """The heat map of a channel with the region that meets the target."""
        channel, caption = getattr(self, name), self.said("pools.map", name)
        words = [f"{rate:,g}: {', '.join(f'{size:g} = {value:,g}' for size, value in row.dropna().items())}"
                 for rate, row in channel.cells.iterrows()]  # fmt: skip
        described = join([caption, *words], " ")
        return heat_map(channel.cells, pools.RESPONSE, channel.target, caption, described, f"{name}-map")

    def channel_curves(self, name: str) -> Figure:
        """The curves of a channel, one panel a rate."""
        return curves.slices_figure(getattr(self, name).models, self.said("slices", name), name, columns=2)

    def spike_figure(self) -> Figure:
        """Longest time to connect over new connections a second, with the threads that the server ran below it."""
        rows, model = self.published.table("connection-spike"), self.spike
        without_setting = replace(model.recommend(), setting=None, tied=())
        heights = {"height_ratios": [3, 1.2]}
        with new_figure(5.4, 2, sharex=True, gridspec_kw=heights) as (drawing, (above, below)):
            plot(model, above, advice=without_setting, title=curves.phases_text(model), legend=False)
            x = rows["connection_rate"].to_numpy(float)
            below.plot(x, rows["tomcat_threads"], color=TRIAL_COLOUR, marker="o", markersize=4)
            most = float(rows["tomcat_threads"].max())
            below.axhline(most, color=MUTED, linestyle="--", linewidth=1)
            for rate, failed in zip(x, rows["failed_percent"], strict=True):
                if failed > 0:
                    below.annotate(f"{failed:g} %", (rate, most), xytext=(0, -12), textcoords="offset points",
                                   ha="center", color=MUTED, fontsize=8)  # fmt: skip
            below.set_ylim(0, most * 1.25)
            below.set_ylabel(say("pool_settings.threads_axis"))
            below.set_xlabel(above.get_xlabel())
            above.set_xlabel("")
        caption = self.said("pool_settings.spike")
        return Figure.of(drawing, caption, f"{curves.phases_text(model)}. {caption}", id="spike")

    def spike_phases(self) -> Table:
        """The phases of the spike test."""
        return curves.phases_table(self.spike, "spike-phases")

    def regressions(self) -> list[Block]:
        """The regression-style summaries at the rates next above the wanted ones."""
        found: list[Block] = []
        for channel in (self.inbound, self.outbound):
            rate = channel.around()[1]
            name = say("thread_pool.slice", channel=channel.title, rate=f"{rate:,g}")
            found.append(regression(channel.models[rate], f"regression-{channel.name}", name))
        return found


def read_study(published: Published) -> ThreadPool:
    """The study with its curves fitted."""
    both = inbound, outbound = tuple(pools.fit_channel(published, name) for name in ("inbound", "outbound"))
    spike = fit_phases(published.table("connection-spike"), "connection_rate", "connect_max_ms")
    last = spike.phases.iloc[-1]
    known: dict[str, Any] = {
        "is_reversal": last["label"] == "reversal",
        "knee": float(last["start"]),
        "knee_low": float(last["start_low"]),
        "knee_high": float(last["start_high"]),
        "capacities": [row for channel in both for row in pools.capacities(channel)],
        "rules": [row for channel in both for row in pools.rules(channel)],
    }
    for channel in both:
        found = pools.facts(channel)
        known |= {
            channel.name: found,
            f"{channel.name}_rates": list(pools.by_rate(channel)),
            f"{channel.name}_sizes": found["sizes"],
        }
    return ThreadPool(published, inbound, outbound, spike, known=known)


def load(source: str = REFERENCE, lang: str = "en") -> ThreadPool | PoolRunReport | ConnectionRun:
    """The published study, or a run measured here; see `deadzone.reports.published.report.load_report`."""
    return load_report("thread-pools", source, lang, read_study, load_run, "thread-pool")


def load_run(name: str) -> PoolRunReport | ConnectionRun:
    """A run of a load test: of pools over rates, or of connections.

    Raises StoreError if there is none, TableError if its trials have neither a rate nor connections.
    """
    source = load_source(name, response="")
    mode: Any = getattr(source.study.workload, "mode", "constant") if source.study else "constant"
    return (
        analyse_connections(source, mode) if mode in get_args(Mode) else PoolRunReport(analyse_pools(source))
    )
