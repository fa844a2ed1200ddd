"""The report of a run of a service in several environments: which difference makes it slow.

The times of a service's environments: every trial, and the phases of the request one after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from deadzone import places
from deadzone.errors import CompareError
from deadzone.explaining.attribution import page, wording
from deadzone.explaining.attribution.attributing import Attribution, attribute, environment_factor
from deadzone.explaining.attribution.hypotheses import CPU_LIMIT
from deadzone.explaining.attribution.page import description, headline
from deadzone.explaining.attribution.wording import duration
from deadzone.explaining.compare.samples import analysed
from deadzone.explaining.phases.plot_axes import plain_value
from deadzone.explaining.phases.quantities import capital
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Claim, Evidence, Figure, Prose, Table, section
from deadzone.reports.figures.named_rows import named_rows
from deadzone.reports.sweep import prose, tables
from deadzone.reports.sweep.measured_live import run_of
from deadzone.reports.sweep.run_report import RunReport
from deadzone.reports.sweep.source import load_source
from deadzone.store.run import Run
from deadzone.style import INK, MUTED, TRIAL_COLOUR

ROW_IN = 0.5

LOG_FROM = 20.0
"""From this ratio of the slowest to the fastest trial on, a linear axis would hide the fast ones."""

PHASES = ("dns_s", "connecting_s", "tls_handshake_s", "upload_s", "waiting_s", "server_s")
"""Columns of the parts of a request, in the order in which they pass."""


def trials_figure(result: Attribution, trials: pd.DataFrame, by: str, caption: str) -> Figure:
    """Every trial's response, an environment a row, with the medians. trials: the analysed ones."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    names = sorted(result.medians, key=lambda name: result.medians[name])
    with named_rows(names, say("limit_run.axis"), ROW_IN) as (drawing, ax):
        for row, name in enumerate(names):
            values = trials.loc[trials[by].astype(str) == name, result.response].astype(float)
            rows, median = [row] * len(values), result.medians[name]
            ax.scatter(values, rows, s=26, facecolors="none", edgecolors=TRIAL_COLOUR, zorder=3)
            ax.plot([median, median], [row - 0.28, row + 0.28], color=INK, linewidth=2, zorder=4)
            beside = (1.01, row)
            ax.annotate(duration(median), beside, xycoords=("axes fraction", "data"), va="center", color=INK)
        ax.set_ylim(len(names) - 0.5, -0.5)
        values = trials[result.response].astype(float)
        if values.max() > LOG_FROM * values.min() > 0:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            ax.xaxis.set_major_formatter(FuncFormatter(plain_value))
            ax.xaxis.set_minor_formatter(NullFormatter())
        else:
            ax.set_xlim(left=0)
        ax.axvline(ax.get_xlim()[0], color=MUTED, linewidth=0.8)
    words = "; ".join(f"{name} {duration(result.medians[name])}" for name in names)
    return Figure.of(drawing, caption, say("limit_run.figure_words", words=words), id="response")


def phases_table(result: Attribution, trials: pd.DataFrame, by: str) -> Table | None:
    """Medians of the phases of the request in each environment; None where the client timed no phases."""
    known = [name for name in PHASES if tables.is_measured(trials, name)]
    if not known:
        return None
    medians = trials[known].groupby(trials[by].astype(str)).median()
    names = [name for name in result.medians if name in medians.index]
    phases = [say(f"limit_run.phase_{name}") for name in known]
    times = {name: [duration(float(medians[phase][name])) for phase in known] for name in names}
    frame = pd.DataFrame({say("limit_run.phase"): phases, **times})
    return Table(frame, say("limit_run.phases_caption"), numeric=names, id="phases", row_ids=known)


@dataclass(frozen=True, eq=False)
class LimitRun(RunReport):
    """A run with its attribution.

    by: column of the environments. trials: those that count. result: None where nothing could be attributed; problem: why.
    """

    by: str
    trials: pd.DataFrame
    result: Attribution | None
    problem: str = ""

    def title(self) -> list[Block]:
        """Title, what was found with its evidence, and the doubts that come first."""
        source, result = self.source, self.result
        found = result.verdict() if result else say("limit_run.nothing", reason=self.problem)
        evidence = ("response", "hypotheses", "waterfall") if result else ("treatments",)
        doubts = (*source.doubts, *(result.warnings if result else ()))
        abstract = (Claim(found, tuple(map(Evidence, evidence))),)
        return [prose.head(source, abstract, doubts, found, n=len(self.trials))]

    def response(self) -> list[Block]:
        """Every trial, the environments, and the phases of the request."""
        if self.result is None:
            return [section("limit_run.times"), tables.attempts_table(self.source)]
        roles, ratio = self.result.roles, f"{self.result.ratio:.3g}"
        caption = say("limit_run.figure", slow=roles.slow, fast=roles.fast, ratio=ratio, n=len(self.trials))
        told = say("limit_run.environments")
        return [
            section("limit_run.times"),
            trials_figure(self.result, self.trials, self.by, caption),
            Table.shown(page.environments(self.result), "environments", told),
        ]

    def hypotheses(self) -> list[Block]:
        """Every hypothesis with its verdict, its share of the slowdown and the evidence; and how it was decided."""
        if self.result is None:
            return []
        result, roles = self.result, self.result.roles
        parts = say("limit_run.parts_caption", slow=roles.slow, fast=roles.fast)
        waterfall = f"{headline(result)}."
        return [
            section("limit_run.hypotheses"),
            hypotheses_table(result),
            evidence_prose(result),
            section("limit_run.parts", level=3),
            Figure.of(result.plot(), waterfall, description(result), id="waterfall", is_face=True),
            Table.shown(page.parts(result), "parts", parts),
            Prose((wording.method(result),), heading=say("attribution.method"), level=3, id="method"),
        ]

    def first_byte(self) -> list[Block]:
        """The phases of the request, and what the time to the first byte means here."""
        table = phases_table(self.result, self.trials, self.by) if self.result else None
        if table is None:
            return []
        return [section("limit_run.first_byte"), table, Prose((say("limit_run.first_byte_text"),))]

    def work(self) -> list[Block]:
        """How throttled time was counted, where the limit is confirmed."""
        if self.result is None or CPU_LIMIT not in self.result.confirmed:
            return []
        text = say("limit_run.work_text", parallel=f"{self.result.parallel:.2g}")
        return [section("limit_run.work"), Prose((text,))]

    def missing(self) -> list[Block]:
        """What failed, or was disturbed."""
        shown: Sequence[Block] = tables.left_out(self.source) or [Prose((say("limit_run.all_well"),))]
        return [section("heading.exceptions"), *shown]

    def guideline(self) -> list[Block]:
        """What to change, as far as a confirmed cause says it."""
        if self.result is None:
            return []
        names = self.result.confirmed
        said = [say(f"limit_run.change_{name}", slow=self.result.roles.slow) for name in names]
        return [section("study.guideline"), Prose(tuple(said) or (say("limit_run.change_none"),))]

    def limits(self) -> list[Block]:
        """What these data cannot say."""
        texts = ("planted", "service", "disk", "machine")
        return [section("study.limits"), Prose(tuple(say(f"limit_run.limit_{text}") for text in texts))]


def load(source: str, lang: str = "en") -> LimitRun:
    """The report of a run; see `deadzone.reports.sweep.measured_live.run_of`."""
    return load_run(run_of(source, lang, "upload-cpu-limit"))


def load_run(name: str) -> LimitRun:
    """A run by its id, folder, or STUDY/latest, with its attribution.

    Raises UnknownRunError if there is none, TableError if it has no trials yet.
    """
    run = Run.find(places.runs_folder(), name)
    study, trials = run.study(), run.trials()
    by = environment_factor(study, trials) if not trials.empty else study.knob_name
    source = load_source(name, knob=by if by in trials else "")
    try:
        result = attribute(run)
        kept, _ = analysed(trials, [by], source.name)
    except CompareError as error:
        return LimitRun(source, by, source.analysed, None, str(error))
    return LimitRun(source, by, kept, result)


def hypotheses_table(result: Attribution) -> Table:
    """One row a hypothesis: verdict, share of the slowdown, p-values."""
    counts = {verdict: len(result.named(verdict)) for verdict in ("confirmed", "excluded", "undecided")}
    return Table.shown(
        page.hypotheses_table(result), "hypotheses", say("limit_run.hypotheses_caption", **counts)
    )


def evidence_prose(result: Attribution) -> Prose:
    """What speaks for each verdict, a paragraph a hypothesis."""
    said = tuple(
        say("limit_run.one", **{**row, "name": capital(row["hypothesis"])}) for row in page.hypotheses(result)
    )
    return Prose(said, heading=say("attribution.evidence"), level=3, id="evidence")
