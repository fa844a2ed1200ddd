"""Tables and figures of a disk run: what was decided, the guideline, the latencies, the time of a chunk."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from deadzone.explaining.phases.quantities import axis_label, number, percent, plain_name
from deadzone.language.catalogue import join, say, spoken
from deadzone.language.numbers import tenths
from deadzone.reports.disk_block_size.curves import Curve, Decided
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.document.tabling import table_of
from deadzone.reports.sweep.source import Source
from deadzone.study.sizes import RequiredRate, size_text
from deadzone.style import MUTED, OUTLIER_COLOUR, RECOMMENDED_COLOUR, TRIAL_COLOUR, figure_style

LOOKS = (
    (TRIAL_COLOUR, "o", "-"),
    (RECOMMENDED_COLOUR, "s", "--"),
    (OUTLIER_COLOUR, "^", "-."),
    (MUTED, "D", ":"),
)
"""Colour, mark and line of each curve: no two differ in colour alone."""

LATENCIES = ("latency_mean_ms", "latency_p50_ms", "latency_p99_ms", "latency_p99_9_ms", "latency_max_ms")

DASH = "-"

NEARLY_CERTAIN = 0.999
"""Beyond this a probability is said to be above it: the model behind it is no surer than that."""


def certain(decided: Decided) -> str:
    """A decided setting's confidence in words."""
    if decided.confidence > NEARLY_CERTAIN:
        return say("disk_run.above", value=tenths(NEARLY_CERTAIN))
    return percent(decided.confidence)


def share_text(share: float) -> str:
    """A share that somebody asked for, as it was written: 5 %."""
    return f"{100 * share:g}{'' if spoken() == 'ko' else ' '}%"


def decision_table(curves: Sequence[Curve], within: float, required: RequiredRate | None, knob: str) -> Table:
    """One row a curve: the smallest setting near the best and the smallest that sustains the rate, with confidence."""
    rows = []
    for position, curve in enumerate(curves, start=1):
        near = curve.near_best(within)
        row = {"position": position, "what": curve.heading or plain_name(knob)}
        row |= {"near": _or_none(curve, near), "near_sure": certain(near)}
        if required:
            enough = curve.sustains(required)
            row |= {"enough": _or_none(curve, enough), "enough_sure": certain(enough)}
        rows.append(row)
    rate = required.text if required else ""
    return table_of("disk_block_size.decision", rows, share=share_text(within), rate=rate)


def _or_none(curve: Curve, decided: Decided) -> str:
    if decided.level is None:
        return say("disk_run.nearest", setting=curve.text(decided.nearest))
    return curve.text(decided.level)


def guideline_table(
    curves: Sequence[Curve], within: float, required: RequiredRate | None, chunk: float, knob: str
) -> Table:
    """What to set, by what is wanted: the rate alone, nearly all the disk gives, or as little as the smallest setting."""
    rows = []
    for curve in curves:
        smallest, best = float(curve.knob_levels[0]), _near(curve, within)
        enough = curve.sustains(required).level if required else None
        wanted = [("smallest", smallest)] if enough != smallest else []
        wanted += [("enough", enough)] if enough is not None else []
        wanted += [("best", best)] if best != enough else []
        for name, level in wanted:
            rows.append(_rule(curve, name, level, chunk, best, knob))
    return table_of("disk_block_size.guideline", rows, chunk=size_text(chunk), knob=axis_label(knob))


def _near(curve: Curve, within: float) -> float:
    """The setting near the best; where none is sure, the smallest that is estimated to be."""
    decided = curve.near_best(within)
    return decided.level if decided.level is not None else curve.estimated_near_best(within)


def _rule(curve: Curve, name: str, level: float, chunk: float, best: float, knob: str) -> dict[str, str]:
    took, least = curve.chunk_s(level, chunk), curve.chunk_s(best, chunk)
    reason = say(f"disk_run.because_{name}")
    if name != "best" and level < best:
        reason = say("disk_run.because_slower", reason=reason, times=f"{took / least:.1f}")
    return {
        "what": curve.heading or plain_name(knob),
        "name": name,
        "level": curve.text(level),
        "rate": number(curve.rate(level)[0], curve.rate(level)[0] / 10),
        "took": duration(took),
        "reason": reason,
    }


def duration(seconds: float) -> str:
    """A time with its unit: 12 s, 55 ms, 300 µs."""
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 1:
            return f"{number(seconds * scale, seconds * scale / 10)} {unit}"
    return f"{seconds * 1e6:.2g} µs"


def chunk_figure(curves: Sequence[Curve], required: RequiredRate | None, chunk: float, knob: str) -> Figure:
    """The time that a chunk takes in each setting: what a too small one costs."""
    import matplotlib.pyplot as plt

    from deadzone.explaining.phases.plot_axes import label_levels, plain_values

    with figure_style():
        drawing, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
        for curve, (colour, marker, line) in zip(curves, LOOKS, strict=False):
            times = [1000 * curve.chunk_s(level, chunk) for level in curve.knob_levels]
            ax.plot(curve.knob_levels, times, color=colour, marker=marker, linestyle=line, linewidth=1.4,
                    markersize=5, label=curve.heading or say("disk_run.chunk", chunk=size_text(chunk)))  # fmt: skip
        if required and required.size == chunk:
            limit = 1000 * required.within_s
            ax.axhline(limit, color=MUTED, linewidth=1)
            ax.annotate(say("disk_run.allowed", rate=required.text), (1, limit), xycoords=("axes fraction", "data"),
                        xytext=(-2, 3), textcoords="offset points", ha="right", color=MUTED, fontsize=8)  # fmt: skip
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        plain_values(ax)
        levels = curves[0].knob_levels
        drawing.draw_without_rendering()
        label_levels(ax, levels, [curves[0].text(level) for level in levels], [])
        ax.set_xlabel(axis_label(knob))
        ax.set_ylabel(say("disk_run.chunk_axis", chunk=size_text(chunk)))
        ax.legend(loc="best", fontsize=8)
    said = join([_cost_sentence(curve, chunk) for curve in curves])
    return Figure.of(drawing, said, say("disk_run.chunk_described", said=said), id="chunk")


def _cost_sentence(curve: Curve, chunk: float) -> str:
    smallest, largest = float(curve.knob_levels[0]), float(curve.knob_levels[-1])
    fastest = float(curve.knob_levels[int(np.argmax(curve.estimates.log_response))])
    return say(
        "disk_run.cost",
        name=curve.heading or say("disk_run.a_chunk"),
        chunk=size_text(chunk),
        small=curve.text(smallest),
        slow=duration(curve.chunk_s(smallest, chunk)),
        fast=duration(curve.chunk_s(fastest, chunk)),
        at=curve.text(fastest if fastest != smallest else largest),
    )


def latency_table(source: Source, curves: Sequence[Curve], knob: str) -> Table:
    """Medians of throughput, calls a second and latencies of every treatment."""
    rows = []
    for curve in curves:
        for level, group in curve.trials.groupby(knob, observed=True):
            shown = curve.text(float(str(level))) if curve.model else str(level)
            row = {"what": curve.heading or plain_name(knob), "level": shown, "n": f"{len(group)}"}
            row |= {name: _median(group, name) for name in ("throughput_mb_s", "iops")}
            rows.append(row | {name: _median(group, name, 1000) for name in LATENCIES})
    return table_of("disk_block_size.treatments", rows, knob=axis_label(knob))


def _median(group: pd.DataFrame, column: str, scale: float = 1.0) -> str:
    values = (
        pd.to_numeric(group[column], errors="coerce").dropna() if column in group else pd.Series(dtype=float)
    )
    if values.empty:
        return DASH
    median = float(values.median()) * scale
    return number(median, median / 10)
