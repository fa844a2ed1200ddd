"""The report of the published study `pod-cpu-limit`: which difference makes the request slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.explaining.attribution import wording
from deadzone.explaining.attribution.attributing import attribute_table
from deadzone.explaining.attribution.attribution import Attribution
from deadzone.explaining.phases.quantities import percent
from deadzone.language.catalogue import say
from deadzone.language.numbers import printed
from deadzone.reports.document.display import Block, Claim, Evidence, Prose, Table
from deadzone.reports.document.speaking import use_language
from deadzone.reports.limit_attribution import request_times
from deadzone.reports.limit_attribution.request_times import CONTAINER, LIMITED, UNLIMITED, Times
from deadzone.reports.limit_attribution.run import LimitRun, load_run
from deadzone.reports.published.conclusions import judge_conclusions
from deadzone.reports.published.live import LIVE, measure_live
from deadzone.reports.published.published import REFERENCE, open_published, section
from deadzone.reports.published.report import PublishedReport

STUDY = "pod-cpu-limit"

BUNDLED = "upload-cpu-limit"
"""The study that is measured for `source = "live"`."""

HYPOTHESES = ("cpu", "disk", "memory", "network", "client")


@dataclass(frozen=True, eq=False)
class LimitAttribution(PublishedReport):
    """The study with its times; every method gives the blocks of one section.

    result: what the rules for runs say of these times.
    """

    times: Times
    result: Attribution

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubt that comes first."""
        ratio = f"{self.times.ratio('total'):.1f}"
        abstract = [
            Claim(say("limit_attribution.found_limit", ratio=ratio, left=percent(self.times.left)),
                  (Evidence("response"), self.row("cpu"))),
            Claim(say("limit_attribution.found_others"), (Evidence("hypotheses"),)),
            Claim(request_times.work_sentence(self.times), (Evidence("times"),)),
        ]  # fmt: skip
        return [
            self.published.head(
                say("limit_attribution.title"),
                say("limit_attribution.subtitle"),
                abstract,
                (say("limit_attribution.doubt"),),
                say("limit_attribution.verdict", ratio=ratio),
            )
        ]

    def hypotheses(self) -> list[Block]:
        """Every hypothesis with the author's verdict, what is evidence for it, what is not, and the verdict here."""
        return [
            section("limit_attribution.hypotheses"),
            hypotheses_table(self.times),
            section("limit_attribution.by_rules", level=3),
            Prose((say("limit_attribution.by_rules_text"),)),
            rules_table(self.result),
        ]

    def response(self) -> list[Block]:
        """The times of the three environments."""
        return [
            section("limit_attribution.times"),
            request_times.times_figure(self.times),
            request_times.times_table(self.times),
            Prose((say("limit_attribution.no_curve"),)),
        ]

    def first_byte(self) -> list[Block]:
        """What the time to the first byte proves."""
        return [
            section("limit_attribution.first_byte"),
            Prose(
                (
                    request_times.first_byte_sentence(self.times),
                    request_times.after_first_byte_sentence(self.times),
                    say("limit_attribution.expect"),
                    say("limit_attribution.tried"),
                )
            ),
        ]

    def work(self) -> list[Block]:
        """Whether the limit alone can explain the factor."""
        return [
            section("limit_attribution.work"),
            Prose((request_times.work_sentence(self.times), say("limit_attribution.work_text"))),
        ]

    def missing(self) -> list[Block]:
        """What the document announces and does not hold."""
        return [section("limit_attribution.missing"), request_times.missing_table()]

    def guideline(self) -> list[Block]:
        """What to set, as far as two settings can say."""
        return [section("study.guideline"), guideline_table(self.times)]

    def limits(self) -> list[Block]:
        """What would decide."""
        texts = ("one_request", "together", "would_decide")
        return [
            section("study.limits"),
            Prose(tuple(say(f"limit_attribution.limit_{text}") for text in texts)),
        ]


def load(source: str = REFERENCE, lang: str = "en") -> LimitAttribution | LimitRun:
    """The study with its times, or a run with its attribution.

    source: "reference" for the published tables; "live" to measure the bundled study here first; or a run of a service in
    several environments, by its id, folder, or STUDY/latest. lang: language of the report, "en" or "ko".

    Raises ReportError for another language, UnknownRunError if there is no such run, TableError if a published table is
    missing.
    """
    if source != REFERENCE:
        use_language(lang)
        return load_run(measure_live(BUNDLED) if source == LIVE else source)
    published = open_published(STUDY, source, lang)
    times = request_times.read_times(published)
    judged = judge_conclusions(STUDY, facts(times))
    return LimitAttribution(published, judged, times, attribute_table(request_times.trials_of(published)))


def facts(times: Times) -> dict[str, Any]:
    """What the author's conclusions are judged by."""
    low, high = sorted(times.ratio(clock) for clock in ("wall", "total"))
    return {"low": low, "high": high, **{f"evidence_{name}": _evidence(name, times) for name in HYPOTHESES}}


def hypotheses_table(times: Times) -> Table:
    """One row a hypothesis: the author's verdict, the evidence, what is no evidence, and the verdict of the data."""
    frame = pd.DataFrame(
        {
            say("limit_attribution.hypothesis"): [
                say(f"limit_attribution.name_{name}") for name in HYPOTHESES
            ],
            say("limit_attribution.author"): [say(f"limit_attribution.author_{name}") for name in HYPOTHESES],
            say("limit_attribution.data"): [say(f"limit_attribution.data_{name}") for name in HYPOTHESES],
            say("limit_attribution.evidence"): [_evidence(name, times) for name in HYPOTHESES],
            say("limit_attribution.not_evidence"): [
                say(f"limit_attribution.not_{name}") for name in HYPOTHESES
            ],
        }
    )
    return Table(frame, say("limit_attribution.hypotheses_caption"), id="hypotheses", row_ids=HYPOTHESES)


def rules_table(result: Attribution) -> Table:
    """One row a hypothesis: the verdict by the rules for runs, and why."""
    rows = [row for _, row in result.hypotheses.iterrows()]
    names = [row["hypothesis"] for row in rows]
    frame = pd.DataFrame(
        {
            say("limit_attribution.hypothesis"): [wording.hypothesis_name(name) for name in names],
            say("attribution.verdict"): [wording.verdict_name(row) for row in rows],
            say("limit_attribution.evidence"): [wording.evidence_of(result, name) for name in names],
        }
    )
    return Table(frame, say("limit_attribution.by_rules_caption"), id="by-rules", row_ids=names)


def _evidence(name: str, times: Times) -> str:
    return say(
        f"limit_attribution.evidence_{name}",
        limited=printed(times.total[LIMITED]),
        unlimited=printed(times.total[UNLIMITED]),
        container=printed(times.total[CONTAINER]),
        left=times.left,
        connect=f"{1000 * (times.connect[LIMITED] - times.connect[CONTAINER]):.1f}",
        cpu=f"{1000 * times.client_cpu[LIMITED]:.0f}",
        wall=printed(times.wall[LIMITED]),
    )


def guideline_table(times: Times) -> Table:
    """The two settings that were measured, and the gap between them."""
    rows = [
        ("scarce", "1", printed(times.total[LIMITED]), say("limit_attribution.because_scarce", ratio=f"{times.ratio('total'):.1f}")),
        ("middling", say("limit_attribution.between", cores=printed(times.cores)), "-", say("limit_attribution.because_middling")),
        ("plenty", say("quantity.no_limit"), printed(times.total[UNLIMITED]), say("limit_attribution.because_plenty")),
    ]  # fmt: skip
    frame = pd.DataFrame(
        [(say(f"guideline.{resources}"), *rest) for resources, *rest in rows],
        columns=[
            say("guideline.resources"),
            say("limit_attribution.limit"),
            say("limit_attribution.total"),
            say("guideline.reason"),
        ],
    )
    return Table(frame, say("limit_attribution.guideline"), numeric=[frame.columns[2]], id="guideline")
