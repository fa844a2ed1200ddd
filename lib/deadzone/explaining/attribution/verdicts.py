"""From p-values to one of three verdicts, corrected for all tests made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deadzone.explaining.attribution.hypotheses import Case
from deadzone.explaining.hypothesis_tests.holm import holm
from deadzone.explaining.hypothesis_tests.ranks import smallest_p

CONFIRMED, EXCLUDED, UNDECIDED = VERDICTS = ("confirmed", "excluded", "undecided")


@dataclass(frozen=True)
class Judged:
    """A hypothesis judged.

    p_excluded, p_confirmed: after Holm's correction, nan untested. why: of an undecided one, the last part of a
    catalogue key: unmeasured, few, throttled_without, not_restored, no_dose, events, near_limit, outside,
    machine, no_slowdown or open.
    """

    verdict: str
    why: str
    p_excluded: float
    p_confirmed: float


def judge(
    cases: Mapping[str, Case], sizes: tuple[int, int], confidence: float, is_slower: bool
) -> dict[str, Judged]:
    """The verdict on every hypothesis.

    sizes: trials of the slow and of the fast environment. is_slower: whether there is a slowdown to explain at all.
    """
    level = 1 - confidence
    raw = np.array([p for case in cases.values() for p in (case.p_excluded, case.p_confirmed)])
    adjusted = holm(raw).reshape(-1, 2)
    tests = int(np.isfinite(raw).sum())
    few = smallest_p(*sizes, sides=1) * tests > level
    found = {}
    for (name, case), (excluded, confirmed) in zip(cases.items(), adjusted, strict=True):
        verdict = UNDECIDED
        if (excluded <= level and not case.against_excluded) or case.is_bounded:
            verdict = EXCLUDED
        elif confirmed <= level and not case.against_confirmed and is_slower:
            verdict = CONFIRMED
        why = "" if verdict != UNDECIDED else _why(case, float(confirmed), level, few, is_slower)
        found[name] = Judged(verdict, why, float(excluded), float(confirmed))
    return found


def _why(case: Case, confirmed: float, level: float, few: bool, is_slower: bool) -> str:
    if math.isnan(case.p_excluded) and math.isnan(case.p_confirmed):
        return "unmeasured"
    if few:
        return "few"
    if case.against_confirmed:
        return case.against_confirmed
    if case.against_excluded:
        return case.against_excluded
    if math.isnan(confirmed):
        return "machine"
    if confirmed <= level and not is_slower:
        return "no_slowdown"
    if case.removal > level:
        return "not_restored"
    if case.dose > level:
        return "no_dose"
    return "open"
