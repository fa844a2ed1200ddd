"""The report of the published study `thread-pools`: pool sizes of a WebSocket service under load."""

from __future__ import annotations

from dataclasses import dataclass

from deadzone.language.catalogue import say
from deadzone.phases.fit import fit_phases
from deadzone.phases.model import PhaseModel
from deadzone.report.display import Block, Claim, Evidence, Prose
from deadzone.report.regression import regression
from deadzone.report.studies import arithmetic, claims, curves, pool_claims, pool_settings, pools
from deadzone.report.studies.published import Published, open_published, section

STUDY = "thread-pools"


@dataclass(frozen=True, eq=False)
class ThreadPool:
    """The study, its two channels and the spike test; every method gives the blocks of one section.

    spike: longest time to connect over new connections a second. judged: the author's conclusions.
    """

    published: Published
    inbound: pools.Channel
    outbound: pools.Channel
    spike: PhaseModel
    judged: tuple[claims.Judged, ...]

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubt that comes first."""
        rows = {one.name: one for one in self.judged}
        abstract = [
            Claim(
                pool_settings.best_sentence(channel),
                (Evidence(channel.name), rows[f"{channel.name}-best"].row()),
            )
            for channel in (self.inbound, self.outbound)
        ]
        abstract.append(
            Claim(
                pool_settings.target_sentence(self.inbound),
                (Evidence("inbound-map"), rows["inbound-target"].row()),
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

    def claims(self) -> list[Block]:
        """The author's conclusions, judged."""
        return [section("study.claims"), claims.claims_table(self.judged), claims.evidence_of(self.judged)]

    def channel(self, name: str) -> list[Block]:
        """The curves, the heat map and the table of a channel, "inbound" or "outbound"."""
        channel = {"inbound": self.inbound, "outbound": self.outbound}[name]
        return [
            section(f"thread_pool.{name}"),
            pools.channel_map(channel),
            pools.channel_table(channel),
            pools.channel_figure(channel),
        ]

    def connections(self) -> list[Block]:
        """The spike test and the limit of held connections."""
        return [
            section("thread_pool.connections"),
            pool_settings.spike_figure(self.published.table("connection-spike"), self.spike),
            curves.phases_table(self.spike, "spike-phases"),
            Prose((pool_settings.limit_sentence(self.published),)),
        ]

    def settings(self) -> list[Block]:
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

    def arithmetic(self) -> list[Block]:
        """The document's arithmetic."""
        return arithmetic.arithmetic(STUDY)

    def summary(self) -> list[Block]:
        """The regression-style summaries at the rates next above the wanted ones."""
        found: list[Block] = [section("study.summary")]
        for channel in (self.inbound, self.outbound):
            rate = channel.around()[1]
            name = say("thread_pool.slice", channel=channel.title, rate=f"{rate:,g}")
            found.append(regression(channel.models[rate], f"regression-{channel.name}", name))
        return found

    def origin(self) -> list[Block]:
        """Tables and command."""
        return self.published.origin()


def load(source: str = "reference", lang: str = "en") -> ThreadPool:
    """The study with its curves fitted. source: "reference". lang: language of the report, "en" or "ko".

    Raises ReportError for another source or language, TableError if a published table is missing.
    """
    published = open_published(STUDY, source, lang)
    inbound, outbound = (pools.fit_channel(published, name) for name in ("inbound", "outbound"))
    spike = fit_phases(published.table("connection-spike"), "connection_rate", "connect_max_ms")
    return ThreadPool(
        published, inbound, outbound, spike, pool_claims.judge(published, inbound, outbound, spike)
    )
