"""The report of a sweep: an analysis as the blocks of a notebook, and as a comment on a pull
request.

A notebook asks for one method a section; each returns the blocks to display, also where nothing
could be fitted: the report of a failed sweep says so and shows what there is.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadzone import packs
from deadzone.analysis.phases.quantities import listing, plain_name
from deadzone.errors import PhaseError, check_known
from deadzone.language.formats import exact
from deadzone.language.markdown import markdown
from deadzone.language.messages import N_, _, ngettext, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Claim, Prose, Table, Title, Verdict, section
from deadzone.report.document.publishing import Published, read_entry
from deadzone.report.sweep import figures, prose, tables
from deadzone.report.sweep.analysis import Analysis, Source, all_there_is
from deadzone.report.sweep.claims import claims_moved, claims_table, judge_run, judged_of
from deadzone.report.sweep.recommended import applied
from deadzone.report.sweep.regression_check import regression_check, since_previous
from deadzone.store.run import RunFolder
from deadzone.study.design import Treatment
from deadzone.study.workload_spec import CAPACITY, GENERATOR

HEADINGS = {
    "phases": N_("Phases"),
    "treatments": N_("Levels"),
    "exceptions": N_("Exceptions"),
    "account": N_("Account of time"),
    "adaptive": N_("Choice of trials"),
}


@dataclass(frozen=True, eq=False, repr=False)
class SweepReport:
    """What is shown and said of an analysis, section by section."""

    analysis: Analysis

    def __repr__(self) -> str:
        return f"The report of {self.analysis.source.name}: {', '.join(HEADINGS)}"

    def title(self) -> Title:
        """Title, what was asked and found, and what a reader must know first."""
        return prose.title(self.analysis)

    def verdict(self) -> Verdict:
        """The recommendation with its evidence."""
        return prose.verdict(self.analysis)

    def face(self) -> list[Block]:
        """What stands below the verdict on the first page: the curve, or of a search what each knob
        does and the best so far, what limits each phase, what to do now with the command that sets
        it, and what makes the verdict doubtful."""
        curves, searched = self.analysis.slices, self.analysis.searched
        return [
            *self.figures(),
            *(packs.part(lambda pack: pack.search_blocks)(self.analysis) if searched else ()),
            *_listed(_("What limits it"), prose.limiting(curves[0]) if len(curves) == 1 else []),
            *_listed(_("What to do now"), prose.to_do(self.analysis)),
            *(packs.part(lambda pack: pack.applied)(self.analysis) or applied(self.analysis)),
            *_listed(_("What makes it doubtful"), prose.doubts(self.analysis)),
        ]

    def claims(self, further: Sequence[object] = ()) -> list[Block]:
        """The claims of the run with their verdicts. further: claims that are judged with them, as
        on the command line, or as mappings."""
        judged = judge_run(self.analysis.source, self.analysis, further)
        return [section(_("What was claimed"), "heading"), claims_table(judged)] if judged else []

    def regression_check(self) -> list[Block]:
        """What moved since the previous run of the study; nothing for its first run, and for a
        table."""
        return regression_check(self.analysis).blocks()

    def section(self, name: str) -> list[Block]:
        """A section under its heading; nothing where it has nothing to show.

        name: phases, treatments, exceptions, account or adaptive. Raises PhaseError for another.
        """
        check_known(PhaseError, f"There is no section {name!r}", name, HEADINGS, "Sections are")
        blocks: list[Block] = getattr(self, name)()
        return [section(say(HEADINGS[name]), name), *blocks] if blocks else []

    def figures(self) -> list[Block]:
        """The response figure of each slice, and one of all settings where some are on no curve;
        the trials alone where a finding stops the verdict."""
        answer, advice = self.analysis.answer, self.analysis.advice
        if answer is None or (advice is None and self.analysis.searched):
            return []
        if advice is None:
            return [figures.trials_figure(self.analysis.source, answer.knob_scale)]
        curves: list[Block] = [figures.response_figure(s) for s in self.analysis]
        is_own = advice.quantity == answer.candidates.response  # a cost is not that of the trials
        if is_own and sum(s.model.n_levels for s in self.analysis) < len(answer.candidates):
            curves.append(figures.settings_figure(answer, advice, is_only=not curves))
        return curves

    def phases(self) -> list[Block]:
        """The regression table of each slice with what it says of thresholds; of settings without
        a curve what is noted; nothing where the verdict says why there is neither."""
        if self.analysis.slices:
            return [
                block
                for s in self.analysis
                for block in (
                    tables.phases_table(s.model, identity=s.anchor("phases"), name=s.name),
                    Prose((tables.fit_in_words(s.model), *prose.shape_in_words(s))),
                )
            ]
        answer = self.analysis.answer
        said = answer.notes if answer and self.analysis.advice else ()
        return [Prose(tuple(said))] if said else []

    def treatments(self) -> list[Block]:
        """Every setting with its verdict."""
        answer, advice = self.analysis.answer, self.analysis.advice
        if answer is None or advice is None:
            return []
        return [figures.settings_table(answer, advice, all_there_is(self.analysis.source))]

    def adaptive(self) -> list[Block]:
        """What an adaptive sweep chose when, and why it ended."""
        return chosen_trials(self.analysis.source)

    def account(self) -> list[Block]:
        """Where the time of threads went at each level, and why each phase is what it is; nothing
        where the trials carry no account of time."""
        return [block for s in self.analysis for block in figures.account_blocks(s)]

    def exceptions(self) -> list[Block]:
        """Outliers, untrusted and failed trials, notes and warnings; one sentence where there are
        none."""
        blocks: list[Block | None] = [prose.notes(self.analysis)]
        blocks += map(tables.outliers_table, self.analysis)
        blocks += tables.left_out(self.analysis.source)
        return [item for item in blocks if item is not None] or [
            Prose((_("No outliers, no untrusted trials, no failures, no warnings."),))
        ]

    def provenance(self) -> list[Block]:
        """The command that makes the run again."""
        return [prose.reproduce(self.analysis.source)]


def _listed(heading: str, claims: Sequence[Claim]) -> list[Block]:
    """Claims under a heading, a line each; nothing without any."""
    return [Prose(tuple(claims), heading=heading, level=3, style="list")] if claims else []


SEARCHES_TABLE = Layout(
    columns={
        N_("setting"): "{setting}",
        N_("highest rate that met all (requests/s)"): "{met}",
        N_("lowest that missed (requests/s)"): "{missed}",
        N_("what it missed"): "{limit}",
    },
    caption=N_(
        "Each of {n:count} searches: the two rates between which an objective fails, and which one."
    ),
    numeric=(1, 2),
)


def chosen_trials(source: Source) -> list[Block]:
    """How many batches there were, and the end, in sentences; nothing of a sweep whose plan was
    made beforehand."""
    run = RunFolder(source.folder) if source.folder else None
    batches = [batch["trials"] for batch in run.batches() if "trials" in batch] if run else []
    said = [
        ngettext(
            "{trials:count} trials in {n:count} batch, in random order.",
            "{trials:count} trials in {n:count} batches, each in random order.",
            trials=sum(map(len, batches)),
            n=len(batches),
        )
    ]
    said = [*(said if batches else []), *(run.ending() if run else ())]
    blocks: list[Block] = [Prose(tuple(said))] if said else []
    if source.study and source.response == CAPACITY and "limited_by" in source.trials:
        blocks.append(_searches(source, source.study.factor_names()))
    return blocks


def _searches(source: Source, factors: Sequence[str]) -> Block:
    """What each search found, between which rates, and what the higher one missed."""
    rows = [
        {
            "setting": Treatment({name: row[name] for name in factors}).label(),
            "met": exact(row[CAPACITY]),
            "missed": exact(row["missed_rps"]).replace("∞", "-"),
            "limit": _limit(row["limited_by"]),
        }
        for row in source.trials.sort_values([*factors, "replicate"]).to_dict("records")
    ]
    return Table.of(SEARCHES_TABLE, rows, "searches", n=len(rows))


def _limit(limited_by: str) -> str:
    if limited_by == GENERATOR:
        return _("could not be sent")
    return listing([plain_name(column) for column in limited_by.split(", ")])


def comment_on(
    run: RunFolder, published: Published, parameters: Mapping[str, Any]
) -> tuple[bool, str]:
    """Whether a phase or the verdict on a claim moved since the previous run of the study, and the
    comment in Markdown: the verdict, every setting, what moved, claims and doubts.

    parameters: of the notebook that made the report.
    """
    judged, since = judged_of(run), since_previous(run, parameters)
    moved = (since is not None and since.moved) or claims_moved(run, judged)
    entry = read_entry(published.folder)
    verdict, table, notes = entry.verdict, None, [*map(str, judged)]
    if since:
        analysis = since.now
        verdict = analysis.verdict
        settings = SweepReport(analysis).treatments()
        table = next((block.frame for block in settings if isinstance(block, Table)), None)
        doubts = [*prose.title(analysis).doubts, *map(str, prose.doubts(analysis))]
        notes = [since.sentence, *notes, *doubts]
    whole = os.path.relpath(published.page)
    return moved, markdown(f"{entry.title}: {verdict}", table, notes, whole)
