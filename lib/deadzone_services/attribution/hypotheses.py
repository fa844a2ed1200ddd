"""The five hypotheses: which parts of the response each is about, and what else must hold for a
verdict.

From p-values to one of three verdicts, corrected for all tests made.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.hypothesis_tests.holm import judged
from deadzone.analysis.hypothesis_tests.ranks import smallest_p
from deadzone.analysis.trial_columns import numbers
from deadzone_services.attribution import parts
from deadzone_services.attribution.environments import Roles
from deadzone_services.attribution.side_by_side import SECONDS, SHARES, Margin, p_values

CPU_LIMIT, NETWORK, DISK, MEMORY, CLIENT = HYPOTHESES = (
    "cpu_limit",
    "network",
    "disk",
    "memory",
    "client",
)

NEAR_LIMIT = 0.9
"""Memory used at its peak, as a share of the limit, from which reclaim may have begun."""

CONFIRMED, EXCLUDED, UNDECIDED = VERDICTS = ("confirmed", "excluded", "undecided")


@dataclass(frozen=True)
class About:
    """What a hypothesis is about.

    part: the time it would take. certain: the part that must exceed the margin for it to be
    confirmed. needed: parts one of which must have been measured to exclude it, and that must not
    be longer in the slow environment. also: parts that must be the same, where measured. shown:
    parts that the evidence names.
    """

    part: str
    certain: str
    needed: tuple[str, ...]
    also: tuple[str, ...]
    shown: tuple[str, ...]


READ, USED = (parts.DISK, parts.DISK_BYTES), (parts.MEMORY, parts.FAULTS)
REACHED, STOPPED, COMPUTED = (parts.DNS, parts.CONNECT), (parts.THROTTLED,), (parts.CLIENT,)
OUTSIDE = (*REACHED, parts.UPLOAD, parts.NETWORK)

ABOUT: Mapping[str, About] = {
    CPU_LIMIT: About(parts.THROTTLED, parts.THROTTLED, STOPPED, STOPPED, STOPPED),
    NETWORK: About(parts.NETWORK, parts.NETWORK_LEAST, (parts.NETWORK,), REACHED, OUTSIDE),
    DISK: About(parts.DISK, parts.DISK_LEAST, (parts.DISK,), READ, READ),
    MEMORY: About(parts.MEMORY, parts.MEMORY_LEAST, USED, USED, USED),
    CLIENT: About(parts.CLIENT, parts.CLIENT, COMPUTED, COMPUTED, COMPUTED),
}


@dataclass(frozen=True, eq=False)
class Known:
    """What the verdicts are made from.

    measures: of every part, as `side_by_side` and `p_values` give them. sides: seconds of the
    trials, by environment. slow: the trials of the slow one. margin_s: of the removal of a limit
    [s]. is_slower: whether there is a slowdown to explain at all.
    """

    roles: Roles
    measures: pd.DataFrame
    sides: Mapping[str, pd.DataFrame]
    slow: pd.DataFrame
    margin_s: float
    is_slower: bool

    def removal(self) -> float:
        """p-value that the response is not the fast one's where the limit was removed; nan where it
        was not."""
        if self.roles.restored is None:
            return math.nan
        pair = self.sides[self.roles.restored], self.sides[self.roles.fast]
        return p_values(*pair, parts.TOTAL, Margin(0.0, self.margin_s))["p_same"]

    def dose(self) -> float:
        """One-sided p-value of Kendall's rank correlation (1938, Biometrika 30, 81-93) of limit and
        response; nan without three limits."""
        from scipy.stats import kendalltau

        if not (names := self.roles.doses):
            return math.nan
        values = [self.sides[name][parts.TOTAL].to_numpy(float) for name in names]
        limits = np.repeat([self.roles.limits[name] for name in names], [*map(len, values)])
        ranks = np.unique(limits, return_inverse=True)[1]
        return float(kendalltau(ranks, np.concatenate(values), alternative="less").pvalue)

    def is_bounded(self, name: str) -> bool:
        """Whether the time is known to be under the margin without any test: the client's CPU time
        is counted whole, and delayed no request by more than it was."""
        used = numbers(self.slow, parts.CLIENT)
        return name == CLIENT and bool(used.notna().all() and used.max() <= self.margin_s)

    def hindrances(self) -> dict[tuple[str, str], str]:
        """Verdicts that a hypothesis cannot get, however small the p-value, with the reason as a
        key of `wording.UNDECIDED_FOR`."""
        found = {}
        if self.measures["fast_s"][parts.THROTTLED] > self.margin_s:
            found[CPU_LIMIT, CONFIRMED] = "throttled_without"
        # It may be a wait within a service that does not say how long it had the request.
        more = self.measures["p_more"]
        if more[parts.NETWORK] < more[parts.NETWORK_LEAST]:
            found[NETWORK, CONFIRMED] = "outside"
        names = ("service_oom_kills", "service_memory_peak_bytes", "service_memory_limit_bytes")
        events, peak, limit = (numbers(self.slow, name) for name in names)
        if (events > 0).any():
            found[MEMORY, EXCLUDED] = "events"
        elif (peak > NEAR_LIMIT * limit).any():
            found[MEMORY, EXCLUDED] = "near_limit"
        return found


def _tested(about: About, measures: pd.DataFrame) -> tuple[float, float]:
    """p-values of the exclusion and of the confirmation of a hypothesis; nan where nothing was
    measured."""
    known = measures[measures["difference_s"].notna()]
    needed, also = (known.index.intersection([*names]) for names in (about.needed, about.also))
    if needed.empty:
        return math.nan, math.nan
    excluded = max(known["p_no_more"][needed].max(), known["p_same"][also].max(), 0.0)
    return excluded, float(measures["p_more"][about.certain])


def verdicts(known: Known, confidence: float) -> pd.DataFrame:
    """The verdict on every hypothesis, in the columns of `Attribution.hypotheses`.

    Returns p_excluded, p_confirmed, and both `_adjusted` for all that was tested, nan untested;
    verdict; why: of an undecided one, a key of `wording.UNDECIDED_FOR`: unmeasured, few,
    throttled_without, not_restored, no_dose, events, near_limit, outside, machine, no_slowdown or
    open.
    """
    level = 1 - confidence
    raw = np.array([_tested(about, known.measures) for about in ABOUT.values()])
    removal, dose = known.removal(), known.dose()
    if not math.isnan(raw[0, 1]):
        raw[0, 1] = np.nanmax([raw[0, 1], removal, dose])
    n, m = (len(known.sides[name]) for name in (known.roles.slow, known.roles.fast))
    few = smallest_p(n, m, sides=1) * np.isfinite(raw).sum() > level
    hindrances = known.hindrances()
    rows = []
    for name, own, (excluded, confirmed) in zip(ABOUT, raw, judged(raw), strict=True):
        may_be = {verdict: (name, verdict) not in hindrances for verdict in (EXCLUDED, CONFIRMED)}
        is_excluded = excluded <= level and may_be[EXCLUDED]
        verdict, why = UNDECIDED, ""
        if is_excluded or known.is_bounded(name):
            verdict = EXCLUDED
        elif confirmed <= level and may_be[CONFIRMED] and known.is_slower:
            verdict = CONFIRMED
        else:
            hindrance = [why for (hindered, _), why in hindrances.items() if hindered == name]
            reasons = (
                ("unmeasured", np.isnan(own).all()),
                ("few", few),
                *((why, True) for why in hindrance),
                ("machine", math.isnan(confirmed)),
                ("no_slowdown", confirmed <= level and not known.is_slower),
                ("not_restored", name == CPU_LIMIT and removal > level),
                ("no_dose", name == CPU_LIMIT and dose > level),
                ("open", True),
            )
            why = next(why for why, is_so in reasons if is_so)
        rows.append((name, own[0], excluded, own[1], confirmed, verdict, why))
    ps = ("p_excluded", "p_excluded_adjusted", "p_confirmed", "p_confirmed_adjusted")
    table = pd.DataFrame(rows, columns=["hypothesis", *ps, "verdict", "why"])
    seconds = known.measures.loc[[about.part for about in ABOUT.values()], [*SECONDS, *SHARES]]
    seconds = seconds[["slow_s", "fast_s", *SECONDS[2:], *SHARES]].reset_index(drop=True)
    return pd.concat([table[["hypothesis"]], seconds, table.drop(columns="hypothesis")], axis=1)
