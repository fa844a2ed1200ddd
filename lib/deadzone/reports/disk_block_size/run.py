"""The report of a disk run: what block size to set, what a smaller one costs, and what the figures are figures of."""

from dataclasses import dataclass

from deadzone.errors import TableError
from deadzone.explaining.phases.quantities import plain_name
from deadzone.language.catalogue import say
from deadzone.reports.disk_block_size import circumstances as disk_circumstances
from deadzone.reports.disk_block_size import tables as disk_tables
from deadzone.reports.disk_block_size.curves import Curve, curves_of
from deadzone.reports.document.display import Block, Claim, Evidence, Prose
from deadzone.reports.figures import curves as drawn
from deadzone.reports.published.published import section
from deadzone.reports.sweep import prose, tables
from deadzone.reports.sweep.claims import claims_section
from deadzone.reports.sweep.source import Source, load_source
from deadzone.study.disk_specs import DiskWorkload
from deadzone.study.sizes import RequiredRate, parse_rate

USUAL_CHUNK = 20_000_000
"""The chunk of an upload in the published study, where a run names no rate of its own [bytes]."""


@dataclass(frozen=True, eq=False)
class DiskRun:
    """A run of a disk study; every method gives the blocks of one section.

    curves: all of them, the fitted ones first asked. within: how far below the best is good enough, a share. required:
    the rate to sustain, or None. chunk: whose time is told [bytes].
    """

    source: Source
    curves: tuple[Curve, ...]
    within: float
    required: RequiredRate | None
    chunk: float

    @property
    def fitted(self) -> list[Curve]:
        """The curves that phases could be fitted to."""
        return [curve for curve in self.curves if curve.model is not None]

    def title(self) -> list[Block]:
        """Title, what was decided with its evidence, and the doubts that come first."""
        source = self.source
        abstract = [
            Claim(self._found(curve), (Evidence("decision"), Evidence(curve.anchor("response"))))
            for curve in self.fitted
        ]
        return [
            prose.head(
                source,
                tuple(abstract) or (say("report.no_fit"),),
                (*source.doubts, *disk_circumstances.doubts(source, self.curves)),
                self._found(self.fitted[0]) if self.fitted else say("report.no_fit"),
                n=len(source.analysed),
            )
        ]

    def _found(self, curve: Curve) -> str:
        """What a curve decides, in a sentence."""
        near = curve.near_best(self.within)
        words = {
            "name": curve.heading or plain_name(self.source.knob),
            "share": disk_tables.share_text(self.within),
            "confidence": disk_tables.certain(near),
        }
        if near.level is None:
            setting = curve.text(curve.estimated_near_best(self.within))
            said = say("disk_run.found_unsure", setting=setting, **words)
        else:
            said = say("disk_run.found_near", setting=curve.text(near.level), **words)
        if not self.required:
            return said
        enough = curve.sustains(self.required)
        if enough.level is None:
            setting = curve.text(enough.nearest)
            more = say(
                "disk_run.found_none",
                rate=self.required.text,
                setting=setting,
                confidence=disk_tables.certain(enough),
            )
        else:
            more = say(
                "disk_run.found_enough",
                rate=self.required.text,
                setting=curve.text(enough.level),
                confidence=disk_tables.certain(enough),
            )
        return f"{said} {more}"

    def response(self) -> list[Block]:
        """The throughput over the knob, one figure a curve."""
        found: list[Block] = [section("disk_run.throughput")]
        for curve in self.fitted:
            assert curve.model is not None and curve.advice is not None
            if curve.name:
                found.append(Prose((), heading=curve.heading, level=3, id=curve.anchor("curve")))
            found.append(
                drawn.curve_figure(
                    curve.model, curve.advice, curve.anchor("response"), is_face=curve.position == 0
                )
            )
        return found

    def shape(self) -> list[Block]:
        """The phases of each curve, and whether limits that were in force show where they should."""
        found: list[Block] = [section("disk_run.shape")]
        for curve in self.fitted:
            assert curve.model is not None
            if curve.name:
                found.append(Prose((), heading=curve.heading, level=3, id=curve.anchor("phases-of")))
            found.append(drawn.phases_table(curve.model, curve.anchor("phases")))
            if said := disk_circumstances.limits_check(self.source, curve):
                evidence = (Evidence(curve.anchor("response")), Evidence(curve.anchor("phases")))
                found.append(Prose((Claim(said, evidence),), style="check"))
            if curve.model.warnings:
                found.append(
                    Prose(tuple(curve.model.warnings), style="warnings", id=curve.anchor("warnings"))
                )
        return found

    def conclusions(self) -> list[Block]:
        """The decisions, each with its confidence, and what a too small setting costs."""
        if not self.fitted:
            return [section("disk_run.decision"), Prose((say("report.no_fit"),))]
        knob = self.source.knob
        return [
            section("disk_run.decision"),
            disk_tables.decision_table(self.fitted, self.within, self.required, knob),
            Prose((say("disk_run.decision_text", share=disk_tables.share_text(self.within)),)),
            disk_tables.chunk_figure(self.fitted, self.required, self.chunk, knob),
            *claims_section(self.source),
        ]

    def guideline(self) -> list[Block]:
        """What to set."""
        if not self.fitted:
            return []
        table = disk_tables.guideline_table(
            self.fitted, self.within, self.required, self.chunk, self.source.knob
        )
        return [section("study.guideline"), table]

    def limits(self) -> list[Block]:
        """What these figures are figures of."""
        said = disk_circumstances.statements(self.source, self.curves)
        return [section("disk_run.circumstances"), Prose((*said, say("disk_run.only_here")))]

    def details(self) -> list[Block]:
        """Latencies of every treatment, and the trials that were left out."""
        found: list[Block] = [section("disk_run.details")]
        if len(self.source.analysed):
            found.append(disk_tables.latency_table(self.source, self.curves, self.source.knob))
        return [*found, *tables.left_out(self.source)]

    def origin(self) -> list[Block]:
        """The circumstances of the run, and the command that makes it again."""
        return [section("disk_run.origin"), *prose.origin(self.source)]


def load_run(name: str) -> DiskRun:
    """A run of a disk study by its id, folder, or STUDY/latest.

    Raises StoreError if there is none, TableError if it is a run of another workload.
    """
    source = load_source(name, response="")
    workload = source.study.workload if source.study else None
    if not isinstance(workload, DiskWorkload):
        kind = workload.kind if workload else "-"
        raise TableError(
            f"Run {source.run_id or name} is of the workload {kind}; this notebook reports runs of the workload disk. "
            f"`deadzone report {source.run_id or name}` chooses the right one."
        )
    required = parse_rate(workload.required) if workload.required else None
    chunk = float(required.size if required else USUAL_CHUNK)
    return DiskRun(source, tuple(curves_of(source)), workload.within, required, chunk)
