"""The report of a run whose trials were profiled: before and after, replicated, with the load alongside; its tables and
figures first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from deadzone import places
from deadzone.errors import CompareError
from deadzone.explaining.claims.gates import Shipping, shipping
from deadzone.explaining.compare.comparing import Comparison as Judged
from deadzone.explaining.compare.comparing import compare_tables
from deadzone.explaining.compare.page import verdict_text
from deadzone.explaining.compare.result import rows_of
from deadzone.explaining.phases.quantities import capital
from deadzone.explaining.profiles.attribution import (
    Ablations,
    Attribution,
    Cause,
    ablate,
    attribute,
    causes_from,
)
from deadzone.explaining.profiles.comparison import Comparison, compare_profiles
from deadzone.explaining.profiles.figures import headline, package_bars, waterfall
from deadzone.explaining.profiles.flame_graph import flame_graph
from deadzone.explaining.profiles.projection import Projection, measured_at, project
from deadzone.explaining.profiles.tables import (
    ablations_table,
    cause_name,
    causes_table,
    change_of_total,
    changes_table,
    how_sure,
    interval_text,
    largest_cause,
    naive_against_exact,
    projected,
    split_unit,
)
from deadzone.explaining.profiles.units import readable
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Block, Claim, Evidence, Figure, Prose, Table, section
from deadzone.reports.profile_diff.sides import Sides, sides_of, value_of
from deadzone.reports.sweep import prose
from deadzone.reports.sweep.claims import judge_run, line
from deadzone.reports.sweep.claims_table import row_of
from deadzone.reports.sweep.measured_live import run_of
from deadzone.reports.sweep.run_report import RunReport
from deadzone.reports.sweep.source import load_source
from deadzone.store.run import Run

FUNCTIONS_SHOWN = 15
"""More rows than this nobody reads; the flame graph holds the others."""

FLAME_WIDTH = 780.0
"""Width of a flame graph on a page, at which its letters keep their size [pixels]."""


def slice_text(sides: Sides) -> str:
    """Which trials the tables are of, as a sentence."""
    trials = [len(sides.rows(level)) for level in (sides.before, sides.after)]
    key = "profile_run.slice" if sides.chosen else "profile_run.all_trials"
    return say(key, before=trials[0], after=trials[1], at=sides.chosen)


def totals_table(
    comparisons: Mapping[str, Comparison], ranked: Mapping[str, Judged | None], names: tuple[str, str]
) -> Table:
    """The total of every kind of profile, before and after, with its interval and the verdict by ranks."""
    rows = []
    for kind, one in comparisons.items():
        row, (unit, per) = one.total.iloc[0], split_unit(one.pair.unit)
        judged = ranked.get(kind)
        overall: dict[str, Any] = rows_of(judged.overall)[0] if judged else {}
        rows.append(
            {
                "kind": kind,
                "name": say(f"profile_run.kind_{kind}") + per,
                "before": readable(row.before, unit),
                "after": readable(row.after, unit),
                "change": readable(row.change, unit, signed=True),
                "interval": interval_text(row.change_low, row.change_high, unit),
                "ratio": _ratio(overall) if overall else "",
                "by_ranks": verdict_text(overall) if overall else "",
            }
        )
    return Table.of("profile_diff.totals", rows, sides=names)


def waterfall_figure(attribution: Attribution, identity: str, is_face: bool = False) -> Figure:
    """From the total before to the total after by cause."""
    caption = say("profile_run.waterfall_caption", headline=largest_cause(attribution))
    unit = attribution.unit
    words = ", ".join(
        f"{cause_name(row)} {readable(row['change'], unit, signed=True)}"
        for row in attribution.table.to_dict("records")
    )
    return Figure.of(waterfall(attribution), caption, f"{caption} {words}.", id=identity, is_face=is_face)


def packages_figure(comparison: Comparison, identity: str, is_face: bool = False) -> Figure:
    """Before and after by package."""
    caption = say("profile_run.packages_caption", headline=headline(comparison))
    return Figure.of(package_bars(comparison), caption, caption, id=identity, is_face=is_face)


def projection_blocks(made: Mapping[str, tuple[Projection, str]], kind: str) -> list[Block]:
    """What each side would take at the load asked for, with every doubt about it."""
    rows, doubts = [], []
    for when, (one, unit) in made.items():
        row = {"when": when, "made": one, "amount": readable(one.amount, unit), "interval": ""}
        if one.low is not None and one.high is not None:
            row["interval"] = interval_text(one.low, one.high, unit, one.amount, False)
        rows.append(row | {"loads": ", ".join(f"{load:.4g}" for load in one.loads)})
        doubts += [doubt for doubt in one.doubts if doubt not in doubts]
    found: list[Block] = [
        Table.of("profile_diff.projection", rows, name=say(f"profile_run.kind_{kind}")),
        Prose(tuple(projected(say(f"profile.{when}"), one, unit) for when, (one, unit) in made.items())),
    ]
    return [*found, Prose(tuple(doubts), style="warnings")] if doubts else found


def _ratio(row: Mapping[str, Any]) -> str:
    """A ratio with its interval, where it has one."""
    if math.isnan(row["ratio_low"]):
        return f"{row['ratio']:.3g}"
    between = say("profile.range", low=f"{row['ratio_low']:.3g}", high=f"{row['ratio_high']:.3g}")
    return f"{row['ratio']:.3g} ({between})"


AMOUNT = "amount"
"""Column of a trial's total in the tables that are judged by ranks."""


@dataclass(frozen=True, eq=False)
class ProfileRun(RunReport):
    """A run with profiles."""

    sides: Sides

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Before against after of every kind of profile, in the slice that is compared."""
        made = {}
        for kind in self.sides.kinds():
            before, after = (self.sides.profiles_at(level, kind) for level in self.names)
            basis = self.sides.basis(kind, (before, after))
            made[kind] = compare_profiles(before, after, value_of(kind, before[0]), basis)
        return made

    @property
    def main(self) -> str:
        """The kind that the report is about: the first that the study names."""
        return next(iter(self.comparisons), "")

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """The causes that the study names."""
        named = self.sides.spec.causes.items()
        causes = {name: [text] if isinstance(text, str) else list(text) for name, text in named}
        return causes_from(causes) if causes else ()

    def attribution(self, kind: str) -> Attribution | None:
        """The change of a kind by cause; None where the study names none."""
        if not self.causes:
            return None
        return attribute(self.comparisons[kind].pair, self.causes, self.sides.spec.rule)

    def ablations(self, kind: str) -> Ablations | None:
        """What each option did alone; None where the study measured none."""
        measured = {
            name: profiles
            for name, level in self.sides.spec.change.alone.items()
            if (profiles := self.sides.profiles_at(str(level), kind))
        }
        if not measured or not self.causes or kind not in self.comparisons:
            return None
        pair = self.comparisons[kind].pair
        before = self.sides.profiles_at(self.sides.before, kind)
        basis = self.sides.basis(kind, (before, before))
        return ablate(pair, measured, self.causes, self.sides.spec.rule, basis)

    def ranked(self, kind: str) -> Judged | None:
        """The totals of a kind a unit of load, judged as `deadzone compare` does, over all slices; None where it cannot."""
        before, after = (self._totals(level, kind) for level in self.names)
        others = self.sides.others
        try:
            return compare_tables(before, after, AMOUNT, factors=others, goal="min", names=self.names)
        except CompareError:
            return None

    @property
    def names(self) -> tuple[str, str]:
        """The levels before and after."""
        return self.sides.before, self.sides.after

    @cached_property
    def shipping(self) -> Shipping:
        """Whether to ship, by the quality gates of the study, which are judged with its claims."""
        study = self.source.study
        return shipping(study.gates if study else {}, judge_run(self.source))

    def projections(self) -> dict[str, tuple[Projection, str]]:
        """What each side would take at the load asked for, and its unit; empty where none was asked for."""
        load = self.sides.spec.load
        if load is None or load.project_to is None or not self.main:
            return {}
        made = {}
        for when, level in zip(("before", "after"), self.names, strict=True):
            points = [
                (float(load), profile)
                for load, files in self.sides.rows(level, every=True)[["load", "profiles"]].to_numpy()
                if load > 0
                for profile in self.sides.profiles([files], self.main)
            ]
            if points:
                pair = compare_profiles(points[0][1], points[0][1], value_of(self.main, points[0][1])).pair
                loads, amounts, unit = measured_at(pair.before, points[0][0], points[1:])
                made[when] = project(loads, amounts, load.project_to), unit
        return made

    def _totals(self, level: str, kind: str) -> pd.DataFrame:
        """A row a trial of every slice, with the total of a kind divided by the trial's load."""
        rows = self.sides.rows(level, every=True)
        amounts = []
        for load, files in rows[["load", "profiles"]].to_numpy():
            profiles = self.sides.profiles([files], kind)
            total = profiles[0].total(value_of(kind, profiles[0])) if profiles else float("nan")
            amounts.append(total / (load if load > 0 else 1.0))
        return self.sides.comparable(rows.assign(**{AMOUNT: amounts}))

    def title(self) -> list[Block]:
        """Title, what changed most, the verdict, and what a reader must know first."""
        found = []
        if self.main:
            found.append(Claim(change_of_total(self.comparisons[self.main]), (Evidence("totals"),)))
            if attribution := self.attribution(self.main):
                found.append(Claim(f"{largest_cause(attribution)}.", (Evidence("waterfall"),)))
        found.append(Claim(capital(str(self.shipping)), tuple(map(row_of, self.shipping.gates.values()))))
        own = self.comparisons[self.main].doubts if self.main else ()
        doubts = tuple(dict.fromkeys((*self.source.doubts, *own)))
        sides, n = self.sides, len(self.source.analysed)
        more = {say("profile_run.compared"): f"{sides.factor}: {sides.before} → {sides.after}"}
        return [prose.head(self.source, tuple(found), doubts, self._headline(), n=n, more=more)]

    def totals(self) -> list[Block]:
        """The total of every kind of profile before and after."""
        if not self.main:
            return [section("profile_run.totals"), Prose((say("profile_run.none_taken"),), style="warnings")]
        ranked = {kind: self.ranked(kind) for kind in self.comparisons}
        sure = how_sure(self.comparisons[self.main])
        notes = [note for one in self.comparisons.values() for note in one.pair.notes]
        return [
            section("profile_run.totals"),
            totals_table(self.comparisons, ranked, self.names),
            Prose((sure, *dict.fromkeys(notes), slice_text(self.sides))),
        ]

    def parts(self) -> list[Block]:
        """Where the change of the first kind of profile came from: causes, packages, functions."""
        if not self.main:
            return []
        comparison, attribution = self.comparisons[self.main], self.attribution(self.main)
        shown: list[Block] = [section("profile_run.parts")]
        if attribution:
            shown += [
                waterfall_figure(attribution, "waterfall", is_face=True),
                Table.shown(causes_table(attribution), "causes"),
                Prose((naive_against_exact(attribution),)),
            ]
        ablations = self.ablations(self.main)
        if ablations:
            missing = [name for name in self.sides.spec.change.alone if name not in ablations.by_cause.index]
            sum_up = ablations.statement()
            if missing:
                sum_up = say("profile_run.alone_missing", names=", ".join(missing))
            shown.append(Table.shown(ablations_table(ablations), "ablations"))
            shown.append(Prose((sum_up, say("profile_run.elsewhere"))))
        shown.append(packages_figure(comparison, "packages", is_face=not attribution))
        head, unit = say("profile_run.function"), comparison.pair.unit
        most = changes_table(comparison.functions, unit, FUNCTIONS_SHOWN, head)
        return [*shown, Table.shown(most, "functions")]

    def flames(self) -> list[Block]:
        """The differential flame graph, interactive where scripts run."""
        if not self.main:
            return []
        comparison = self.comparisons[self.main]
        description = say("profile_run.flame_description", headline=change_of_total(comparison))
        drawing = flame_graph(comparison, width=FLAME_WIDTH)
        figure = Figure(drawing, say("profile_run.flame_caption"), description, id="flame")
        return [section("profile_run.flames"), figure]

    def heap_parts(self) -> list[Block]:
        """The other kinds of profile, by package and cause."""
        shown: list[Block] = []
        for kind, comparison in list(self.comparisons.items())[1:]:
            name = capital(say(f"profile_run.kind_{kind}"))
            shown.append(Prose((), heading=name, level=3, id=f"kind-{kind}"))
            shown.append(Prose((change_of_total(comparison), how_sure(comparison))))
            if comparison.doubts:
                shown.append(Prose(comparison.doubts, style="warnings"))
            if comparison.identical:
                continue
            attribution = self.attribution(kind)
            if attribution and attribution.table["change"].any():
                shown.append(waterfall_figure(attribution, f"waterfall-{kind}"))
            shown.append(packages_figure(comparison, f"packages-{kind}"))
        return [section("profile_run.others"), *shown] if shown else []

    def projection(self) -> list[Block]:
        """What the sides would take at another load."""
        made = self.projections()
        return [section("profile_run.projection"), *projection_blocks(made, self.main)] if made else []

    def gates(self) -> list[Block]:
        """What must not get worse, judged, and whether to ship."""
        style = "verdict" if self.shipping.verdict == "ship" else "warnings"
        words = [capital(str(self.shipping)), *map(line, self.shipping.gates.values())]
        told = Prose(tuple(words), heading=say("profile_run.verdict"), level=3, style=style, id="verdict")
        return [section("profile_run.gates"), told]

    def limits(self) -> list[Block]:
        """What these data cannot say."""
        texts = [say("profile_run.limit_load"), say("profile_run.limit_sampling")]
        if self.source.study and not self.source.study.gates:
            texts.append(say("profile_run.limit_gates"))
        return [section("study.limits"), Prose(tuple(texts))]

    def _headline(self) -> str:
        """The whole report in a line, for the index."""
        if not self.main:
            return say("profile_run.none_taken")
        row, pair = self.comparisons[self.main].total.iloc[0], self.comparisons[self.main].pair
        ratio = row.change / row.before if row.before else 0.0
        change = say("profile_run.headline", name=pair.what, change=ratio)
        return join([change, capital(str(self.shipping))])


def load(source: str, lang: str = "en") -> ProfileRun:
    """The report of a run; see `deadzone.reports.sweep.measured_live.run_of`."""
    return load_run(run_of(source, lang, "profile-diff"))


def load_run(name: str) -> ProfileRun:
    """The run of a name (an id, a folder, or STUDY/latest) with its profiles, in the language spoken.

    Raises UnknownRunError if there is none, ReportError if it has no profiles.
    """
    run = Run.find(places.runs_folder(), name)
    source = load_source(str(run.folder))
    return ProfileRun(source, sides_of(run, source))
