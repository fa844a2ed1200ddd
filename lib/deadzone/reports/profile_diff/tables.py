"""The study `media-server`: totals, parts, and sums of two profiles, computed again from the published tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.language.catalogue import say
from deadzone.language.numbers import printed, tenths
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.figures.bars import Change, before_and_after, waterfall
from deadzone.reports.published.reference_checks import figure

if TYPE_CHECKING:
    from deadzone.reports.published.published import Published

BEFORE, AFTER = "baseline", "optimised"

SAMPLE_S = 0.01
"""Go's CPU profiler takes a sample every 10 ms of CPU time unless told otherwise; the document does not say."""

TOTALS = ("cpu_s", "cpu_percent", "heap_mb", "goroutines")


@dataclass(frozen=True)
class Parts:
    """The parts of a total before and after.

    total: before and after. parts: before and after, by component. listed_saved: sum of what the parts lose, those
    that lose. Everything in the unit of the table.
    """

    total: tuple[float, float]
    parts: dict[str, tuple[float, float]]

    @property
    def change(self) -> float:
        """Change of the total; negative is less."""
        return self.total[1] - self.total[0]

    @property
    def rest(self) -> tuple[float, float]:
        """What the parts leave of the total, before and after."""
        listed = [sum(part[i] for part in self.parts.values()) for i in (0, 1)]
        return self.total[0] - listed[0], self.total[1] - listed[1]

    @property
    def listed_change(self) -> float:
        """Change of all listed parts together."""
        return sum(after - before for before, after in self.parts.values())


def read_parts(published: Published, table: str, column: str) -> Parts:
    """The parts of a table by component, with the totals of the column."""
    totals, frame = published.table("totals"), published.table(table)
    both = (figure(totals, column, profile=BEFORE), figure(totals, column, profile=AFTER))
    parts = {
        str(name): (
            figure(frame, column, component=name, profile=BEFORE),
            figure(frame, column, component=name, profile=AFTER),
        )
        for name in dict.fromkeys(frame["component"])
    }
    return Parts(both, parts)


def component_name(name: str) -> str:
    """A component in words."""
    return say(f"profile_tables.part_{name}")


def totals_table(published: Published) -> Table:
    """The totals before and after, with the change, and what it is per stream if there were as many streams."""
    totals = published.table("totals")
    streams = float(published.table("per-stream")["claimed_streams"].iloc[0])
    rows = []
    for column in TOTALS:
        before, after = (figure(totals, column, profile=name) for name in (BEFORE, AFTER))
        rows.append(
            {
                say("profile_tables.quantity"): say(f"profile_tables.total_{column}"),
                say("profile_tables.before"): printed(before),
                say("profile_tables.after"): printed(after),
                say("profile_tables.change"): tenths(after / before - 1),
                say("profile_tables.before_stream", n=f"{streams:g}"): f"{before / streams:.3g}",
                say("profile_tables.after_stream", n=f"{streams:g}"): f"{after / streams:.3g}",
            }
        )
    frame = pd.DataFrame(rows)
    return Table(
        frame,
        say("profile_tables.totals", n=f"{streams:g}"),
        numeric=list(frame.columns[1:]),
        id="totals",
        row_ids=TOTALS,
    )


def parts_table(cpu: Parts) -> Table:
    """CPU time by component with its sampling error, and what the table leaves unlisted."""
    lines = {**cpu.parts, "rest": cpu.rest, "total": cpu.total}
    frame = pd.DataFrame(
        {
            say("profile_tables.component"): [component_name(name) for name in lines],
            say("profile_tables.before_s"): [f"{before:.2f}" for before, _ in lines.values()],
            say("profile_tables.after_s"): [f"{after:.2f}" for _, after in lines.values()],
            say("profile_tables.change_s"): [f"{after - before:+.2f}" for before, after in lines.values()],
            say("profile_tables.error_s"): [
                f"± {1.96 * sampling_error(*line):.2f}" for line in lines.values()
            ],
            say("profile_tables.share_before"): [
                tenths(before / cpu.total[0]) for before, _ in lines.values()
            ],
            say("profile_tables.share_after"): [tenths(after / cpu.total[1]) for _, after in lines.values()],
        }
    )
    caption = say(
        "profile_tables.parts",
        before=tenths(cpu.rest[0] / cpu.total[0]),
        after=tenths(cpu.rest[1] / cpu.total[1]),
    )
    return Table(frame, caption, numeric=list(frame.columns[1:]), id="parts", row_ids=list(lines))


def sampling_error(before: float, after: float) -> float:
    """Standard error of the change of two sampled CPU times [s]: a sample is a count, and counts scatter as Poisson."""
    return SAMPLE_S * float(np.sqrt((before + after) / SAMPLE_S))


def savings_sentence(published: Published, cpu: Parts) -> str:
    """The author's sum of savings against the total, and what it would take for them to be flat times."""
    saved = published.table("cpu-savings")
    added = float(saved.loc[saved["component"] != "total", "claimed_saved_s"].sum())
    return say(
        "profile_tables.savings" if added > -cpu.change else "profile_tables.savings_fit",
        added=f"{added:.2f}",
        total=f"{-cpu.change:.2f}",
        times=f"{added / -cpu.change:.1f}",
        rest_before=f"{cpu.rest[0]:.2f}",
        rest_after=f"{cpu.rest[1]:.2f}",
    )


def cpu_waterfall(cpu: Parts) -> Figure:
    """From the total before to the total after by the listed changes, and the rest that they leave over."""
    order = sorted(cpu.parts, key=lambda name: cpu.parts[name][1] - cpu.parts[name][0])
    changes = [Change(component_name(name), cpu.parts[name][1] - cpu.parts[name][0]) for name in order]
    changes.append(Change(component_name("rest"), cpu.rest[1] - cpu.rest[0]))
    caption = say(
        "profile_tables.waterfall",
        listed=f"{-cpu.listed_change:.2f}",
        total=f"{-cpu.change:.2f}",
        rest=f"{cpu.rest[1] - cpu.rest[0]:.2f}",
    )
    start = (say("profile_tables.before"), cpu.total[0])
    stop = (say("profile_tables.after"), cpu.total[1])
    return waterfall(start, changes, stop, say("profile_tables.cpu_axis"), caption, "waterfall", is_face=True)


def heap_figure(heap: Parts) -> Figure:
    """Heap by component before and after, with what the table leaves unlisted."""
    lines = {**heap.parts, "rest": heap.rest}
    names = [component_name(name) for name in lines]
    caption = say(
        "profile_tables.heap",
        before=printed(heap.total[0]),
        after=printed(heap.total[1]),
        change=tenths(-heap.change / heap.total[0]),
        rest=f"{heap.rest[0] - heap.rest[1]:.2f}",
    )
    words = (say("profile_tables.before"), say("profile_tables.after"))
    before, after = [line[0] for line in lines.values()], [line[1] for line in lines.values()]
    return before_and_after(names, before, after, words, say("profile_tables.heap_axis"), caption, "heap")


def projection_table(published: Published) -> Table:
    """The author's projection to more streams, recomputed: proportional scaling of one load."""
    frame = published.table("projection")
    totals = published.table("totals")
    rows = []
    for row in frame.to_dict("records"):
        scale = float(row["streams"]) / float(row["claimed_streams"])
        cpu, heap = (figure(totals, column, profile=row["profile"]) for column in ("cpu_percent", "heap_mb"))
        rows.append(
            {
                say("profile_tables.profile"): say(f"profile_tables.profile_{row['profile']}"),
                say("profile_tables.streams"): printed(row["streams"]),
                say("profile_tables.cpu_now"): f"{cpu:.1f}",
                say("profile_tables.cpu_then"): f"{cpu * scale:.1f}",
                say("profile_tables.cpu_claimed"): printed(row["claimed_cpu_percent"]),
                say("profile_tables.heap_then"): f"{heap * scale:.0f}",
                say("profile_tables.heap_claimed"): printed(row["claimed_heap_mb"]),
            }
        )
    table = pd.DataFrame(rows)
    return Table(table, say("profile_tables.projection"), numeric=list(table.columns[1:]), id="projection")


def break_even(published: Published) -> float:
    """Streams at the baseline that would make CPU time per stream equal before and after, given those after."""
    totals, profiles = published.table("totals"), published.table("profiles")
    before, after = (figure(totals, "cpu_percent", profile=name) for name in (BEFORE, AFTER))
    return figure(profiles, "streams", profile=AFTER) * before / after
