"""`examine`: what is wrong with an experiment, before anything is concluded from it.

`judge`: what was claimed, held against the trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pandas as pd

from deadzone.analysis.claims.judging import judge as judged
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.findings.examining import examine as examined
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases.fit import curve_of
from deadzone.analysis.phases.roles import check_column
from deadzone.analysis.trial_columns import counted, well
from deadzone.errors import PhaseError
from deadzone.report.sweep.claims import judge_run
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.claims import check_claims
from deadzone.study.scales import levels_in
from deadzone.verbs.run import Run, source_of


class Rows(tuple[Any, ...]):
    """Results, one a row of their table."""

    columns: ClassVar[tuple[str, ...]]
    line: ClassVar[str]
    none: ClassVar[str]

    def summary(self) -> pd.DataFrame:
        """One row each, with the columns of `columns`."""
        rows = [[getattr(one, column) for column in self.columns] for one in self]
        return pd.DataFrame(rows, columns=[*self.columns])

    def __repr__(self) -> str:
        return "\n".join(self.line.format(one=one) for one in self) or self.none

    def _repr_html_(self) -> str:
        return str(self.summary().to_html(index=False)) if self else f"<p>{self.none}</p>"


class Findings(Rows):
    """Findings about an experiment, the gravest first: key, severity (stops, doubts or notes),
    seen, mend (what to change), levels, confidence."""

    columns = ("key", "severity", "seen", "mend", "levels", "confidence")
    line, none = "{one.severity}: {one.sentence}", "Nothing was found."


def examine(
    source: pd.DataFrame | Run,
    knob: str = "",
    response: str = "",
    goal: str = "",
    *,
    by: str | Sequence[str] = (),
    failures: Sequence[str] = (),
    role: str = "",
    accept: Mapping[str, str] | None = None,
) -> Findings:
    """The findings about an experiment, the gravest first; none where nothing is found.

    source: a run, or a table with every attempt, one row each. knob, response, goal: as for
    `fit_phases`; by default those of the run's study. by: the other factors. failures: columns that
    count failures, or hold their share. role: of the knob, `setting` or `work_size`. accept:
    reasons for findings that are meant, by key; these become notes.

    All tests together give a finding by chance in 2 % of sound experiments at most (Holm 1979).
    While one has the severity `stops`, `recommend()` and `Verdict` give no setting, unless asked
    for `anyway`.

    Raises PhaseError for a column that is not there.

    >>> import pandas as pd
    >>> trials = pd.DataFrame({"threads": [1, 2, 4, 8] * 6, "status": ["ok", "ok", "ok", "failed"] * 6})
    >>> trials["wall_s"] = 8 / trials["threads"] + trials.index / 100
    >>> [(found.key, found.levels) for found in examine(trials, "threads", "wall_s")]
    [('failures_by_level', (8,))]
    """  # noqa: E501
    asked: Any = {"knob": knob, "response": response, "goal": goal, "by": by}
    if isinstance(source, Run):
        source_of(source, **asked)  # refuses what is no column
        seen = source.asked(**asked).experiment
    else:
        seen = source_of(source, **asked)
        model = None if seen.by else curve_of(seen.table, seen.knob, seen.response, seen.goal)
        seen = replace(seen, model=model)
    for column in failures:
        check_column(seen.table, column)
    meant = {**(seen.study.accept if seen.study else {}), **(accept or {})}
    seen = replace(seen, failures=tuple(failures), role=role or seen.role)
    return Findings(examined(seen, meant))


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
    """The verdict on every claim: supported, contradicted, undecided, or not_testable.

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
        return JudgedClaims(judge_run(claims.source))
    if frame is None:
        raise PhaseError(
            "Name the trials that the claims are held against: judge(claims, frame, knob, "
            "response)."
        )
    source = source_of(frame, knob=knob, response=response, goal=goal, by=by)
    sound = well(counted(source.trials))
    levels = {name: levels_in(sound[name]) for name in (source.knob, *source.by)}
    measured = Measured(sound, source.response, source.goal, source.knob, levels)
    several = [claims] if isinstance(claims, str | Mapping) else claims
    parsed = list(map(parse_claim, several))
    check_claims(parsed, measured.factors, source.knob, [*map(str, source.trials)])
    return JudgedClaims(judged(parsed, measured, confidence))
