"""A run whose trials were profiled: which are before and which after, and what they compare to.

`diff_profiles`: what changed between two profiles of a program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import overload

import pandas as pd

from deadzone.analysis.phases.quantities import axis_label
from deadzone.errors import ProfileError
from deadzone.plugins import RunFolder, Study, check_known, format_level
from deadzone.study.claims import same_level
from deadzone.study.design import levels_of
from deadzone.study.profile_specs import ProfilesSpec
from deadzone.study.service_specs import ENVIRONMENT
from deadzone.verbs.run import Run
from deadzone_profiles.comparison import ProfileComparison, compare_profiles
from deadzone_profiles.flame_graph import flame_graph
from deadzone_profiles.model import SAMPLES, Profile
from deadzone_profiles.pairing import Basis
from deadzone_profiles.reading import read_profile, sampled
from deadzone_profiles.tables import change_of_total

VALUES = {
    "cpu": "cpu", "heap": "inuse_space", "allocs": "alloc_space", "goroutine": "goroutine",
    "threadcreate": "threadcreate", "mutex": "delay", "block": "delay",
}  # fmt: skip
"""The value of each kind of profile that is compared; where a profile lacks it, its own default."""

OVER_TIME = ("cpu", "allocs", "mutex", "block")
"""Kinds that count over the time of the profile; a load a second is multiplied by it."""


@dataclass(frozen=True, eq=False)
class RunProfiles:
    """What changed between the two sides of a run with profiles, kind by kind.

    levels: of the factor that was changed, before and after. rows: analysed trials with
    `changed_level` (of that factor, as text), `load` (of the trial's treatment, missing without
    one), `slice` (the other factors in words, empty without any) and `profiles` (the file of each
    kind).
    """

    spec: ProfilesSpec
    folder: Path
    levels: tuple[str, str]
    rows: pd.DataFrame

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The rows of the slice that is compared: of those with trials on both sides the one of the
        largest load, else the first."""
        both = set.intersection(*(set(self._at(level)["slice"]) for level in self.levels))
        loads = self.rows[self.rows["slice"].isin(both)].groupby("slice", sort=False)["load"].mean()
        order = loads.sort_values(ascending=False, kind="stable").index
        return self.rows[self.rows["slice"] == (order[0] if len(order) else "")]

    @cached_property
    def comparisons(self) -> dict[str, ProfileComparison]:
        """Before against after by the kind of profile, in the slice that is compared; the study's
        first kind leads."""
        sides = set(self.levels)
        kinds = [kind for kind in self.spec.kinds if sides <= {*self._levels_with(kind)}]
        return {kind: self._with_before(kind, self.levels[1]) for kind in kinds}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of profiles that both sides have."""
        return tuple(self.comparisons)

    def others(self, kind: str) -> dict[str, ProfileComparison]:
        """Before against each further level of the factor with profiles of a kind, such as one with
        a single option changed, in the slice that is compared."""
        levels = [level for level in self._levels_with(kind) if level not in self.levels]
        return {level: self._with_before(kind, level) for level in levels}

    def __getitem__(self, kind: str) -> ProfileComparison:
        """The comparison of a kind. Raises ProfileError if both sides have no profile of it."""
        sentence = f"The run has no profiles of the kind {kind!r} on both sides"
        check_known(ProfileError, sentence, kind, self.kinds)
        return self.comparisons[kind]

    @property
    def trials(self) -> pd.DataFrame:
        """One row a trial of either side, in every slice: the table's columns, `side` (before or
        after), `slice` (the other factors in words), `load`, and the total of each kind in the unit
        of `totals`."""
        sides = zip(("before", "after"), self.levels, strict=True)
        table = pd.concat(
            [self._at(level).assign(side=side) for side, level in sides], ignore_index=True
        )
        measured = [*zip(table["load"].astype(float), table["profiles"], strict=True)]
        amounts = {kind: [self._amount(kind, *one) for one in measured] for kind in self.kinds}
        return table.assign(**amounts).drop(columns=["profiles", "changed_level"])

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
        return flame_graph(self[kind or next(iter(self.kinds), self.spec.kinds[0])])

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

    def _at(self, level: str) -> pd.DataFrame:
        return self.rows[self.rows["changed_level"] == level]

    def _levels_with(self, kind: str) -> list[str]:
        has_kind = self.compared["profiles"].map(lambda files: kind in files).astype(bool)
        return [str(level) for level in self.compared["changed_level"][has_kind].unique()]

    def _with_before(self, kind: str, level: str) -> ProfileComparison:
        of_level = self.compared["changed_level"]
        rows = [self.compared[of_level == one] for one in (self.levels[0], level)]
        loads = [float(own["load"].mean()) for own in rows]
        before, after = (
            [self._read(files[kind]) for files in own["profiles"] if kind in files] for own in rows
        )
        basis = self._basis(kind, loads, (before, after))
        return compare_profiles(before, after, _value(kind, before[0]), basis)

    def _basis(
        self, kind: str, loads: Sequence[float], sides: Sequence[Sequence[Profile]]
    ) -> Basis | None:
        """What amounts are divided by on each side; None where no load was measured beside them. A
        load a second times the seconds of a profile is how many there were."""
        load = self.spec.load
        if load is None or not all(amount > 0 for amount in loads):
            return None
        if load.unit.endswith("/s") and kind in OVER_TIME:
            numbers = [n * self._seconds(side) for n, side in zip(loads, sides, strict=True)]
            return Basis(load.unit.removesuffix("/s"), *numbers)
        return Basis(load.unit, *loads)

    def _seconds(self, side: Sequence[Profile]) -> float:
        lasted = [profile.duration_ns / 1e9 for profile in side if profile.duration_ns > 0]
        return sum(lasted) / len(lasted) if lasted else float(self.spec.duration_s)

    def _read(self, name: str) -> Profile:
        profile = replace(read_profile(self.folder / name), source=Path(name).name)
        if profile.value_types == (SAMPLES,):
            return sampled(profile, self.spec.rate_hz, float(self.spec.duration_s))
        return profile

    def _amount(self, kind: str, load: float, files: Mapping[str, str]) -> float:
        if kind not in files:
            return float("nan")
        profile = self._read(files[kind])
        basis = self._basis(kind, [load] * 2, [[profile]] * 2)
        if basis is None and self.spec.load and self.comparisons[kind].pair.notes:
            return float("nan")
        return profile.total(_value(kind, profile)) / (basis.before if basis else 1.0)


def _value(kind: str, profile: Profile) -> str:
    """The value of a kind of profile that is compared."""
    names = [value_type.name for value_type in profile.value_types]
    return VALUES[kind] if VALUES[kind] in names else profile.value_type().name


def profiles_of(run: RunFolder, analysed: pd.DataFrame) -> RunProfiles:
    """The profiles of a run. analysed: its trials that count.

    Raises ProfileError if its study took no profiles, or a side has no trial.
    """
    study = run.study()
    if study.profiles is None:
        raise ProfileError(
            f"Run {run.run_id} took no profiles: its study has no section `profiles`."
        )
    factor, levels = _changed(study, study.profiles)
    others = [name for name in study.factor_names() if name != factor]
    rows = analysed.assign(changed_level=analysed[factor].map(format_level))
    rows["slice"] = [
        ", ".join(f"{axis_label(name)} {format_level(row[name])}" for name in others)
        for _, row in rows.iterrows()
    ]
    column = study.profiles.load.column if study.profiles.load else ""
    rows["load"] = pd.to_numeric(rows.get(column, float("nan")), errors="coerce")
    rows["load"] = rows.groupby(["changed_level", "slice"])["load"].transform("mean")
    files = {(r["trial"], r["attempt"]): r.get("profiles", {}) for r in run.records()}
    rows["profiles"] = [
        files.get(of, {}) for of in zip(rows["trial"], rows["attempt"], strict=True)
    ]
    for level in levels:
        if level not in set(rows["changed_level"]):
            raise ProfileError(
                f"Run {run.run_id} has no trial at {factor} = {level} to analyse; see "
                "profiles.change in its study."
            )
    return RunProfiles(study.profiles, run.folder, levels, rows)


def _changed(study: Study, spec: ProfilesSpec) -> tuple[str, tuple[str, str]]:
    """The factor that was changed, and its levels before and after."""
    change, factors = spec.change, study.factor_names()
    factor = change.factor or (ENVIRONMENT if ENVIRONMENT in factors else study.knob_name)
    known = levels_of(study)[factor]
    before = known[0] if change.before is None else change.before
    others = (level for level in known if not same_level(level, before))
    after = next(others, None) if change.after is None else change.after
    if after is None:
        raise ProfileError(
            f"The factor {factor} has one level only, so there is nothing before and after."
        )
    return factor, (format_level(before), format_level(after))


Files = str | Path | Profile | Sequence[str | Path | Profile]


@overload
def diff_profiles(before: Run) -> RunProfiles: ...


@overload
def diff_profiles(
    before: Files,
    after: Files,
    value: str | None = None,
    *,
    per: str | None = None,
    load_before: float | None = None,
    load_after: float | None = None,
) -> ProfileComparison: ...


def diff_profiles(
    before: Files | Run,
    after: Files | None = None,
    value: str | None = None,
    *,
    per: str | None = None,
    load_before: float | None = None,
    load_after: float | None = None,
) -> ProfileComparison | RunProfiles:
    """What changed between profiles of a program: in total, by package and by function.

    before: a run whose trials were profiled, with all that its study says of them. Or before,
    after: files (pprof, gzip or plain, or folded stacks), one or several replicates of each.
    value: cpu, inuse_space, alloc_space, goroutine, delay, ...; by default the first profile's own.
    per: divide by the load, in this unit (request, stream, second); load_before, load_after: the
    loads, which a profile knows itself in seconds.

    `.total`, `.packages` and `.functions` are tables with the change and its interval, by
    replicates or by sampling; `.stacks` has a row a sample, to group by cause in pandas.

    `[kind]` of a run's is such a comparison; `.others(kind)` compares before with each further
    level, such as one option alone. `profiles.ipynb` does so, and projects to another load.

    Raises ProfileError if a file cannot be read, the profiles cannot be compared, or the run has
    none.

    >>> result = diff_profiles("before.folded", "after.folded")  # doctest: +SKIP
    >>> result.packages.head()  # doctest: +SKIP
    """
    if isinstance(before, Run):
        return profiles_of(before.stored, before.source.analysed)
    if after is None:
        raise ProfileError(
            "Give two profiles, one before the change and one after, or a run with profiles."
        )
    first, second = (_profiles(side) for side in (before, after))
    basis = _basis(per, load_before, load_after, sides=(first, second))
    return compare_profiles(first, second, value, basis)


def _profiles(side: Files) -> list[Profile]:
    each = [side] if isinstance(side, str | Path | Profile) else side
    return [
        profile if isinstance(profile, Profile) else read_profile(Path(profile)) for profile in each
    ]


def _basis(per: str | None, *asked: float | None, sides: Sequence[list[Profile]]) -> Basis | None:
    """The load of each side; a second is known from the profiles themselves. Raises ProfileError
    where one is missing."""
    loads = [load for load in asked if load is not None]
    if not per and not loads:
        return None
    if per == "second" and not loads:
        loads = [sum(p.duration_ns for p in side) / len(side) / 1e9 for side in sides]
    if not per or len(loads) < 2 or not all(loads):
        raise ProfileError(
            "per (--per), such as stream, needs load_before and load_after (--load-before, "
            "--load-after), and they need it; a second needs profiles with a duration."
        )
    return Basis(per, *loads)
