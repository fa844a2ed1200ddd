"""`judge`: what was claimed, held against the trials."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from deadzone.analysis.claims.judging import judge as judged
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.trial_columns import counted, well
from deadzone.errors import PhaseError
from deadzone.report.sweep.claims import judge_run
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.claims import check_claims
from deadzone.study.factors import sized_level
from deadzone.study.levels import Level
from deadzone.study.scales import levels_in, without_remark, without_remarks
from deadzone.verbs.examining import Rows
from deadzone.verbs.run import Run, source_of

Claim = str | Mapping[str, object]


class JudgedClaims(Rows):
    """The verdicts on claims, in their order: name, claim, verdict, found (what the trials say),
    confidence."""

    columns = ("name", "claim", "verdict", "found", "confidence")
    line, none = "{one.verdict}: {one.claim} {one.found}", "No claims."


def judge(
    claims: Claim | Sequence[Claim] | Run,
    frame: pd.DataFrame | Run | None = None,
    knob: str = "",
    response: str = "",
    goal: str = "",
    *,
    by: str | Sequence[str] = (),
    confidence: float = CONFIDENCE,
) -> JudgedClaims:
    """The verdict on every claim: supported, partly, undecided, contradicted, not_measured.

    claims: sentences such as "threads 4 at least 2x faster than threads 1", or mappings as a study
    has them. frame: trials, one row each, or a run; rows that failed, are not trusted or were for
    warm-up are left out. A run in place of claims is judged by what its study promises: claims and
    objectives, with those that were added later. knob, response, goal, by: as for
    `fit_phases`; by default those of the run's study. confidence: that none of the verdicts is
    wrong.

    Raises StudyError for a claim that the trials cannot test, PhaseError for a column that is not
    there.

    >>> import pandas as pd
    >>> trials = pd.DataFrame({"threads": [1, 2] * 5, "wall_s": [8.0, 4.1, 8.1, 4.0, 8.2, 4.2, 8.0, 4.1, 8.1, 4.0]})
    >>> [one.verdict for one in judge("threads 2 at least 1.5x faster than threads 1", trials, "threads", "wall_s")]
    ['supported']
    """  # noqa: E501
    if isinstance(claims, Run):
        if frame is not None:
            raise PhaseError("The claims come first: `judge(claims, run)`.")
        source = source_of(claims, knob=knob, response=response, goal=goal, by=by)
        return JudgedClaims(judge_run(source, confidence=confidence))
    if frame is None:
        raise PhaseError(
            "Name the trials to judge the claims by: judge(claims, frame, knob, response)."
        )
    source = source_of(frame, knob=knob, response=response, goal=goal, by=by)
    factors, sound = (source.knob, *source.by), well(counted(source.trials))
    sound = sound.assign(**{name: sound[name].map(partial(sized_level, name)) for name in factors})
    plain = {name: without_remarks(sound[name]) for name in factors}
    remarks = {name: names for name, names in plain.items() if names}
    sound = sound.astype(dict.fromkeys(remarks, object)).replace(remarks)
    levels = {name: levels_in(sound[name]) for name in factors}
    measured = Measured(sound, source.response, source.goal, source.knob, levels)
    names = {name: level for own in plain.values() for name, level in own.items()}
    names |= {without_remark(name): level for name, level in names.items()}
    several = [claims] if isinstance(claims, str | Mapping) else claims
    parsed = [parse_claim(_without_remarks(claim, names)) for claim in several]
    check_claims(parsed, measured.factors, source.knob, [*map(str, source.trials)])
    return JudgedClaims(judged(parsed, measured, confidence))


def _without_remarks(part: Any, plain: Mapping[str, Level]) -> Any:
    """A claim, or a part of it, in which levels stand without their remarks."""
    if isinstance(part, Mapping):
        return {name: _without_remarks(value, plain) for name, value in part.items()}
    return plain.get(part, part) if isinstance(part, str) else part
