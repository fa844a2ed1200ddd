"""The report of the published study `ffmpeg-threads`: CPU limit and thread count of FFmpeg in a pod."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.verdict import verdict
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Claim, Evidence, Prose
from deadzone.reports.document.regression import regression
from deadzone.reports.ffmpeg_threads import claims as ffmpeg_claims
from deadzone.reports.ffmpeg_threads import cpu_work, thread_counts
from deadzone.reports.figures import curves
from deadzone.reports.published import arithmetic, guideline
from deadzone.reports.published.conclusions import judge_conclusions
from deadzone.reports.published.published import open_published, section
from deadzone.reports.published.report import PublishedReport

STUDY = "ffmpeg-threads"


@dataclass(frozen=True, eq=False)
class FfmpegThreads(PublishedReport):
    """The study, its curves and what follows from them; every method gives the blocks of one section.

    model, advice: of wall time over the CPU limit, threads equal to the limit. counts: the curves over the
    thread count at fixed limits. pairs: cells measured twice.
    """

    curve: pd.DataFrame
    model: PhaseModel
    advice: Recommendation
    counts: tuple[thread_counts.ThreadCount, ...]
    pairs: pd.DataFrame

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubt that comes first."""
        found = verdict(self.model, self.advice)
        work = cpu_work.breakthrough(self.model, self.curve)
        same = next(one for one in self.judged if one.name == "phases").verdict == "supported"
        key = "ffmpeg_threads.found_phases" if same else "ffmpeg_threads.found_other_phases"
        abstract = [
            Claim(say(key, phases=curves.phases_text(self.model)),
                  (Evidence("response"), self.row("phases"))),
            Claim(cpu_work.sentence(work), (Evidence("work"), self.row("parallelism"))),
            Claim(say("ffmpeg_threads.found_setting", verdict=found), (Evidence("guideline"),)),
        ]  # fmt: skip
        usual = arithmetic.usual_difference(self.pairs)
        largest = float(self.pairs["difference_percent"].abs().max()) / 100
        doubts = (say("ffmpeg_threads.doubt", usual=usual, largest=largest),)
        return [
            self.published.head(
                say("ffmpeg_threads.title"), say("ffmpeg_threads.subtitle"), abstract, doubts, found
            )
        ]

    def response(self) -> list[Block]:
        """The curve with limit and threads raised together, its phases, and the author's beside them."""
        return [
            section("ffmpeg_threads.response"),
            curves.curve_figure(self.model, self.advice, "response", is_face=True),
            curves.phases_table(self.model, "phases"),
            ffmpeg_claims.author_phases_table(self.published.table("author-phases"), self.model),
        ]

    def work(self) -> list[Block]:
        """Where the time goes: CPU time that the job takes, and cores that it keeps busy."""
        return [
            section("ffmpeg_threads.work"),
            Prose(
                (
                    say("ffmpeg_threads.work_text"),
                    cpu_work.sentence(cpu_work.breakthrough(self.model, self.curve)),
                )
            ),
            cpu_work.work_figure(self.curve, self.model),
            cpu_work.work_table(self.model, self.curve),
        ]

    def oversubscription(self) -> list[Block]:
        """Threads varied at fixed CPU limits."""
        return [
            section("ffmpeg_threads.oversubscription"),
            thread_counts.counts_figure(self.counts),
            thread_counts.counts_table(self.counts),
            Prose((thread_counts.flagged_sentence(self.published),)),
        ]

    def automatic(self) -> list[Block]:
        """ffmpeg's own choice of threads against as many threads as cores."""
        return [
            section("ffmpeg_threads.automatic"),
            ffmpeg_claims.automatic_table(
                self.published.table("auto-versus-explicit"), arithmetic.usual_difference(self.pairs)
            ),
        ]

    def repeats(self) -> list[Block]:
        """What was measured twice."""
        return [
            section("ffmpeg_threads.repeats"),
            Prose((say("ffmpeg_threads.repeats_text"),)),
            arithmetic.repeats_table(self.pairs),
        ]

    def guideline(self) -> list[Block]:
        """The guideline that follows from the fit, and the author's."""
        return [
            section("study.guideline"),
            guideline.guideline_table(self.model, self.advice),
            thread_counts.settings_table(self.counts),
            Prose((ffmpeg_claims.author_guideline(self.published.table("guidelines")),)),
        ]

    def summary(self) -> list[Block]:
        """The regression-style summary of the main curve."""
        return [section("study.summary"), regression(self.model)]


def load(source: str = "reference", lang: str = "en") -> FfmpegThreads:
    """The study with its curves fitted. source: "reference". lang: language of the report, "en" or "ko".

    Raises ReportError for another source or language, TableError if a published table is missing.
    """
    published = open_published(STUDY, source, lang)
    curve = published.table("limit-equals-threads")
    model = fit_phases(curve, "cpu_limit", "wall_s")
    counts = thread_counts.fit_counts(published)
    pairs = arithmetic.repeats(STUDY)
    judged = judge_conclusions(STUDY, ffmpeg_claims.facts(published, model, counts, pairs))
    return FfmpegThreads(published, judged, curve, model, model.recommend(), counts, pairs)
