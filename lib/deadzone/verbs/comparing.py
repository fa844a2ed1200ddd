"""`compare`: before and after, of two runs or two tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone.analysis.compare.comparing import compare_tables
from deadzone.analysis.compare.page import Comparison
from deadzone.analysis.compare.ratio import THRESHOLD
from deadzone.analysis.compare.samples import changed_settings
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases.roles import check_frame, listed, with_index
from deadzone.errors import CompareError, option, resume_option
from deadzone.store.reference import has_reference, load_reference
from deadzone.store.tables import is_file_of_table, long_table, read_table
from deadzone.verbs.run import Run, load_run

Strings = str | Sequence[str]
Comparable = pd.DataFrame | Run | str | Path

CIRCUMSTANCES = (
    "host", "cpu_model", "cores_usable", "memory_bytes", "kernel", "frequency_governor",
    "limits_mechanism",
)  # fmt: skip
"""Entries of a run's provenance that move its numbers without being what was changed on purpose."""


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the two tables, with what its study says of it.

    factors, response, goal: of a run's study; empty for a plain table. circumstances: of a run's
    provenance.
    """

    name: str
    trials: pd.DataFrame
    factors: tuple[str, ...] = ()
    response: str = ""
    goal: str = ""
    circumstances: Mapping[str, Any] = field(default_factory=dict)


def compare(
    a: Comparable,
    b: Comparable,
    response: Strings = (),
    goal: Strings | Mapping[str, str] = (),
    *,
    by: Strings = (),
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
    names: tuple[str, str] | None = None,
    wide: str = "",
    name: str = "",
) -> Comparison:
    """Compare B with A, treatment by treatment and overall: better, worse, no change that matters,
    or undecided.

    a, b: before and after: runs, tables of trials (one row a trial), or the names of either,
    published ones too. response: column of values >= 0, or several; by default what a run's study
    measures, wall_s of tables. goal: min or max, for all, one each or by name; by default as the
    study says, else as the name of the response does. by: columns whose levels make a treatment; by
    default those found in both. threshold: a smaller change does not matter (a fraction).
    confidence: of intervals and verdicts, in (0, 1). names: of a and b. wide, name: the columns of
    the response and what they are levels of, as for `read_table`.

    Raises CompareError if a column is missing or no treatment is in both, StoreError or TableError
    for what cannot be read.

    >>> import pandas as pd
    >>> before = pd.DataFrame({"threads": [1, 2] * 6, "wall_s": [8.0, 4.1, 8.1, 4.0, 8.2, 4.2] * 2})
    >>> result = compare(before, before.assign(wall_s=before["wall_s"] * 1.5), "wall_s", by="threads")
    >>> result.treatments["verdict"].tolist()
    ['worse', 'worse']
    """  # noqa: E501
    responses, factors = ([str(name) for name in listed(names)] for names in (response, by))
    before, after = (_side(source, responses, wide, name) for source in (a, b))
    asked = responses or [before.response or after.response or "wall_s"]
    stated = {side.response: side.goal for side in (after, before) if side.response in asked}
    return compare_tables(
        before.trials,
        after.trials,
        asked,
        factors=factors or _factors_of_runs(before, after),
        goal=goal or stated,
        threshold=threshold,
        confidence=confidence,
        names=names or _names(before, after),
        differences=_differing_circumstances(before, after),
    )


def _side(source: Comparable, responses: Sequence[str], wide: str, name: str) -> _Side:
    """What is compared, with what its study says of it; a response in several columns with one row
    a trial."""
    side = _side_of(source)
    if wide and len(responses) != 1:
        raise CompareError(
            f"Columns {wide!r} become one response: name it with {option('response')}."
        )
    return _Side(side.name, long_table(side.trials, wide, responses[0], name)) if wide else side


def _side_of(source: Comparable) -> _Side:
    if not isinstance(source, Run | str | Path):
        check_frame(source, CompareError)
        levels = [level for level in source.index.names if level is not None]
        return _Side("", with_index(source, levels).rename(columns=str))
    if isinstance(source, str | Path):
        if is_file_of_table(source):
            return _Side(Path(source).name, read_table(Path(source)))
        published, _, table = str(source).rpartition("/")
        if has_reference(published):
            return _Side(str(source), load_reference(published, table))
        source = load_run(source)
    if source.trials.empty:
        source.stored.check_not_pruned()
        run_id = source.stored.run_id
        raise CompareError(f"Run {run_id} has no trials yet: use {resume_option(run_id)}.")
    own = (source.knob, *source.by) if source.is_table else source.study.factor_names()
    return _Side(
        name=source.name,
        trials=source.trials,
        factors=tuple(own),
        response=source.response,
        goal=source.goal,
        circumstances=source.provenance,
    )


def _differing_circumstances(a: _Side, b: _Side) -> dict[str, tuple[str, str]]:
    """The circumstances that both runs recorded and that differ."""
    both = {name: (a.circumstances.get(name), b.circumstances.get(name)) for name in CIRCUMSTANCES}
    return {
        name: (str(before), str(after))
        for name, (before, after) in both.items()
        if None not in (before, after) and before != after
    }


def _names(a: _Side, b: _Side) -> tuple[str, str]:
    if a.name != b.name:
        return a.name or "A", b.name or "B"
    return f"{a.name} A".strip(), f"{b.name} B".strip()


def _factors_of_runs(a: _Side, b: _Side) -> tuple[str, ...]:
    """The factors of both studies, less what was changed between the runs; none for plain tables,
    where they are found."""
    changed = changed_settings(a.trials, b.trials, ())
    return tuple(name for name in dict.fromkeys((*a.factors, *b.factors)) if name not in changed)
