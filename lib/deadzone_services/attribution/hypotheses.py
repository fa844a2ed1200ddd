"""The five hypotheses: which parts of the response each is about, and what else must hold for a
verdict.

From p-values to one of three verdicts, corrected for all tests made.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.hypothesis_tests.holm import judged
from deadzone.analysis.hypothesis_tests.ranks import smallest_p
from deadzone.analysis.trial_columns import numbers
from deadzone_services.attribution import parts
from deadzone_services.attribution.environments import Roles
from deadzone_services.attribution.equivalence import Margin, examine
from deadzone_services.attribution.measures import Measure

CPU_LIMIT, NETWORK, DISK, MEMORY, CLIENT = HYPOTHESES = (
    "cpu_limit",
    "network",
    "disk",
    "memory",
    "client",
)

NEAR_LIMIT = 0.9
"""Memory used at its peak, as a share of the limit, from which reclaim may have begun."""

READ, USED = (parts.DISK, parts.DISK_BYTES), (parts.MEMORY, parts.FAULTS)
REACHED, STOPPED, COMPUTED = (parts.DNS, parts.CONNECT), (parts.THROTTLED,), (parts.CLIENT,)

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


ABOUT: Mapping[str, About] = {
    CPU_LIMIT: About(parts.THROTTLED, parts.THROTTLED, STOPPED, STOPPED, STOPPED),
    NETWORK: About(
        parts.NETWORK,
        parts.NETWORK_LEAST,
        (parts.NETWORK,),
        REACHED,
        (*REACHED, parts.UPLOAD, parts.NETWORK),
    ),
    DISK: About(parts.DISK, parts.DISK_LEAST, (parts.DISK,), READ, READ),
    MEMORY: About(parts.MEMORY, parts.MEMORY_LEAST, USED, USED, USED),
    CLIENT: About(parts.CLIENT, parts.CLIENT, COMPUTED, COMPUTED, COMPUTED),
}


@dataclass(frozen=True)
class Case:
    """What is known about a hypothesis before the correction for several tests.

    p_excluded, p_confirmed: nan where nothing was measured. against_excluded, against_confirmed:
    why it cannot be, however small the p-value, as a key of `wording.UNDECIDED_FOR`, or empty.
    removal, dose: p-values of a limit's removal and of its dose and response; nan where neither was
    measured. is_bounded: whether the time is known to be next to nothing without any test, since
    the whole of it is, in every request.
    """

    name: str
    p_excluded: float
    p_confirmed: float
    against_excluded: str = ""
    against_confirmed: str = ""
    removal: float = math.nan
    dose: float = math.nan
    is_bounded: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """What the cases are made from.

    measures: of every part. trials: by environment. responses: of each environment [s]. margin_s:
    of the removal [s].
    """

    roles: Roles
    measures: Mapping[str, Measure]
    trials: Mapping[str, pd.DataFrame]
    responses: Mapping[str, np.ndarray]
    margin_s: float


def cases_of(known: Known) -> dict[str, Case]:
    """Every hypothesis with its p-values, in the order of HYPOTHESES."""
    cases = {name: _plain(name, known.measures) for name in HYPOTHESES}
    further = {CPU_LIMIT: _limit, MEMORY: _memory, NETWORK: _network, CLIENT: _client}
    return cases | {name: change(known, cases[name]) for name, change in further.items()}


def _plain(name: str, measures: Mapping[str, Measure]) -> Case:
    about = ABOUT[name]
    if not any(measures[part].is_known for part in about.needed):
        return Case(name, math.nan, math.nan, "unmeasured", "unmeasured")
    same = [measures[part].p.same for part in about.also if measures[part].is_known]
    no_more = [measures[part].p.no_more for part in about.needed if measures[part].is_known]
    return Case(name, max(*same, *no_more, 0.0), measures[about.certain].p.more)


def _limit(known: Known, case: Case) -> Case:
    """Also: throttling absent without the limit, the response restored where it was removed, and
    less with more of it."""
    roles, measures = known.roles, known.measures
    removal = dose = math.nan
    if roles.restored is not None:
        restored, fast = known.responses[roles.restored], known.responses[roles.fast]
        margin = Margin(0.0, known.margin_s)
        removal = examine(restored, restored, fast, fast, margin).same
    if roles.doses:
        dose = _falls_with_limit(known)
    without = measures[parts.THROTTLED].fast > known.margin_s
    against = "throttled_without" if without else case.against_confirmed
    asked = [p for p in (case.p_confirmed, removal, dose) if not math.isnan(p)]
    confirmed = math.nan if math.isnan(case.p_confirmed) else max(asked)
    return replace(
        case, p_confirmed=confirmed, against_confirmed=against, removal=removal, dose=dose
    )


def _falls_with_limit(known: Known) -> float:
    """One-sided p-value of Kendall's rank correlation (1938, Biometrika 30, 81-93) of limit and
    response."""
    from scipy.stats import kendalltau

    pairs = [
        (known.roles.limits[name], value)
        for name in known.roles.doses
        for value in known.responses[name]
    ]
    limits, values = np.array(pairs).T
    ranks = np.unique(limits, return_inverse=True)[1]
    return float(kendalltau(ranks, values, alternative="less").pvalue)


def _memory(known: Known, case: Case) -> Case:
    """Also: no event of pressure, and the peak well under the limit."""
    slow = known.trials[known.roles.slow]
    names = ("service_oom_kills", "service_memory_peak_bytes", "service_memory_limit_bytes")
    events, peak, limit = (numbers(slow, name) for name in names)
    seen = {"events": (events > 0).any(), "near_limit": (peak > NEAR_LIMIT * limit).any()}
    against = case.against_excluded or next((why for why, is_so in seen.items() if is_so), "")
    return replace(case, against_excluded=against)


def _network(known: Known, case: Case) -> Case:
    """Time outside the accounts of a service that does not say how long it had the request may be a
    wait within it."""
    most, least = (known.measures[part] for part in (parts.NETWORK, parts.NETWORK_LEAST))
    if case.against_confirmed or not (most.is_known and most.p.more < least.p.more):
        return case
    return replace(case, against_confirmed="outside")


def _client(known: Known, case: Case) -> Case:
    """The client's CPU time is counted whole: it delayed no request by more than it was."""
    used = numbers(known.trials[known.roles.slow], parts.CLIENT)
    return replace(case, is_bounded=bool(used.notna().all() and used.max() <= known.margin_s))


def judge(
    cases: Mapping[str, Case], sizes: tuple[int, int], confidence: float, is_slower: bool
) -> dict[str, dict[str, Any]]:
    """The verdict on every hypothesis, in the columns of `AttributionResult.hypotheses`.

    sizes: trials of the slow and of the fast environment. is_slower: whether there is a slowdown to
    explain at all. Returns p_excluded, p_confirmed, and both `_adjusted` for all that was tested,
    nan untested; verdict; why: of an undecided one, a key of `wording.UNDECIDED_FOR`: unmeasured,
    few, throttled_without, not_restored, no_dose, events, near_limit, outside, machine, no_slowdown
    or open.
    """
    level = 1 - confidence
    raw = np.array([(case.p_excluded, case.p_confirmed) for case in cases.values()])
    adjusted = judged(raw)
    tests = int(np.isfinite(raw).sum())
    few = smallest_p(*sizes, sides=1) * tests > level
    rows = {}
    for (name, case), (excluded, confirmed) in zip(cases.items(), adjusted, strict=True):
        verdict = UNDECIDED
        if (excluded <= level and not case.against_excluded) or case.is_bounded:
            verdict = EXCLUDED
        elif confirmed <= level and not case.against_confirmed and is_slower:
            verdict = CONFIRMED
        why = "" if verdict != UNDECIDED else _why(case, float(confirmed), level, few, is_slower)
        rows[name] = {
            "p_excluded": case.p_excluded,
            "p_excluded_adjusted": float(excluded),
            "p_confirmed": case.p_confirmed,
            "p_confirmed_adjusted": float(confirmed),
            "verdict": verdict,
            "why": why,
        }
    return rows


def _why(case: Case, confirmed: float, level: float, few: bool, is_slower: bool) -> str:
    if math.isnan(case.p_excluded) and math.isnan(case.p_confirmed):
        return "unmeasured"
    if few:
        return "few"
    if against := case.against_confirmed or case.against_excluded:
        return against
    if math.isnan(confirmed):
        return "machine"
    if confirmed <= level and not is_slower:
        return "no_slowdown"
    if case.removal > level:
        return "not_restored"
    if case.dose > level:
        return "no_dose"
    return "open"
