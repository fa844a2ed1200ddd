"""The report of a disk run: what block size to set, what a smaller one costs, and what
the figures are figures of.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.errors import TableError
from deadzone.explaining.marks import numbers
from deadzone.explaining.phases.quantities import axis_label, number, percent, plain_name
from deadzone.language.catalogue import join, say, spoken, tenths
from deadzone.reports.disk_block_size import circumstances as disk_circumstances
from deadzone.reports.disk_block_size.curves import Curve, Decided, Fitted, curves_of
from deadzone.reports.document.display import Block, Claim, Evidence, Figure, Prose, Table, section
from deadzone.reports.document.drawing import new_figure
from deadzone.reports.figures import curves as drawn
from deadzone.reports.sweep import prose, tables
from deadzone.reports.sweep.measured_live import run_of
from deadzone.reports.sweep.run_report import RunReport
from deadzone.reports.sweep.source import load_source
from deadzone.study.disk_specs import DiskWorkload
from deadzone.study.sizes import RequiredRate, parse_rate, size_text
from deadzone.style import MUTED, OUTLIER_COLOUR, RECOMMENDED_COLOUR, TRIAL_COLOUR

LOOKS = (
    (TRIAL_COLOUR, "o", "-"),
    (RECOMMENDED_COLOUR, "s", "--"),
    (OUTLIER_COLOUR, "^", "-."),
    (MUTED, "D", ":"),
)
"""Colour, mark and line of each curve: no two differ in colour alone."""

LATENCIES = ("latency_mean_ms", "latency_p50_ms", "latency_p99_ms", "latency_p99_9_ms", "latency_max_ms")

NEARLY_CERTAIN = 0.999
"""Beyond this a probability is said to be above it: the model behind it is no surer than that."""

USUAL_CHUNK = 20_000_000
"""The chunk of an upload in the published study, where a run names no rate of its own [bytes]."""


def certain(decided: Decided) -> str:
    """A decided setting's confidence in words."""
    if decided.confidence > NEARLY_CERTAIN:
        return say("disk_run.above", value=tenths(NEARLY_CERTAIN))
    return percent(decided.confidence)


def share_text(share: float) -> str:
    """A share that somebody asked for, as it was written: 5 %."""
    return f"{100 * share:g}{'' if spoken() == 'ko' else ' '}%"


def duration(seconds: float) -> str:
    """A time with its unit: 12 s, 55 ms, 300 µs."""
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 1:
            return f"{number(seconds * scale, seconds * scale / 10)} {unit}"
    return f"{seconds * 1e6:.2g} µs"


def _or_none(curve: Fitted, decided: Decided) -> str:
    text = curve.text(decided.nearest)
    return say("disk_run.nearest", setting=text) if decided.level is None else text


def _median(group: pd.DataFrame, column: str, scale: float = 1.0) -> str:
    median = float(numbers(group, column).median()) * scale
    return number(median, median / 10)


@dataclass(frozen=True, eq=False)
class DiskRun(RunReport):
    """A run of a disk study.

    curves: all of them, the fitted ones first asked. within: how far below the best is good enough, a share. required:
    the rate to sustain, or None. chunk: whose time is told [bytes].
    """

    curves: tuple[Curve, ...]
    within: float
    required: RequiredRate | None
    chunk: float

    @property
    def fitted(self) -> list[Fitted]:
        """The curves that phases could be fitted to."""
        return [curve for curve in self.curves if isinstance(curve, Fitted)]

    def decision_table(self) -> Table:
        """One row a curve: the smallest setting near the best and the smallest that sustains the rate, with confidence."""
        rows = []
        for position, curve in enumerate(self.fitted, start=1):
            near = curve.near_best(self.within)
            row = {"position": position, "what": self._what(curve)}
            row |= {"near": _or_none(curve, near), "near_sure": certain(near)}
            if self.required:
                enough = curve.sustains(self.required)
                row |= {"enough": _or_none(curve, enough), "enough_sure": certain(enough)}
            rows.append(row)
        rate = self.required.text if self.required else ""
        return Table.of("disk_block_size.decision", rows, share=share_text(self.within), rate=rate)

    def _what(self, curve: Curve) -> str:
        return curve.heading or plain_name(self.source.knob)

    def _near(self, curve: Fitted) -> float:
        """The setting near the best; where none is sure, the smallest that is estimated to be."""
        decided = curve.near_best(self.within)
        return decided.level if decided.level is not None else curve.estimated_near_best(self.within)

    def _rule(self, curve: Fitted, name: str, level: float, best: float) -> dict[str, str]:
        took, least = curve.chunk_s(level, self.chunk), curve.chunk_s(best, self.chunk)
        reason = say(f"disk_run.because_{name}")
        if name != "best" and level < best:
            reason = say("disk_run.because_slower", reason=reason, times=f"{took / least:.1f}")
        return {
            "what": self._what(curve),
            "name": name,
            "level": curve.text(level),
            "rate": number(curve.rate(level)[0], curve.rate(level)[0] / 10),
            "took": duration(took),
            "reason": reason,
        }

    def chunk_figure(self) -> Figure:
        """The time that a chunk takes in each setting: what a too small one costs."""
        from deadzone.explaining.phases.plot_axes import label_levels, plain_values

        curves, required, chunk = self.fitted, self.required, size_text(self.chunk)
        with new_figure(3.8) as (drawing, ax):
            for curve, (colour, marker, line) in zip(curves, LOOKS, strict=False):
                times = [1000 * curve.chunk_s(level, self.chunk) for level in curve.knob_levels]
                ax.plot(curve.knob_levels, times, color=colour, marker=marker, linestyle=line, linewidth=1.4,
                        markersize=5, label=curve.heading or say("disk_run.chunk", chunk=chunk))  # fmt: skip
            if required and required.size == self.chunk:
                limit = 1000 * required.within_s
                ax.axhline(limit, color=MUTED, linewidth=1)
                ax.annotate(say("disk_run.allowed", rate=required.text), (1, limit), xycoords=("axes fraction", "data"),
                            xytext=(-2, 3), textcoords="offset points", ha="right", color=MUTED, fontsize=8)  # fmt: skip
            ax.set_xscale("log", base=2)
            ax.set_yscale("log")
            plain_values(ax)
            levels = curves[0].knob_levels
            label_levels(ax, levels, [curves[0].text(level) for level in levels], [])
            ax.set_xlabel(axis_label(self.source.knob))
            ax.set_ylabel(say("disk_run.chunk_axis", chunk=chunk))
            ax.legend(loc="best", fontsize=8)
        said = join([self._cost_sentence(curve) for curve in curves])
        return Figure.of(drawing, said, say("disk_run.chunk_described", said=said), id="chunk")

    def _cost_sentence(self, curve: Fitted) -> str:
        smallest, largest = float(curve.knob_levels[0]), float(curve.knob_levels[-1])
        fastest = float(curve.knob_levels[int(np.argmax(curve.estimates.log_response))])
        return say(
            "disk_run.cost",
            name=curve.heading or say("disk_run.a_chunk"),
            chunk=size_text(self.chunk),
            small=curve.text(smallest),
            slow=duration(curve.chunk_s(smallest, self.chunk)),
            fast=duration(curve.chunk_s(fastest, self.chunk)),
            at=curve.text(fastest if fastest != smallest else largest),
        )

    def latency_table(self) -> Table:
        """Medians of throughput, calls a second and latencies of every treatment."""
        rows = []
        for curve in self.curves:
            for level, group in curve.trials.groupby(self.source.knob, observed=True):
                row = {"what": self._what(curve), "level": curve.text(level), "n": f"{len(group)}"}
                row |= {name: _median(group, name) for name in ("throughput_mb_s", "iops")}
                rows.append(row | {name: _median(group, name, 1000) for name in LATENCIES})
        return Table.of("disk_block_size.treatments", rows, knob=axis_label(self.source.knob))

    def title(self) -> list[Block]:
        """Title, what was decided with its evidence, and the doubts that come first."""
        source = self.source
        abstract = [
            Claim(self._found(curve), (Evidence("decision"), Evidence(curve.anchor("response"))))
            for curve in self.fitted
        ] or [Claim(say("report.no_fit"))]
        doubts = (*source.doubts, *disk_circumstances.doubts(source, self.curves))
        return [prose.head(source, tuple(abstract), doubts, abstract[0].text, n=len(source.analysed))]

    def _found(self, curve: Fitted) -> str:
        """What a curve decides, in a sentence."""
        near = curve.near_best(self.within)
        said = say(
            "disk_run.found_unsure" if near.level is None else "disk_run.found_near",
            name=self._what(curve),
            setting=curve.text(self._near(curve)),
            share=share_text(self.within),
            confidence=certain(near),
        )
        if not self.required:
            return said
        enough = curve.sustains(self.required)
        key = "disk_run.found_none" if enough.level is None else "disk_run.found_enough"
        words = {"setting": curve.text(enough.nearest), "confidence": certain(enough)}
        return f"{said} {say(key, rate=self.required.text, **words)}"

    def response(self) -> list[Block]:
        """The throughput over the knob, one figure a curve."""
        found: list[Block] = [section("disk_run.throughput")]
        for curve in self.fitted:
            if curve.name:
                found.append(Prose((), heading=curve.heading, level=3, id=curve.anchor("curve")))
            is_face, identity = curve.position == 0, curve.anchor("response")
            found.append(drawn.curve_figure(curve.model, curve.advice, identity, is_face))
        return found

    def shape(self) -> list[Block]:
        """The phases of each curve, and whether limits that were in force show where they should."""
        found: list[Block] = [section("disk_run.shape")]
        for curve in self.fitted:
            if curve.name:
                found.append(Prose((), heading=curve.heading, level=3, id=curve.anchor("phases-of")))
            found.append(drawn.phases_table(curve.model, curve.anchor("phases")))
            if said := disk_circumstances.limits_check(self.source, curve):
                evidence = (Evidence(curve.anchor("response")), Evidence(curve.anchor("phases")))
                found.append(Prose((Claim(said, evidence),), style="check"))
            if warnings := tuple(curve.model.warnings):
                found.append(Prose(warnings, style="warnings", id=curve.anchor("warnings")))
        return found

    def conclusions(self) -> list[Block]:
        """The decisions, each with its confidence, and what a too small setting costs."""
        if not self.fitted:
            return [section("disk_run.decision"), Prose((say("report.no_fit"),))]
        return [
            section("disk_run.decision"),
            self.decision_table(),
            Prose((say("disk_run.decision_text", share=share_text(self.within)),)),
            self.chunk_figure(),
            *self.claims(),
        ]

    def guideline(self) -> list[Block]:
        """What to set, by what is wanted: the rate alone, nearly all the disk gives, or as little as the smallest setting."""
        rows = []
        for curve in self.fitted:
            smallest, best = float(curve.knob_levels[0]), self._near(curve)
            enough = curve.sustains(self.required).level if self.required else None
            wanted = [("smallest", smallest)] if enough != smallest else []
            wanted += [("enough", enough)] if enough is not None else []
            wanted += [("best", best)] if best != enough else []
            rows += [self._rule(curve, name, level, best) for name, level in wanted]
        words = {"chunk": size_text(self.chunk), "knob": axis_label(self.source.knob)}
        table = Table.of("disk_block_size.guideline", rows, **words)
        return [section("study.guideline"), table] if rows else []

    def limits(self) -> list[Block]:
        """What these figures are figures of."""
        said = disk_circumstances.statements(self.source, self.curves)
        return [section("disk_run.circumstances"), Prose((*said, say("disk_run.only_here")))]

    def details(self) -> list[Block]:
        """Latencies of every treatment, and the trials that were left out."""
        found: list[Block] = [section("disk_run.details")]
        if len(self.source.analysed):
            found.append(self.latency_table())
        return [*found, *tables.left_out(self.source)]


def load_run(name: str) -> DiskRun:
    """A run of a disk study by its id, folder, or STUDY/latest.

    Raises StoreError if there is none, TableError if it is a run of another workload.
    """
    source = load_source(name)
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


def load(source: str, lang: str = "en") -> DiskRun:
    """A run of a disk study; see `deadzone.reports.sweep.measured_live.run_of`."""
    return load_run(run_of(source, lang, "disk-block-size"))
