"""Which columns make a treatment, where the caller does not say: the factors that two tables have
in common.

A column is taken for a factor when it stands in both tables, is no part of a trial's identity and
no measured quantity, and repeats its values: from one table to the other, or inside each. A
measured quantity rarely repeats a value; a setting always does. A knob of a known name is a factor
even if its levels differ altogether: throwing unlike treatments together would be worse than
finding nothing in common. A column with one level in A and another in B is what was changed between
them: it is no factor, and the result names it.

Which way a response is better is read from its name, too, where it is not given.
"""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from deadzone.analysis.compare.samples import treatments_of
from deadzone.analysis.phases.quantities import KNOB_UNITS
from deadzone.errors import CompareError, check_known, did_you_mean
from deadzone.store.imports.columns import FIRST, MEASURED, NOTE
from deadzone.store.table import COLUMNS
from deadzone.study.direction import GOALS, kind_of, known_goal, words_of

NOT_FACTORS = {*COLUMNS, *FIRST, *MEASURED, NOTE}
"""Columns that every run or imported table may have and that are no settings."""

ALIKE = 0.5
"""Share of a column's values that must stand in both tables for it to be a factor: levels may be
added or left out between two runs, but not most of them."""

REPEATED = 0.5
"""Or else its values are at most half as many as the rows of each table: on average each stands
there twice."""


def common_factors(
    a: pd.DataFrame,
    b: pd.DataFrame,
    stated: Sequence[str],
    responses: Collection[str],
    names: tuple[str, str],
) -> tuple[str, ...]:
    """The factors by which trials are matched: the stated ones, or those found.

    Raises CompareError if a stated one is missing, or a factor of one table varies there and is
    missing in the other.
    """
    for factor in stated:
        for table, other, name in ((a, b, names[0]), (b, a, names[1])):
            if factor not in table:
                _refuse_pooling(factor, other, name, table)
    if stated:
        return tuple(factor for factor in stated if factor in a and factor in b)
    return tuple(column for column in _common_columns(a, b, responses) if _is_factor(a, b, column))


def changed_settings(
    a: pd.DataFrame, b: pd.DataFrame, responses: Collection[str]
) -> dict[str, tuple[str, str]]:
    """What was changed between the tables: columns with one level in A and another in B, with both
    levels.

    Measured quantities are none of them, nor is what two single trials happen to differ in.
    """
    changed = {}
    for column in _common_columns(a, b, responses):
        if is_measured(column):
            continue
        first, other = (treatments_of(table, [column]) for table in (a, b))
        is_setting = column in KNOB_UNITS or min(len(a), len(b)) > 1
        if is_setting and len(first) == len(other) == 1 and first != other:
            changed[column] = first[0][0], other[0][0]
    return changed


def _common_columns(a: pd.DataFrame, b: pd.DataFrame, responses: Collection[str]) -> list[str]:
    """Columns of both tables that may be settings."""
    return [
        str(name) for name in a if name in b and name not in NOT_FACTORS and name not in responses
    ]


def _refuse_pooling(factor: str, other: pd.DataFrame, name: str, table: pd.DataFrame) -> None:
    """A factor that one table lacks is fine only if the other holds it constant."""
    if factor not in other:
        known = [str(column) for column in table.columns]
        raise CompareError(f"{name} has no column {factor!r}.{did_you_mean(factor, known)}")
    if len(treatments_of(other, [factor])) > 1:
        raise CompareError(
            f"{name} has no column {factor!r}, which has several levels in the other; keep one of "
            "them there, so that unlike treatments are not thrown together."
        )


def _is_factor(a: pd.DataFrame, b: pd.DataFrame, column: str) -> bool:
    if column not in KNOB_UNITS and is_measured(column):
        return False
    first, other = (set(treatments_of(table, [column])) for table in (a, b))
    if len(first) == len(other) == 1:
        return False
    alike = len(first & other) >= ALIKE * min(len(first), len(other))
    repeated = all(
        len(levels) <= REPEATED * len(table) for levels, table in ((first, a), (other, b))
    )
    return column in KNOB_UNITS or alike or repeated


def is_measured(column: str) -> bool:
    """Whether the name of a column is that of what is measured, and of no setting."""
    return kind_of(column) in ("time", "rate", "cost", "wrong") and "limit" not in words_of(column)


def goals_of(
    responses: Sequence[str], stated: str | Sequence[str] | Mapping[str, str] | None
) -> dict[str, str | None]:
    """The goal of each response; None where neither the caller nor the name says it.

    stated: one goal for all, one each in the same order, or by name for some of them.

    Raises CompareError for a goal that is neither min nor max, or for a wrong number of them.
    """
    if isinstance(stated, Mapping):
        given = dict(stated)
    else:
        each = [stated] if isinstance(stated, str) else list(stated or ())
        each *= len(responses) if len(each) == 1 else 1
        if each and len(each) != len(responses):
            raise CompareError(
                f"There are {len(responses)} responses and {len(each)} goals; give one, or one "
                "each."
            )
        given = dict(zip(responses, each, strict=False))
    for goal in given.values():
        check_known(CompareError, f"The goal is {goal!r}; it must be 'min' or 'max'", goal, GOALS)
    return {response: given.get(response) or known_goal(response) for response in responses}
