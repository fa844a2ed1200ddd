"""A run whose trials were profiled, before and after: every kind of profile compared, by cause,
alone, and at another load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from deadzone.errors import ProfileError
from deadzone.plugins import check_known
from deadzone_profiles.attribution import (
    Ablations,
    Cause,
    CauseAttribution,
    ablate,
    attribute,
    causes_from,
)
from deadzone_profiles.comparison import ProfileComparison, compare_profiles
from deadzone_profiles.flame_graph import flame_graph
from deadzone_profiles.model import Profile
from deadzone_profiles.projection import measured_at, project
from deadzone_profiles.sides import Sides, value_of
from deadzone_profiles.tables import change_of_total, largest_cause


@dataclass(frozen=True, eq=False)
class RunProfiles:
    """What changed between the two sides of a run with profiles, kind by kind.

    sides: which trials are before and which after. causes: of the study, or those given. rule: what
    becomes of a sample that matches several causes.
    """

    sides: Sides
    causes: tuple[Cause, ...]
    rule: str

    @cached_property
    def comparisons(self) -> dict[str, ProfileComparison]:
        """Before against after by the kind of profile, in the slice that is compared; the study's
        first kind leads."""
        made = {}
        for kind in self.sides.kinds():
            before, after = (self.sides.profiles_at(level, kind) for level in self.levels)
            basis = self.sides.basis(kind, (before, after))
            made[kind] = compare_profiles(before, after, value_of(kind, before[0]), basis)
        return made

    def __getitem__(self, kind: str) -> ProfileComparison:
        """The comparison of a kind. Raises ProfileError if both sides have no profile of it."""
        known = [*self.comparisons]
        check_known(
            ProfileError, f"The run has no profiles of the kind {kind!r} on both sides", kind, known
        )
        return self.comparisons[kind]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of profiles that both sides have."""
        return tuple(self.comparisons)

    @property
    def levels(self) -> tuple[str, str]:
        """The levels before and after."""
        return self.sides.before, self.sides.after

    @property
    def trials(self) -> pd.DataFrame:
        """One row a trial of either side, in every slice: the table's columns, `side` (before or
        after), `slice` (the other factors in words), `load`, and the total of each kind, a unit of
        load where one was measured."""
        rows = [
            self.sides.rows(level, every=True).assign(side=side)
            for side, level in zip(("before", "after"), self.levels, strict=True)
        ]
        table = pd.concat(rows, ignore_index=True)
        amounts = {
            kind: [self._amount(kind, *row) for row in _measured(table)] for kind in self.kinds
        }
        return table.assign(**amounts).drop(columns="profiles")

    def _amount(self, kind: str, load: float, files: Mapping[str, str]) -> float:
        profiles = self.sides.profiles([files], kind)
        total = profiles[0].total(value_of(kind, profiles[0])) if profiles else float("nan")
        return total / (load if load > 0 else 1.0)

    @property
    def totals(self) -> pd.DataFrame:
        """One row a kind: unit, before, after, change, its 95 % interval change_low and
        change_high, and p."""
        rows = {
            kind: {"unit": comparison.pair.unit, **comparison.total.iloc[0].to_dict()}
            for kind, comparison in self.comparisons.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("kind")

    def attribution(self, kind: str) -> CauseAttribution:
        """The change of a kind by cause. Raises ProfileError where there are no causes."""
        if not self.causes:
            raise ProfileError("The change has no causes; name them, such as {'JSON': '*json/*'}.")
        return attribute(self[kind].pair, self.causes, self.rule)

    def ablations(self, kind: str) -> Ablations | None:
        """What each option did alone; None where the study measured none, or names no causes."""
        alone = self.sides.spec.change.alone.items()
        measured = {name: self.sides.profiles_at(str(level), kind) for name, level in alone}
        measured = {name: profiles for name, profiles in measured.items() if profiles}
        if not measured or not self.causes:
            return None
        before = self.sides.profiles_at(self.sides.before, kind)
        basis = self.sides.basis(kind, (before, before))
        return ablate(self[kind].pair, measured, self.causes, self.rule, basis)

    def projections(self, load: float, kind: str = "") -> pd.DataFrame:
        """What each side would take at a load; empty where no load was measured.

        load: in the unit of the study's `profiles.load`. kind: of profile; the study's first by
        default. Returns one row a side: unit, expected, low, high (95 % prediction interval,
        missing where nothing is known of the scatter), method (line or proportional), doubts
        (sentences).
        """
        rows = {}
        for side, level in zip(("before", "after"), self.levels, strict=True):
            points = self._points(level, kind or self.kinds[0])
            if points:
                (first, profile), others = points[0], points[1:]
                pair = compare_profiles(
                    profile, profile, value_of(kind or self.kinds[0], profile)
                ).pair
                loads, amounts, unit = measured_at(pair.before, first, others)
                projection = project(loads, amounts, load)
                ends = {
                    "expected": projection.amount,
                    "low": projection.low,
                    "high": projection.high,
                }
                rows[side] = {
                    "unit": unit,
                    **ends,
                    "method": projection.method,
                    "doubts": " ".join(projection.doubts),
                }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("side")

    def _points(self, level: str, kind: str) -> list[tuple[float, Profile]]:
        rows = self.sides.rows(level, every=True)
        return [
            (load, profile)
            for load, files in _measured(rows)
            if load > 0
            for profile in self.sides.profiles([files], kind)
        ]

    def flame_graph(self, kind: str = "") -> str:
        """The differential flame graph of a kind as SVG, which zooms where scripts run; show it as
        a `Figure`."""
        return flame_graph(self[kind or self.kinds[0]])

    def verdict(self) -> str:
        """What changed most, in a sentence or two."""
        if not self.kinds:
            return "No kind of profile was taken on both sides, so there is nothing to compare."
        sentence = change_of_total(self.comparisons[self.kinds[0]])
        return (
            f"{sentence} {largest_cause(self.attribution(self.kinds[0]))}."
            if self.causes
            else sentence
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the comparison doubtful."""
        return tuple(
            dict.fromkeys(
                doubt for comparison in self.comparisons.values() for doubt in comparison.doubts
            )
        )

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.totals.to_string()}"

    def _repr_html_(self) -> str:
        return str(self.totals.to_html())


def _measured(rows: pd.DataFrame) -> list[tuple[float, Mapping[str, str]]]:
    """Load and files of each trial."""
    return [*zip(rows["load"].astype(float), rows["profiles"], strict=True)]


def run_profiles(
    sides: Sides, causes: Mapping[str, str | Sequence[str]] | None = None, rule: str = ""
) -> RunProfiles:
    """The profiles of a run's sides. causes: patterns by name; by default those of the study. rule:
    likewise."""
    named = sides.spec.causes if causes is None else causes
    patterns = {name: [text] if isinstance(text, str) else [*text] for name, text in named.items()}
    return RunProfiles(sides, causes_from(patterns) if patterns else (), rule or sides.spec.rule)
