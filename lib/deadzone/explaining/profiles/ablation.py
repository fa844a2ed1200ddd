"""Ablations: one option switched at a time, beside what the stacks say of it.

Stacks book what they see: memory freed by dropping a buffer saves garbage collection, which stands on other
stacks. An ablation measures the whole effect of an option. What the single effects leave of the total
change is the interaction: options that spare each other's work add up to more or less than together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.errors import ProfileError
from deadzone.explaining.profiles.attribution import FIRST, attribute
from deadzone.explaining.profiles.causes import OTHER, Cause
from deadzone.explaining.profiles.estimates import estimate, method, total_amounts
from deadzone.explaining.profiles.model import Profile
from deadzone.explaining.profiles.pairing import Basis, Pair, pair_up
from deadzone.explaining.profiles.units import readable
from deadzone.language.catalogue import say


@dataclass(frozen=True, eq=False)
class Ablations:
    """Effects of options switched one at a time.

    table: a row an option: `option`, the columns of `estimates.COLUMNS` (before: all options as before;
    after: this option alone changed), `by_stacks` (the change that the cause of the same name got from its
    stacks; not a number if there is none) and `elsewhere` (the part of the effect on other stacks).
    by_cause: options by causes, what each option alone changed on the stacks of each cause.
    total: the change with all options. interaction: total less the sum of the single effects. method: as of
    `estimates.method`. All amounts in `unit`.
    """

    unit: str
    table: pd.DataFrame
    by_cause: pd.DataFrame
    total: float
    interaction: float
    method: str

    def statement(self) -> str:
        """The interaction in words."""
        single = float(self.table["change"].sum())
        one, all_, rest = (
            readable(x, self.unit, signed=True) for x in (single, self.total, self.interaction)
        )
        return say("profile.interaction", single=one, total=all_, rest=rest)


def ablate(
    pair: Pair,
    single: Mapping[str, Sequence[Profile]],
    causes: Sequence[Cause],
    rule: str = FIRST,
    basis: Basis | None = None,
) -> Ablations:
    """Set the effects of options beside the attribution by stacks.

    pair: all options as before, and all changed. single: by option, profiles with it alone changed.
    basis: the load of the pair; the single profiles are at the load before.
    Raises ProfileError if there are none, or they cannot be compared with the pair.
    """
    if not single:
        raise ProfileError("An ablation needs profiles with one option changed at a time.")
    basis = Basis(basis.unit, basis.before, basis.before) if basis else None
    attributed = attribute(pair, causes, rule).exact
    rows, by_cause, how = [], {}, "none"
    for option, profiles in single.items():
        alone = pair_up(pair.before.profiles, profiles, pair.before.value, basis)
        sides = total_amounts(alone.before), total_amounts(alone.after)
        how = method(*sides)
        rows.append(estimate(*sides))
        by_cause[option] = {name: float(part) for name, part in attribute(alone, causes, rule).exact.items()}
    table = pd.concat(rows, ignore_index=True)
    table.insert(0, "option", list(single))
    stacks = {name: float(part) for name, part in attributed.items() if name != OTHER}
    table["by_stacks"] = [stacks.get(name, np.nan) for name in single]
    own_stacks = [by_cause[name].get(name, 0.0) if name != OTHER else 0.0 for name in single]
    table["elsewhere"] = table["change"] - own_stacks
    total = float(sum(attributed.values()))
    return Ablations(
        pair.unit, table, pd.DataFrame.from_dict(by_cause, orient="index"), total,
        total - float(table["change"].sum()), how,
    )  # fmt: skip
