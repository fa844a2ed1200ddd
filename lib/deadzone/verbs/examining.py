"""`examine`: what is wrong with an experiment, before anything is concluded from it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pandas as pd

from deadzone.analysis.findings.examining import examine as examined
from deadzone.analysis.phases.fit import curve_of
from deadzone.analysis.phases.roles import listed
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
    failures: str | Sequence[str] = (),
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
        seen = source.asked(**asked).experiment
    else:
        seen = source_of(source, **asked)
        model = None if seen.by else curve_of(seen.table, seen.knob, seen.response, seen.goal)
        seen = replace(seen, model=model)
    meant = {**(seen.study.accept if seen.study else {}), **(accept or {})}
    seen = replace(seen, failures=listed(failures), role=role or seen.role)
    return Findings(examined(seen, meant))
