"""The report of the published study `ffmpeg-threads`: CPU limit and thread count of FFmpeg in a pod."""

from dataclasses import dataclass

import pandas as pd

from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.reports.document.display import Figure, Regression, Table
from deadzone.reports.document.regression import regression
from deadzone.reports.ffmpeg_threads import cpu_work, thread_counts
from deadzone.reports.ffmpeg_threads.facts import facts
from deadzone.reports.figures import curves
from deadzone.reports.published import arithmetic, guideline
from deadzone.reports.published.published import REFERENCE, Published, open_published
from deadzone.reports.published.report import PublishedReport


@dataclass(frozen=True, eq=False)
class FfmpegThreads(PublishedReport):
    """The study, and its curves.

    model, advice: of wall time over the CPU limit, threads equal to the limit. counts: the curves over the
    thread count at fixed limits. pairs: cells measured twice.
    """

    FOLDER = "ffmpeg_threads"
    curve: pd.DataFrame
    model: PhaseModel
    advice: Recommendation
    counts: tuple[thread_counts.ThreadCount, ...]
    pairs: pd.DataFrame

    def curve_figure(self) -> Figure:
        """The curve with limit and threads raised together."""
        return curves.curve_figure(self.model, self.advice, "response", is_face=True)

    def curve_phases(self) -> Table:
        """Its phases."""
        return curves.phases_table(self.model, "phases")

    def work_figure(self) -> Figure:
        """CPU time that the job takes, and cores that it keeps busy."""
        return cpu_work.work_figure(self.curve, self.model)

    def counts_figure(self) -> Figure:
        """Threads varied at fixed CPU limits."""
        return thread_counts.counts_figure(self.counts)

    def repeats_table(self) -> Table:
        """What was measured twice."""
        return arithmetic.repeats_table(self.pairs)

    def guideline_table(self) -> Table:
        """The guideline that follows from the fit."""
        return guideline.guideline_table(self.model, self.advice)

    def regression(self) -> Regression:
        """The regression-style summary of the main curve."""
        return regression(self.model)


def read_study(published: Published) -> FfmpegThreads:
    """The study with its curves fitted."""
    curve = published.table("limit-equals-threads")
    model = fit_phases(curve, "cpu_limit", "wall_s")
    counts = thread_counts.fit_counts(published)
    pairs = arithmetic.repeats(published.name)
    known = facts(published, model, counts, pairs)
    return FfmpegThreads(published, curve, model, model.recommend(), counts, pairs, known=known)


def load(source: str = REFERENCE, lang: str = "en") -> FfmpegThreads:
    """The published study. source: "reference". lang: language of the report, "en" or "ko".

    Raises ReportError for another source or language, TableError if a published table is missing.
    """
    return read_study(open_published("ffmpeg-threads", source, lang))
