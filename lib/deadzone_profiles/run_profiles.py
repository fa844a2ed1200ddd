"""A run whose trials were profiled, before and after: every kind of profile compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from deadzone.errors import ProfileError
from deadzone.plugins import check_known
from deadzone_profiles.comparison import ProfileComparison, compare_profiles
from deadzone_profiles.flame_graph import flame_graph
from deadzone_profiles.sides import Sides, value_of
from deadzone_profiles.tables import change_of_total


@dataclass(frozen=True, eq=False)
class RunProfiles:
    """What changed between the two sides of a run with profiles, kind by kind.

    sides: which trials are before and which after.
    """

    sides: Sides

    @cached_property
    def comparisons(self) -> dict[str, ProfileComparison]:
        """Before against after by the kind of profile, in the slice that is compared; the study's
        first kind leads."""
        return {kind: self._with_before(kind, self.sides.after) for kind in self.sides.kinds()}

    def others(self, kind: str) -> dict[str, ProfileComparison]:
        """Before against each further level of the factor with profiles of a kind, such as one with
        a single option changed, in the slice that is compared."""
        sides = (self.sides.before, self.sides.after)
        levels = [level for level in self.sides.levels_with(kind) if level not in sides]
        return {level: self._with_before(kind, level) for level in levels}

    def _with_before(self, kind: str, level: str) -> ProfileComparison:
        before, other = (self.sides.profiles_at(of, kind) for of in (self.sides.before, level))
        basis = self.sides.basis(kind, level, (before, other))
        return compare_profiles(before, other, value_of(kind, before[0]), basis)

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
    def trials(self) -> pd.DataFrame:
        """One row a trial of either side, in every slice: the table's columns, `side` (before or
        after), `slice` (the other factors in words), `load`, and the total of each kind, a unit of
        load where one was measured."""
        sides = {"before": self.sides.before, "after": self.sides.after}
        rows = [self.sides.rows(level, every=True).assign(side=of) for of, level in sides.items()]
        table = pd.concat(rows, ignore_index=True)
        measured = [*zip(table["load"].astype(float), table["profiles"], strict=True)]
        amounts = {kind: [self._amount(kind, *one) for one in measured] for kind in self.kinds}
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

    def flame_graph(self, kind: str = "") -> str:
        """The differential flame graph of a kind as SVG, which zooms where scripts run; show it as
        a `Figure`."""
        return flame_graph(self[kind or self.kinds[0]])

    def verdict(self) -> str:
        """What changed in total, in a sentence."""
        if not self.kinds:
            return "No kind of profile was taken on both sides, so there is nothing to compare."
        return change_of_total(self.comparisons[self.kinds[0]])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the comparison doubtful."""
        doubts = (doubt for compared in self.comparisons.values() for doubt in compared.doubts)
        return tuple(dict.fromkeys(doubts))

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.totals.to_string()}"

    def _repr_html_(self) -> str:
        return str(self.totals.to_html())
