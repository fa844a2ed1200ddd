"""What a study promises: its claims, and its objectives as the claim that one setting at least
meets them all."""

from collections.abc import Sequence
from typing import Any

from deadzone.study.claims import ClaimSpec
from deadzone.study.design import levels_of
from deadzone.study.levels import Level, is_number
from deadzone.study.spec import Study

OBJECTIVES = "objectives"
"""Name of the claim that a study's objectives make."""

SAYS: Any = {
    "en": "One setting at least meets all objectives.",
    "ko": "설정 하나 이상이 모든 목표를 충족합니다.",
}

RATE = "rate"
"""The load: the factor, and the field of a load test, that says how much is sent each second."""


def claims_of_study(study: Study) -> tuple[ClaimSpec, ...]:
    """Every claim of a resolved study, then that of its objectives; where the rate is searched by
    them, objectives claim nothing."""
    loads = (*study.factor_names(), RATE)
    bounds = {name: bound for name, bound in study.objectives.items() if name not in loads}
    claims = list(study.claims)
    if bounds and not study.search and all(claim.name != OBJECTIVES for claim in claims):
        claims.append(ClaimSpec(says=SAYS, name=OBJECTIVES, holds=bounds, given=_load(study)))
    return tuple(claims)


def _load(study: Study) -> dict[str, Level]:
    """The load to be borne, of the rate and of each other factor that has an objective."""
    known = levels_of(study).items()
    levels = {name: sorted(float(level) for level in of if is_number(level)) for name, of in known}
    least = {name: objective.value for name, objective in study.objectives.items()}
    asked = [
        name
        for name in levels
        if levels[name] and name != study.knob_name and name in (RATE, *least)
    ]
    return {name: judged_level(levels[name], least.get(name)) for name in asked}


def judged_level(levels: Sequence[float], least: float | None) -> float:
    """The level of a load by which a study is judged: the lowest that is enough, the highest where
    none is or none is asked for.

    levels: rising, at least one.
    """
    return next((level for level in levels if least is not None and level >= least), levels[-1])
