"""`compare`: before and after, of two runs or two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from deadzone.errors import CompareError
from deadzone.store.reference import has_reference, load_reference
from deadzone.store.tables import is_table
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
) -> Comparison:
    """Compare B with A, treatment by treatment and overall: better, worse, no change that matters,
    or undecided.

    a, b: before and after: runs, tables of trials (one row a trial), or the names of either,
    published ones too. response: column of values >= 0, or several; by default what a run's study
    measures, wall_s of tables. goal: min or max, for all, one each or by name; by default as the
    study says, else as the name of the response does. by: columns whose levels make a treatment; by
    default those found in both. threshold: a smaller change does not matter (a fraction). margin:
    within it the two are the same; the threshold by default. confidence: of intervals and verdicts,
    in (0, 1). names: of a and b.

    Raises CompareError if a column is missing or no treatment is in both, StoreError or TableError
    for what cannot be read.

    >>> import pandas as pd
    >>> before = pd.DataFrame({"threads": [1, 2] * 6, "wall_s": [8.0, 4.1, 8.1, 4.0, 8.2, 4.2] * 2})
    >>> result = compare(before, before.assign(wall_s=before["wall_s"] * 1.5), "wall_s", by="threads")
    >>> result.treatments["verdict"].tolist()
    ['worse', 'worse']
    """  # noqa: E501
    one, other = side(a), side(b)
    asked = tuple(map(str, _listed(response))) or _usual_response(one, other)
    return compare_tables(
        one.trials,
        other.trials,
        asked,
        factors=tuple(_listed(by)) or _factors_of_runs(one, other),
        goal=(goal if isinstance(goal, Mapping) else _listed(goal))
        or {each.response: each.goal for each in (other, one) if each.response in asked},
        threshold=threshold,
        margin=margin,
        confidence=confidence,
        names=names or _names(one, other),
        notes=differing_circumstances(one, other),
    )


def side(source: Comparable) -> ComparisonSide:
    """What is compared, with what its study says of it."""
    if isinstance(source, ComparisonSide):
        return source
    if isinstance(source, pd.DataFrame):
        return ComparisonSide("", source)
    if isinstance(source, Run):
        return side_of(source.study, source.trials, source.provenance, source.name)
    study, _, table = str(source).rpartition("/")
    if has_reference(study) and not is_table(source):
        return ComparisonSide(str(source), load_reference(study, table))
    return load_side(str(source), places.runs_folder())


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
    named = next((one.response for one in (a, b) if one.response), "wall_s")
    for one in (a, b):
        if named not in one.trials:
            columns = ", ".join(str(column) for column in one.trials.columns)
            raise CompareError(
                f"{one.name or 'A table'} has no column {named!r}; say what to compare with "
                f"--response: {columns}."
            )
    return (named,)
