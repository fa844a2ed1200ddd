"""The report of the published study `disk-io`: block size, throughput, and an upload's chunk."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from deadzone.language.catalogue import say
from deadzone.reports.disk_block_size import block_times
from deadzone.reports.disk_block_size.block_times import MEGA, TwoPoints
from deadzone.reports.disk_block_size.run import DiskRun, load_run
from deadzone.reports.document.display import Block, Claim, Evidence, Prose, Table
from deadzone.reports.document.speaking import use_language
from deadzone.reports.published.conclusions import judge_conclusions
from deadzone.reports.published.live import LIVE, measure_live
from deadzone.reports.published.published import REFERENCE, open_published, section
from deadzone.reports.published.report import PublishedReport

STUDY = "disk-io"

LIVE_STUDY = "disk-block-size"
"""The bundled study that `live` measures."""


@dataclass(frozen=True, eq=False)
class DiskBlockSize(PublishedReport):
    """The study with its runs; every method gives the blocks of one section.

    rows: the runs of dd with their throughput. write, read: the two points of each direction. chunk: of an
    upload [bytes].
    """

    rows: pd.DataFrame
    write: TwoPoints
    read: TwoPoints
    chunk: float

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubt that comes first."""
        slow, fast = self.chunk / self.write.slow, self.chunk / self.write.fast
        found = say(
            "disk_block_size.found_chunk",
            size=f"{self.chunk / MEGA:g}",
            slow=f"{slow:.0f}",
            fast=f"{1000 * fast:.0f}",
        )
        abstract = [
            Claim(found, (Evidence("runs"), Evidence("response"))),
            Claim(say("disk_block_size.found_curve"), (Evidence("guideline"),)),
        ]
        return [
            self.published.head(
                say("disk_block_size.title"),
                say("disk_block_size.subtitle"),
                abstract,
                (say("disk_block_size.doubt"),),
                say("disk_block_size.verdict", size=f"{self.chunk / MEGA:g}", fast=f"{1000 * fast:.0f}"),
            )
        ]

    def response(self) -> list[Block]:
        """The runs, drawn and as a table."""
        return [
            section("disk_block_size.runs"),
            block_times.throughput_figure(self.rows),
            block_times.runs_table(self.published, self.rows),
        ]

    def shape(self) -> list[Block]:
        """What two points a direction can show, and what they cannot."""
        said = (
            say("disk_block_size.no_fit"),
            block_times.assumption_sentence(self.write),
            say("disk_block_size.repeat", difference=block_times.repeat_difference(self.rows)),
        )
        return [section("disk_block_size.two_points"), Prose(said)]

    def guideline(self) -> list[Block]:
        """What to set, as far as two block sizes can say."""
        return [section("study.guideline"), guideline_table(self.write, self.chunk)]

    def limits(self) -> list[Block]:
        """What these data cannot say, and what would."""
        texts = ("zeros", "cache", "credit", "would_decide", "repeat_here")
        return [section("study.limits"), Prose(tuple(say(f"disk_block_size.limit_{text}") for text in texts))]

    def details(self) -> list[Block]:
        """The document's arithmetic."""
        return self.arithmetic()


def load(source: str = "reference", lang: str = "en") -> DiskBlockSize | DiskRun:
    """The published study, or a run measured here.

    source: "reference" for the published tables, "live" to measure the bundled study first, or a run: its id, its
    folder, or STUDY/latest. lang: language of the report, "en" or "ko".

    Raises ReportError for an unknown language or a sweep that failed, StoreError for an unknown run, TableError if it
    is a run of another workload, or a published table is missing.
    """
    if source != REFERENCE:
        use_language(lang)
        return load_run(measure_live(LIVE_STUDY) if source == LIVE else source)
    published = open_published(STUDY, source, lang)
    rows = block_times.measured(published)
    write, read = (block_times.two_points(rows, operation) for operation in ("write", "read"))
    chunk = block_times.chunk(published)
    judged = judge_conclusions(STUDY, facts(write, read, chunk))
    return DiskBlockSize(published, judged, rows, write, read, chunk)


def facts(write: TwoPoints, read: TwoPoints, chunk: float) -> dict[str, float]:
    """What the author's conclusions are judged by: rates [bytes/s], and the time that an upload's chunk takes [s]."""
    return {
        "size": chunk / MEGA, "slow": chunk / write.slow, "fast": chunk / write.fast, "block": write.large / MEGA,
        "write_slow": write.slow, "write_fast": write.fast, "read_slow": read.slow, "read_fast": read.fast,
    }  # fmt: skip


def guideline_table(write: TwoPoints, chunk: float) -> Table:
    """The two block sizes that were measured, and the gap between them."""
    small, large = f"{write.small:,.0f}", f"{write.large:,.0f}"
    rows = [
        ("scarce", small, f"{chunk / write.slow:.1f}", say("disk_block_size.because_scarce")),
        (
            "middling",
            say("quantity.range", start=small, stop=large),
            "-",
            say("disk_block_size.because_middling"),
        ),
        ("plenty", large, f"{chunk / write.fast:.3f}", say("disk_block_size.because_plenty")),
    ]
    frame = pd.DataFrame(
        [(say(f"disk_block_size.block_{name}"), *rest) for name, *rest in rows],
        columns=[
            say("disk_block_size.blocks"),
            say("block_times.block"),
            say("block_times.chunk"),
            say("guideline.reason"),
        ],
    )
    return Table(frame, say("disk_block_size.guideline"), numeric=list(frame.columns[1:3]), id="guideline")
