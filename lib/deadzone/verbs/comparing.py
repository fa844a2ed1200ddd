"""`compare`: before and after, of two runs or two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from deadzone import places
from deadzone.analysis.compare.comparing import Comparison, compare_tables
from deadzone.analysis.compare.factors import changed_settings
from deadzone.analysis.compare.samples import (
    ComparisonSide,
    differing_circumstances,
    load_side,
    side_of,
)
from deadzone.analysis.compare.verdicts import THRESHOLD
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases.roles import with_index
from deadzone.errors import CompareError
from deadzone.store.reference import has_reference, load_reference
from deadzone.store.tables import is_table
from deadzone.store.wide import long_table
from deadzone.verbs.run import Run

Strings = str | Sequence[str]
Comparable = pd.DataFrame | Run | ComparisonSide | str | Path


def compare(
    a: Comparable,
    b: Comparable,
    response: Strings = (),
    goal: Strings | Mapping[str, str] = (),
    *,
    by: Strings = (),
    threshold: float = THRESHOLD,
    margin: float | None = None,
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
    default those found in both. threshold: a smaller change does not matter (a fraction). margin:
    within it the two are the same; the threshold by default. confidence: of intervals and verdicts,
    in (0, 1). names: of a and b. wide, name: the columns of the response and what they are levels
    of, as for `read_table`.

    Raises CompareError if a column is missing or no treatment is in both, StoreError or TableError
    for what cannot be read.

    >>> import pandas as pd
    >>> before = pd.DataFrame({"threads": [1, 2] * 6, "wall_s": [8.0, 4.1, 8.1, 4.0, 8.2, 4.2] * 2})
    >>> result = compare(before, before.assign(wall_s=before["wall_s"] * 1.5), "wall_s", by="threads")
    >>> result.treatments["verdict"].tolist()
    ['worse', 'worse']
    """  # noqa: E501
    before, after = (long_side(side(each), _listed(response), wide, name) for each in (a, b))
    asked = tuple(map(str, _listed(response))) or _usual_response(before, after)
    return compare_tables(
        before.trials,
        after.trials,
        asked,
        factors=tuple(_listed(by)) or _factors_of_runs(before, after),
        goal=(goal if isinstance(goal, Mapping) else _listed(goal))
        or {each.response: each.goal for each in (after, before) if each.response in asked},
        threshold=threshold,
        margin=margin,
        confidence=confidence,
        names=names or _names(before, after),
        notes=differing_circumstances(before, after),
    )


def side(source: Comparable) -> ComparisonSide:
    """What is compared, with what its study says of it."""
    if isinstance(source, ComparisonSide):
        return source
    if isinstance(source, pd.DataFrame):
        levels = [level for level in source.index.names if level is not None]
        return ComparisonSide("", with_index(source, levels))
    if isinstance(source, Run):
        return side_of(source.study, source.trials, source.provenance, source.name)
    study, _, table = str(source).rpartition("/")
    if has_reference(study) and not is_table(source):
        return ComparisonSide(str(source), load_reference(study, table))
    return load_side(str(source), places.runs_folder())


def long_side(
    side: ComparisonSide, responses: Sequence[str], wide: str, name: str
) -> ComparisonSide:
    """A side whose response is in several columns, with one row a trial."""
    if not wide:
        return side
    if len(responses) != 1:
        raise CompareError(
            f"The columns {wide!r} become one response, and {len(responses)} are named; give one "
            "name for it with --response."
        )
    return replace(side, trials=long_table(side.trials, wide, responses[0], name))


def _listed(texts: Strings) -> Sequence[str]:
    return (
        texts
        if isinstance(texts, Sequence) and not isinstance(texts, str)
        else [texts]
        if texts
        else []
    )


def _names(a: ComparisonSide, b: ComparisonSide) -> tuple[str, str]:
    return (
        (a.name or "A", b.name or "B")
        if a.name != b.name
        else (f"{a.name} A".strip(), f"{b.name} B".strip())
    )


def _factors_of_runs(a: ComparisonSide, b: ComparisonSide) -> tuple[str, ...]:
    """The factors of both studies, less what was changed between the runs; none for plain tables,
    where they are found."""
    changed = changed_settings(a.trials, b.trials, ())
    return tuple(name for name in dict.fromkeys((*a.factors, *b.factors)) if name not in changed)


def _usual_response(a: ComparisonSide, b: ComparisonSide) -> tuple[str, ...]:
    """What the study of a run measures; elapsed time in plain tables."""
    named = next((side.response for side in (a, b) if side.response), "wall_s")
    for side in (a, b):
        if named not in side.trials:
            columns = ", ".join(str(column) for column in side.trials.columns)
            raise CompareError(
                f"{side.name or 'A table'} has no column {named!r}; say what to compare with "
                f"--response: {columns}."
            )
    return (named,)
