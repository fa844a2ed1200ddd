"""The report of a load test of a pool: the published study `thread-pools`, or a run of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Claim, Evidence, Prose
from deadzone.reports.document.regression import regression
from deadzone.reports.document.speaking import use_language
from deadzone.reports.figures import curves
from deadzone.reports.published import arithmetic
from deadzone.reports.published.conclusions import judge_conclusions
from deadzone.reports.published.live import LIVE, measure_live
from deadzone.reports.published.published import REFERENCE, open_published, section
from deadzone.reports.published.report import PublishedReport
from deadzone.reports.sweep.source import load_source
from deadzone.reports.thread_pool import claims as pool_claims
from deadzone.reports.thread_pool import pools
from deadzone.reports.thread_pool import settings as pool_settings
from deadzone.reports.thread_pool.connection_run import ConnectionRun, Mode, analyse_connections
from deadzone.reports.thread_pool.pool_run import load_pools
from deadzone.reports.thread_pool.run import PoolRunReport

STUDY = "thread-pools"

LIVE_STUDY = "thread-pool"
"""The bundled study that `live` measures."""


@dataclass(frozen=True, eq=False)
class ThreadPool(PublishedReport):
    """The study, its two channels and the spike test; every method gives the blocks of one section.

    spike: longest time to connect over new connections a second.
    """

    inbound: pools.Channel
    outbound: pools.Channel
    spike: PhaseModel

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubt that comes first."""
        abstract = [
            Claim(
                pool_settings.best_sentence(channel),
                (Evidence(channel.name), self.row(f"{channel.name}-best")),
            )
            for channel in (self.inbound, self.outbound)
        ]
        abstract.append(
            Claim(
                pool_settings.target_sentence(self.inbound),
                (Evidence("inbound-map"), self.row("inbound-target")),
            )
        )
        verdict = say("thread_pool.verdict", inbound=self.inbound.chosen, outbound=self.outbound.chosen)
        return [
            self.published.head(
                say("thread_pool.title"),
                say("thread_pool.subtitle"),
                abstract,
                (say("thread_pool.doubt"),),
                verdict,
            )
        ]

    def response(self) -> list[Block]:
        """For each channel the heat map, the table by rate and the curves."""
        return [block for channel in (self.inbound, self.outbound) for block in _shown(channel)]

    def capacity(self) -> list[Block]:
        """How much each pool bore, as far as one value a cell can say."""
        return [section("thread_pool.capacity"), pools.capacity_table((self.inbound, self.outbound))]

    def connections(self) -> list[Block]:
        """The spike test and the limit of held connections."""
        return [
            section("thread_pool.connections"),
            pool_settings.spike_figure(self.published.table("connection-spike"), self.spike),
            curves.phases_table(self.spike, "spike-phases"),
            Prose((pool_settings.limit_sentence(self.published),)),
        ]

    def cold_start(self) -> list[Block]:
        """What the first test after a restart showed."""
        return [section("thread_pool.cold_start"), Prose((pool_settings.cold_sentence(self.published),))]

    def guideline(self) -> list[Block]:
        """What to set, with the author's settings beside it."""
        return [
            section("study.guideline"),
            pool_settings.guideline_table((self.inbound, self.outbound)),
            pool_settings.settings_table(self.published, self.inbound, self.outbound),
        ]

    def limits(self) -> list[Block]:
        """What these data cannot say, and what would."""
        texts = ("one_value", "maximum", "not_measured", "would_decide")
        return [section("study.limits"), Prose(tuple(say(f"thread_pool.limit_{text}") for text in texts))]

    def details(self) -> list[Block]:
        """The document's arithmetic, and the regression-style summaries at the rates next above the wanted ones."""
        found: list[Block] = [*arithmetic.arithmetic(STUDY), section("study.summary")]
        for channel in (self.inbound, self.outbound):
            rate = channel.around()[1]
            name = say("thread_pool.slice", channel=channel.title, rate=f"{rate:,g}")
            found.append(regression(channel.models[rate], f"regression-{channel.name}", name))
        return found


def _shown(channel: pools.Channel) -> list[Block]:
    return [
        section(f"thread_pool.{channel.name}"),
        pools.channel_map(channel),
        pools.channel_table(channel),
        pools.channel_figure(channel),
    ]


def load(source: str = "reference", lang: str = "en") -> ThreadPool | PoolRunReport | ConnectionRun:
    """The published study, or a run measured here.

    source: "reference" for the published tables, "live" to measure the bundled study first, or a run: its id, its
    folder, or STUDY/latest. lang: language of the report, "en" or "ko".

    Raises ReportError for an unknown language or a sweep that failed, StoreError for an unknown run, TableError if it
    is no run of a load test, or a published table is missing.
    """
    if source != REFERENCE:
        use_language(lang)
        return load_run(measure_live(LIVE_STUDY) if source == LIVE else source)
    published = open_published(STUDY, source, lang)
    inbound, outbound = (pools.fit_channel(published, name) for name in ("inbound", "outbound"))
    spike = fit_phases(published.table("connection-spike"), "connection_rate", "connect_max_ms")
    judged = judge_conclusions(STUDY, pool_claims.facts(inbound, outbound, spike))
    return ThreadPool(published, judged, inbound, outbound, spike)


def load_run(name: str) -> PoolRunReport | ConnectionRun:
    """A run of a load test: of pools over rates, or of connections.

    Raises StoreError if there is none, TableError if its trials have neither a rate nor connections.
    """
    source = load_source(name, response="")
    mode: Any = getattr(source.study.workload, "mode", "constant") if source.study else "constant"
    return analyse_connections(source, mode) if mode in get_args(Mode) else PoolRunReport(load_pools(name))
