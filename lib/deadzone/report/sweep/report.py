"""The report of a sweep: an analysis as the blocks of a notebook.

A notebook asks for one method a section; each returns the blocks to display, also where nothing
could be fitted: the report of a failed sweep says so and shows what there is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from deadzone import packs
from deadzone.analysis.settings.wording import compared_in_words
from deadzone.language.messages import N_, _, say
from deadzone.report.document.display import Block, Claim, Evidence, Prose, Title, Verdict, section
from deadzone.report.figures.curves import phases_table
from deadzone.report.sweep import figures, prose, tables
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.chosen import chosen_trials
from deadzone.report.sweep.claims import claims_section
from deadzone.report.sweep.settings import settings_figure, settings_table
from deadzone.report.sweep.since import since_previous
from deadzone.report.sweep.surface import surface_blocks

HEADINGS = {
    "curve": N_("Response curve"),
    "settings": N_("Settings"),
    "phases": N_("Phases"),
    "surface": N_("Both knobs together"),
    "treatments": N_("Treatments"),
    "exceptions": N_("Exceptions"),
    "provenance": N_("Provenance"),
}


@dataclass(frozen=True, eq=False)
class SweepReport:
    """What is shown and said of an analysis, section by section."""

    analysis: Analysis

    def title(self) -> Title:
        """Title, what was asked and found, and what a reader must know first."""
        return prose.title(self.analysis)

    def verdict(self) -> Verdict:
        """The recommendation with its evidence, and what would decide where the data cannot."""
        return prose.verdict(self.analysis)

    def checks(self) -> list[Block]:
        """The command that applies the setting to the container that was swept, what its cluster
        makes of it, and whether the curve bends at the cores."""
        cores = [check for s in self.analysis.slices if (check := prose.cores_check(s))]
        return [*packs.part("applied")(self.analysis), *cores]

    def claims(self, further: Sequence[object] = ()) -> list[Block]:
        """The claims of the run with their verdicts. further: claims that are judged with them, as
        on the command line, or as mappings."""
        return claims_section(self.analysis.source, self.analysis, further)

    def since_previous(self) -> list[Block]:
        """What moved since the previous run of the study; nothing for its first run, and for a
        table."""
        return since_previous(self.analysis).blocks()

    def section(self, name: str) -> list[Block]:
        """A section under its heading; nothing where it has nothing to show.

        name: curve, surface, phases, treatments, exceptions or provenance.
        """
        made = self.figures if name == "curve" else getattr(self, name)
        blocks, has_curve = made(), self.analysis.slices or self.analysis.answer is None
        key = "settings" if name == "curve" and not has_curve else name
        return [section(say(HEADINGS[key]), key), *blocks] if blocks else []

    def figures(self) -> list[Block]:
        """The response figure of each slice, and one of all settings where some are on no curve."""
        found, advice = self.analysis.answer, self.analysis.advice
        if found is None or advice is None:
            return [figures.attempts_figure(self.analysis.source)]
        curves: list[Block] = [figures.response_figure(s) for s in self.analysis]
        if sum(s.model.n_levels for s in self.analysis) < len(found.candidates):
            curves.append(settings_figure(found, advice, is_face=not curves))
        return curves

    def surface(self) -> list[Block]:
        """Both knobs of a grid together; nothing where the factors are no two knobs."""
        return surface_blocks(self.analysis.surface)

    def phases(self) -> list[Block]:
        """The phase table and its sentences, slice by slice."""
        if self.analysis.slices:
            shown = (
                (
                    phases_table(s.model, s.why, identity=s.anchor("phases"), name=s.name),
                    prose.phases_in_words(s),
                )
                for s in self.analysis
            )
            return [block for both in shown for block in both]
        answer = self.analysis.answer
        said = (
            answer.notes
            if answer
            else [_("There are no phases to show. {reason}", reason=self.analysis.problem)]
        )
        return [Prose(tuple(said))]

    def treatments(self) -> list[Block]:
        """Every setting judged, how words compare, and what an adaptive sweep chose when."""
        found, advice = self.analysis.answer, self.analysis.advice
        if found is None or advice is None:
            return []
        words = compared_in_words(found)
        compared = (
            [Prose(tuple(Claim(said, (Evidence("settings"),)) for said in words))] if words else []
        )
        return [
            settings_table(found, advice),
            *compared,
            *chosen_trials(self.analysis.source),
        ]

    def exceptions(self) -> list[Block]:
        """Outliers, untrusted and failed trials, and warnings; one sentence where there are
        none."""
        found: list[Block | None] = [prose.findings(self.analysis)]
        for s in self.analysis:
            found += [tables.outliers_table(s), prose.warnings(s)]
        found += tables.left_out(self.analysis.source)
        return [item for item in found if item is not None] or [
            Prose((_("No outliers, no untrusted trials, no failures, no warnings."),))
        ]

    def provenance(self) -> list[Block]:
        """The command that makes the run again."""
        return [prose.reproduce(self.analysis.source)]
