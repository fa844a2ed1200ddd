"""The report of the published study `media-server`: two profiles, before and after four optimisations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.language.catalogue import say
from deadzone.language.numbers import tenths
from deadzone.reports.document.display import Block, Claim, Evidence, Prose, Table
from deadzone.reports.document.speaking import use_language
from deadzone.reports.profile_diff import tables as profile_tables
from deadzone.reports.profile_diff.run import ProfileRun, load_run
from deadzone.reports.profile_diff.tables import Parts
from deadzone.reports.published.conclusions import judge_conclusions
from deadzone.reports.published.live import LIVE, measure_live
from deadzone.reports.published.published import REFERENCE, Published, open_published, section
from deadzone.reports.published.report import PublishedReport

STUDY = "media-server"

BUNDLED = "profile-diff"
"""The study that is measured for `source = "live"`."""

GATES = ("loss", "resent", "frames", "latency", "errors", "viewers")
"""Responses that say whether a media server still does its work; the document has none of them."""

TECHNIQUES = ("remove_nack", "disable_mdns", "rtcp_interval", "buffer_pool")


@dataclass(frozen=True, eq=False)
class ProfileDiff(PublishedReport):
    """The study with its parts; every method gives the blocks of one section.

    cpu, heap: CPU time [s] and heap [MB] by component.
    """

    cpu: Parts
    heap: Parts

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubts that come first."""
        changes = {
            "cpu": tenths(-self.cpu.change / self.cpu.total[0]),
            "heap": tenths(-self.heap.change / self.heap.total[0]),
        }
        abstract = [
            Claim(say("profile_diff.found_totals", **changes), (Evidence("totals"), self.row("total"))),
            Claim(
                profile_tables.savings_sentence(self.published, self.cpu),
                (Evidence("waterfall"), self.row("savings")),
            ),
            Claim(say("profile_diff.found_gates"), (Evidence("gates"),)),
        ]
        verdict = say("profile_diff.verdict", **changes)
        return [
            self.published.head(
                say("profile_diff.title"),
                say("profile_diff.subtitle"),
                abstract,
                (say("profile_diff.doubt"),),
                verdict,
            )
        ]

    def totals(self) -> list[Block]:
        """The totals before and after."""
        even = profile_tables.break_even(self.published)
        return [
            section("profile_diff.totals"),
            profile_tables.totals_table(self.published),
            Prose((say("profile_diff.even", n=f"{even:.0f}"),)),
        ]

    def parts(self) -> list[Block]:
        """CPU time by component, and the sum of the savings against the total."""
        return [
            section("profile_diff.parts"),
            profile_tables.cpu_waterfall(self.cpu),
            profile_tables.parts_table(self.cpu),
            Prose((profile_tables.savings_sentence(self.published, self.cpu), say("profile_diff.undecidable"),
                   say("profile_diff.sampling"))),
        ]  # fmt: skip

    def flames(self) -> list[Block]:
        """The document publishes no stacks, so there is nothing to draw."""
        return []

    def heap_parts(self) -> list[Block]:
        """Heap by component."""
        return [section("profile_diff.heap"), profile_tables.heap_figure(self.heap)]

    def projection(self) -> list[Block]:
        """The projection to more streams, with its warning."""
        return [
            section("profile_diff.projection"),
            profile_tables.projection_table(self.published),
            Prose((say("profile_diff.projection_warning"),), style="warnings"),
        ]

    def gates(self) -> list[Block]:
        """What would have to be measured to say that nothing was lost."""
        return [section("profile_diff.gates"), gates_table()]

    def guideline(self) -> list[Block]:
        """What to do with each of the four changes, as far as the tables say."""
        return [section("study.guideline"), guideline_table(self.cpu, self.heap)]

    def limits(self) -> list[Block]:
        """What these data cannot say, and what would."""
        texts = ("one_pair", "together", "would_decide")
        return [section("study.limits"), Prose(tuple(say(f"profile_diff.limit_{text}") for text in texts))]


def load(source: str = REFERENCE, lang: str = "en") -> ProfileDiff | ProfileRun:
    """The study with its parts.

    source: "reference" for the published tables; "live" to measure the bundled study here first; or a run with
    profiles, by its id, folder, or STUDY/latest. lang: language of the report, "en" or "ko".

    Raises ReportError for another language or a run without profiles, UnknownRunError if there is no such run,
    TableError if a published table is missing.
    """
    if source != REFERENCE:
        use_language(lang)
        return load_run(measure_live(BUNDLED) if source == LIVE else source)
    published = open_published(STUDY, source, lang)
    cpu = profile_tables.read_parts(published, "cpu-by-component", "cpu_s")
    heap = profile_tables.read_parts(published, "heap-by-component", "heap_mb")
    judged = judge_conclusions(STUDY, facts(published, cpu, heap))
    return ProfileDiff(published, judged, cpu, heap)


def facts(published: Published, cpu: Parts, heap: Parts) -> dict[str, Any]:
    """What the author's conclusions are judged by."""
    collector = cpu.parts["gc_scanobject"]
    return {
        "cpu": tenths(-cpu.change / cpu.total[0]),
        "heap": tenths(-heap.change / heap.total[0]),
        "savings": profile_tables.savings_sentence(published, cpu),
        "share": tenths(sum(cpu.parts[name][0] for name in ("nack", "mdns")) / cpu.total[0]),
        "before": collector[0],
        "after": collector[1],
        "error": 1.96 * profile_tables.sampling_error(*collector),
        "even": profile_tables.break_even(published),
    }


def gates_table() -> Table:
    """What must not get worse, with what the document measured of it: nothing."""
    frame = pd.DataFrame(
        {
            say("profile_diff.gate"): [say(f"profile_diff.gate_{name}") for name in GATES],
            say("profile_diff.at_risk"): [say(f"profile_diff.risk_{name}") for name in GATES],
            say("profile_diff.measured"): [say("profile_diff.not_measured")] * len(GATES),
        }
    )
    return Table(frame, say("profile_diff.gates_caption"), id="gates")


def guideline_table(cpu: Parts, heap: Parts) -> Table:
    """Each change with what the tables credit it with and what is still to be shown."""
    nack, mdns = cpu.parts["nack"], cpu.parts["mdns"]
    buffers = sum(
        heap.parts[name][0] - heap.parts[name][1] for name in ("nack_buffer", "nack_auxiliary_buffer")
    )
    frames = heap.parts["interleaved_frame"]
    gained = {
        "remove_nack": say("profile_diff.gain_both", cpu=f"{nack[0] - nack[1]:.2f}", heap=f"{buffers:.2f}"),
        "disable_mdns": say(
            "profile_diff.gain_both", cpu=f"{mdns[0] - mdns[1]:.2f}", heap=f"{heap.parts['mdns'][0]:.2f}"
        ),
        "rtcp_interval": say("profile_diff.gain_unknown"),
        "buffer_pool": say("profile_diff.gain_heap", heap=f"{frames[0] - frames[1]:.2f}"),
    }
    frame = pd.DataFrame(
        {
            say("profile_diff.technique"): [say(f"profile_diff.technique_{name}") for name in TECHNIQUES],
            say("profile_diff.gain"): [gained[name] for name in TECHNIQUES],
            say("profile_diff.advice"): [say(f"profile_diff.advice_{name}") for name in TECHNIQUES],
        }
    )
    return Table(frame, say("profile_diff.guideline"), id="guideline", row_ids=TECHNIQUES)
