"""Which trials of a run are before and which after, and what their profiles compare to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from deadzone.analysis.phases.quantities import axis_label
from deadzone.errors import ProfileError
from deadzone.plugins import RunFolder, Study, format_level
from deadzone.study.claims import same_level
from deadzone.study.design import levels_of
from deadzone.study.profile_specs import ProfilesSpec
from deadzone.study.service_specs import ENVIRONMENT
from deadzone_profiles.model import SAMPLES, Profile
from deadzone_profiles.pairing import Basis
from deadzone_profiles.reading import read_profile, sampled

VALUES = {
    "cpu": "cpu", "heap": "inuse_space", "allocs": "alloc_space", "goroutine": "goroutine",
    "threadcreate": "threadcreate", "mutex": "delay", "block": "delay",
}  # fmt: skip
"""The value of each kind of profile that is compared; where a profile lacks it, its own default."""

OVER_TIME = ("cpu", "allocs", "mutex", "block")
"""Kinds that count over the time of the profile; a load a second is multiplied by it."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The trials of a run with their profiles, and which of them are before and after.

    others: the other factors. trials: analysed ones, with `load` (of the trial's treatment, missing
    without one), `slice` (the levels of the other factors in words, empty without any) and
    `profiles` (the file of each kind).
    """

    spec: ProfilesSpec
    folder: Path
    factor: str
    before: str
    after: str
    others: tuple[str, ...]
    trials: pd.DataFrame

    @cached_property
    def chosen(self) -> str:
        """The slice that is compared: of those with trials on both sides the one of the largest
        load, else the first."""
        both = set(self._of(self.before)["slice"]) & set(self._of(self.after)["slice"])
        loads = self.trials.groupby("slice", sort=False)["load"].mean()
        order = [
            name for name in loads.sort_values(ascending=False, kind="stable").index if name in both
        ]
        return str(order[0]) if order else ""

    def rows(self, level: str, every: bool = False) -> pd.DataFrame:
        """The trials of a level in the slice that is compared, or in every slice."""
        rows = self._of(level)
        return rows if every else rows[rows["slice"] == self.chosen]

    def _of(self, level: str) -> pd.DataFrame:
        return self.trials[self.trials[self.factor].astype(str) == level]

    def profiles(self, files: Iterable[Mapping[str, str]], kind: str) -> list[Profile]:
        """The profiles of a kind, one a trial that has it. files: of each trial, as in the column
        `profiles`."""
        return [self._read(of[kind]) for of in files if kind in of]

    def profiles_at(self, level: str, kind: str) -> list[Profile]:
        """Those of a level in the slice that is compared."""
        return self.profiles(self.rows(level)["profiles"], kind)

    def kinds(self) -> tuple[str, ...]:
        """The kinds of profiles that both sides have."""
        sides = {self.before, self.after}
        return tuple(kind for kind in self.spec.kinds if sides <= {*self.levels_with(kind)})

    def levels_with(self, kind: str) -> list[str]:
        """The levels with profiles of a kind in the slice that is compared."""
        levels = self.trials[self.factor].astype(str).unique()
        return [of for of in levels if any(kind in files for files in self.rows(of)["profiles"])]

    def load_of(self, level: str) -> float:
        """The mean load of a side in the slice that is compared; not a number where none was
        measured."""
        return float(self.rows(level)["load"].mean())

    def basis(self, kind: str, level: str, profiles: Sequence[Sequence[Profile]]) -> Basis | None:
        """What amounts of a kind are divided by before and at a level; None where no load was
        measured beside them.

        A load a second times the seconds of a profile is how many there were.
        """
        load = self.spec.load
        before, after = self.load_of(self.before), self.load_of(level)
        if load is None or not (before > 0 and after > 0):
            return None
        if load.unit.endswith("/s") and kind in OVER_TIME:
            seconds = [self._seconds(side) for side in profiles]
            return Basis(load.unit.removesuffix("/s"), before * seconds[0], after * seconds[1])
        return Basis(load.unit, before, after)

    def _seconds(self, side: Sequence[Profile]) -> float:
        lasted = [profile.duration_ns / 1e9 for profile in side if profile.duration_ns > 0]
        return sum(lasted) / len(lasted) if lasted else float(self.spec.duration_s)

    def _read(self, name: str) -> Profile:
        profile = replace(read_profile(self.folder / name), source=Path(name).name)
        if profile.value_types == (SAMPLES,):
            return sampled(profile, self.spec.rate_hz, float(self.spec.duration_s))
        return profile


def value_of(kind: str, profile: Profile) -> str:
    """The value of a kind of profile that is compared."""
    names = [value_type.name for value_type in profile.value_types]
    return VALUES[kind] if VALUES[kind] in names else profile.value_type().name


def sides_of(run: RunFolder, analysed: pd.DataFrame) -> Sides:
    """The sides of a run. analysed: its trials that count.

    Raises ProfileError if its study took no profiles, or a side has no trial.
    """
    study = run.study()
    if study.profiles is None:
        raise ProfileError(
            f"Run {run.run_id} took no profiles: its study has no section `profiles`."
        )
    factor, before, after = _changed(study, study.profiles)
    others = tuple(name for name in study.factor_names() if name != factor)
    trials = analysed.copy()
    trials["slice"] = [
        ", ".join(f"{axis_label(name)} {format_level(row[name])}" for name in others)
        for _, row in trials.iterrows()
    ]
    trials["load"] = _load(study, trials, factor)
    files = {(r["trial"], r["attempt"]): r.get("profiles", {}) for r in run.records()}
    trials["profiles"] = [
        files.get(of, {}) for of in zip(trials["trial"], trials["attempt"], strict=True)
    ]
    made = Sides(study.profiles, run.folder, factor, before, after, others, trials)
    for level in (before, after):
        if made._of(level).empty:
            raise ProfileError(
                f"Run {run.run_id} has no trial at {factor} = {level} to analyse; see "
                "profiles.change in its study."
            )
    return made


def _changed(study: Study, spec: ProfilesSpec) -> tuple[str, str, str]:
    """The factor that was changed, and its levels before and after."""
    change, factors = spec.change, study.factor_names()
    factor = change.factor or (ENVIRONMENT if ENVIRONMENT in factors else study.knob_name)
    known = levels_of(study)[factor]
    before = known[0] if change.before is None else change.before
    after = change.after
    if after is None:
        after = next((level for level in known if not same_level(level, before)), None)
    if after is None:
        raise ProfileError(
            f"The factor {factor} has one level only, so there is nothing before and after."
        )
    return factor, format_level(before), format_level(after)


def _load(study: Study, trials: pd.DataFrame, factor: str) -> pd.Series:
    """The load of each trial's treatment: what its trials measured, on average."""
    assert study.profiles is not None
    spec = study.profiles.load
    if spec is None or spec.column not in trials:
        return pd.Series(float("nan"), index=trials.index)
    column = pd.to_numeric(trials[spec.column], errors="coerce")
    return column.groupby([trials[factor].astype(str), trials["slice"]]).transform("mean")
