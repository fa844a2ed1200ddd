"""Which environments stand against each other: the slow one, the fast one, and the one in which the
limit was removed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from deadzone.plugins import CompareError, check_known
from deadzone.study.scales import NO_LIMIT, level_name

UNLIMITED = math.inf
"""The CPU limit of an environment that has none."""

CPU_LIMIT, IN_FORCE, COUNTED = "cpu_limit", "service_cpu_limit", "throttled_s"


@dataclass(frozen=True)
class Roles:
    """The environments by name.

    slow, fast: between which the slowdown is explained. restored: another one without a CPU limit,
    in which the response should be the fast one's if the limit is the cause; None where there is
    none. limits: CPU limit of each environment [cores], UNLIMITED for none; environments about
    which nothing is known are missing.
    """

    slow: str
    fast: str
    restored: str | None
    limits: Mapping[str, float]

    def is_unlimited(self, name: str) -> bool:
        """Whether an environment is known to have no CPU limit."""
        return self.limits.get(name) == UNLIMITED

    @property
    def doses(self) -> tuple[str, ...]:
        """Environments by their CPU limit, smallest first, where there are three limits or more;
        else none."""
        known = sorted(self.limits, key=lambda name: self.limits[name])
        finite = {limit for limit in self.limits.values() if limit < UNLIMITED}
        return tuple(known) if len(finite) > 1 and len(set(self.limits.values())) > 2 else ()


def roles_of(
    medians: Mapping[str, float],
    limits: Mapping[str, float],
    slow: str | None = None,
    fast: str | None = None,
    restored: str | None = None,
) -> Roles:
    """The roles as asked for, else by the medians: the slowest and the fastest, and another one
    without a limit.

    medians: of each environment's responses [s]. limits: as in Roles.

    Raises CompareError if there are fewer than two environments, one is unknown, or the two are the
    same.
    """
    if len(medians) < 2:
        have = ", ".join(medians) or "none"
        raise CompareError(
            f"A slowdown is explained between two environments; the table has trials of: {have}. "
            "Measure another one."
        )
    for name in (slow, fast, restored):
        if name is not None:
            sentence = f"There are no trials of an environment {name!r}"
            check_known(CompareError, sentence, name, medians, "There are:")
    slow = slow or max((n for n in medians if n not in (fast, restored)), key=lambda n: medians[n])
    free = [n for n in medians if n not in (slow, restored)]
    fast = fast or min(free, key=lambda n: medians[n])
    if slow == fast:
        raise CompareError(
            f"The slow and the fast environment are both {slow!r}; name two different ones."
        )
    if restored is None and limits.get(slow, UNLIMITED) < UNLIMITED:
        others = [n for n in medians if n not in (slow, fast) and limits.get(n) == UNLIMITED]
        restored = others[0] if others else None
    return Roles(slow, fast, restored, dict(limits))


def limits_of(trials: pd.DataFrame, by: str) -> dict[str, float]:
    """CPU limit of each environment where the table says it; an environment with several limits has
    none that is known.

    trials: one row a trial. by: column of the environment's name. A missing level of the factor
    cpu_limit is unknown; a missing limit in force is none where throttling was counted, else
    unknown.
    """
    if CPU_LIMIT in trials:
        limits = trials[CPU_LIMIT].map(_cores)
    elif IN_FORCE in trials and COUNTED in trials:
        counted = trials[IN_FORCE].notna() | trials[COUNTED].notna()
        limits = trials.loc[counted, IN_FORCE].map(_cores).fillna(UNLIMITED)
    else:
        return {}
    each = limits.groupby(trials[by], sort=False)
    return {
        str(name): float(levels.iloc[0])
        for name, levels in each
        if levels.notna().all() and levels.nunique() == 1
    }


def _cores(level: object) -> float:
    """A limit as a table holds it [cores]: UNLIMITED where it says so, nan where it says
    nothing."""
    name = level_name(level)
    if name in NO_LIMIT:
        return UNLIMITED
    try:
        return float(name)
    except ValueError:
        return math.nan
