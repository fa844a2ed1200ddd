"""The report of the published study `media-server`: two profiles, before and after four optimisations."""

from dataclasses import dataclass

from deadzone.language.catalogue import say
from deadzone.reports.document.display import Figure
from deadzone.reports.figures.bars import bars, waterfall
from deadzone.reports.profile_diff.run import ProfileRun, load_run
from deadzone.reports.published.report import REFERENCE, PublishedReport, load_report


@dataclass(frozen=True, eq=False)
class ProfileDiff(PublishedReport):
    """The study, with the figures of its parts."""

    FOLDER = "profile_diff"

    def _parts(self, table: str, column: str) -> list[tuple[str, float, float]]:
        """Each component of a table in words, with its amount before and after."""
        amounts = self.published.table(table).set_index(["component", "profile"])[column]
        names = dict.fromkeys(amounts.index.get_level_values("component"))
        return [
            (
                say(f"profile_tables.part_{name}"),
                float(amounts[name, "baseline"]),
                float(amounts[name, "optimised"]),
            )
            for name in names
        ]

    def cpu_waterfall(self) -> Figure:
        """From the total before to the total after by the listed changes, and the rest that they leave over."""
        facts = self.facts()
        parts = self._parts("cpu-by-component", "cpu_s")
        changes = sorted(
            ((name, after - before) for name, before, after in parts), key=lambda change: change[1]
        )
        changes.append((say("profile_tables.part_rest"), facts["rest_gained"]))
        start = (say("profile_tables.before"), facts["cpu_before"])
        stop = (say("profile_tables.after"), facts["cpu_after"])
        axis, caption = say("profile_tables.cpu_axis"), self.said("profile_tables.waterfall")
        return waterfall(start, changes, stop, axis, caption, "waterfall", is_face=True)

    def heap_figure(self) -> Figure:
        """Heap by component before and after, with what the table leaves unlisted."""
        facts = self.facts()
        rest = (say("profile_tables.part_rest"), facts["heap_rest_before"], facts["heap_rest_after"])
        names, before, after = zip(*self._parts("heap-by-component", "heap_mb"), rest, strict=True)
        sides: dict[str, tuple[float, ...]] = {
            say("profile_tables.before"): before,
            say("profile_tables.after"): after,
        }
        axis, caption = say("profile_tables.heap_axis"), self.said("profile_tables.heap")
        return bars(names, sides, axis, caption, "heap")


def load(source: str = REFERENCE, lang: str = "en") -> ProfileDiff | ProfileRun:
    """The published study, or a run with profiles; see `deadzone.reports.published.report.load_report`."""
    return load_report("media-server", source, lang, ProfileDiff, load_run, "profile-diff")
