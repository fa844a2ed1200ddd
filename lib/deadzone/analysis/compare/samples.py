"""Two tidy tables side by side: which trials count, and which treatments both of them hold.

Trials of one treatment in one block are one value, their median: repeats inside a block share its
disturbances and are no independent evidence.

Which columns make a treatment, where the caller does not say: the factors that two tables have
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
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.phases.quantities import KNOB_UNITS, listing, setting
from deadzone.analysis.trial_columns import marked, measured, well
from deadzone.errors import CompareError, check_known, option
from deadzone.language.messages import N_, _, join, say
from deadzone.store.imports.result import FIRST, MEASURED, NOTE
from deadzone.store.table import COLUMNS
from deadzone.study.direction import GOALS, kind_of, known_goal, words_of
from deadzone.study.levels import format_level, read_level
from deadzone.study.response_cells import level_names
from deadzone.study.scales import MISSING, level_name

Key = tuple[str, ...]
"""The levels of a treatment as they are written, in the order of the factors."""

LEAST_TRUSTED = 0.5
"""If fewer of the treatments than this keep a trusted trial, all trials are compared, and the
result says so."""


@dataclass(frozen=True, eq=False)
class Samples:
    """One response of both tables.

    treatments: those in both, in the order of their levels. pairs: for each the values of A and of
    B, shapes (n,) and (m,), one a block. together: for A and for B whether row i of every treatment
    is the same block. paired: whether both come from the same blocks of one run, so that row i of A
    belongs to row i of B.
    """

    treatments: tuple[Key, ...]
    pairs: tuple[tuple[np.ndarray, np.ndarray], ...]
    together: tuple[bool, bool]
    paired: bool


def analysed(
    frame: pd.DataFrame, factors: Sequence[str], name: str
) -> tuple[pd.DataFrame, list[str]]:
    """The trials that count (measured, ended well, trusted), and sentences on those that do not.

    name: of the table, for the sentences. Raises CompareError if none is left.
    """
    notes: list[str] = []
    trials = measured(frame.reset_index(drop=True))
    ended = well(trials)
    if lost := len(trials) - len(ended):
        notes.append(
            _(
                "{name}: trials left out that did not end well: {n:count} of {trials:count}. If "
                "the other table has fewer such failures, that is itself a difference.",
                name=name,
                n=lost,
                trials=len(trials),
            )
        )
    trusted = ended[marked(ended, "trusted", missing=True)]
    if doubted := len(ended) - len(trusted):
        whole, kept = (
            table.groupby(list(factors)).ngroups if factors else 1 for table in (ended, trusted)
        )
        keep = trusted.empty or kept < LEAST_TRUSTED * whole
        text = (
            N_(
                "{name}: trials not trusted, but compared, because too little is left without "
                "them: {n:count} of {trials:count}. Measure again on a quiet machine before acting."
            )
            if keep
            else N_("{name}: trials left out that are not trusted: {n:count} of {trials:count}.")
        )
        notes.append(say(text, name=name, n=doubted, trials=len(ended)))
        trusted = ended if keep else trusted
    if trusted.empty:
        raise CompareError(
            f"{name} has no trial that ended well and was no warm-up: nothing to compare."
        )
    return trusted, notes


def values_of(frame: pd.DataFrame, response: str, name: str) -> pd.Series:
    """A response as numbers, rows without one left out.

    Raises CompareError if the column is missing, holds no number, or a negative or infinite one.
    """
    known = [*map(str, frame)]
    listed = f"Name another with {option('response', 'COLUMN')}; its columns are"
    check_known(CompareError, f"{name} has no column {response!r}", response, known, listed)
    cells = frame[response]
    values = pd.to_numeric(cells, errors="coerce")
    words = cells[values.isna() & level_names(cells).ne(MISSING)]
    values = values.dropna().astype(float)
    if len(words) and len(values):
        raise CompareError(
            f"{name}: {len(words)} cells of {response!r} are no numbers, the first is "
            f"{words.iloc[0]!r}. Leave the cells of what failed empty."
        )
    if values.empty:
        raise CompareError(f"{name} has no number in the column {response!r}.")
    wrong = values[(values < 0) | np.isinf(values)]
    if len(wrong):
        raise CompareError(
            f"{name}: {response!r} is {wrong.iloc[0]:g} in data row {wrong.index[0] + 1}; a ratio "
            "of medians needs finite values of zero or more."
        )
    return values


def side_by_side(
    a: pd.DataFrame, b: pd.DataFrame, factors: Sequence[str], response: str, names: tuple[str, str]
) -> Samples:
    """One response of both tables, treatment by treatment.

    a, b: analysed trials. Raises CompareError if no treatment is in both, or a response cannot be
    compared.
    """
    in_a, in_b = (
        _values_by_block(t, factors, response, n) for t, n in zip((a, b), names, strict=True)
    )
    common = tuple(key for key in sorted(in_a, key=order_of) if key in in_b)
    if not common:
        raise CompareError(
            f"{names[0]} and {names[1]} have no treatment in common: {names[0]} has "
            f"{_some(in_a, factors)}, {names[1]} has {_some(in_b, factors)}. If that is what was "
            f"changed, name the factors to match by ({option('by')})."
        )
    shared = {key: sorted(set(in_a[key].index) & set(in_b[key].index)) for key in common}
    paired = "block" not in factors and share_blocks(a, b) and all(shared.values())
    if paired:
        in_a, in_b = ({key: side[key].loc[shared[key]] for key in common} for side in (in_a, in_b))
    pairs = tuple((in_a[key].to_numpy(float), in_b[key].to_numpy(float)) for key in common)
    first, second = (
        _has_blocks(table) and len({tuple(side[key].index) for key in common}) == 1
        for table, side in ((a, in_a), (b, in_b))
    )
    return Samples(common, pairs, (first, second), paired)


def share_blocks(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether both tables come from the blocks of one run: only then is block 1 of A the block 1 of
    B."""
    if not all(_has_blocks(table) and "run_id" in table for table in (a, b)):
        return False
    runs = {*a["run_id"].dropna(), *b["run_id"].dropna()}
    return len(runs) == 1 and bool(set(a["block"]) & set(b["block"]))


def treatments_of(frame: pd.DataFrame, factors: Sequence[str]) -> list[Key]:
    """All treatments of a table, in the order of their levels; one without factors."""
    return sorted(set(_keys(frame, factors)), key=order_of)


def order_of(key: Key) -> tuple[tuple[int, float, str], ...]:
    """Sorts numbers by their value, and words after them."""
    return tuple(
        (1, 0.0, level) if isinstance(level, str) else (0, level, "")
        for level in map(read_level, key)
    )


def in_words(key: Key, factors: Sequence[str]) -> str:
    """A treatment in words: `2 cores, threads 4`."""
    if not factors:
        return _("all trials")
    return join([*map(setting, map(read_level, key), factors)], ", ")


def _values_by_block(
    frame: pd.DataFrame, factors: Sequence[str], response: str, name: str
) -> dict[Key, pd.Series]:
    values = values_of(frame, response, name)
    rows = frame.loc[values.index]
    are_rounds = _has_blocks(rows) and "block" not in factors  # else it is a size
    blocks = rows["block"].to_numpy() if are_rounds else np.arange(len(rows))
    places, keys = pd.factorize(pd.Index(_keys(rows, factors), tupleize_cols=False))
    medians = pd.Series(values.to_numpy()).groupby([places, blocks]).median()
    return {key: medians.loc[i] for i, key in enumerate(keys)}


def _keys(frame: pd.DataFrame, factors: Sequence[str]) -> list[Key]:
    columns = [[_written(level) for level in frame[factor]] for factor in factors]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)


def _written(level: object) -> str:
    """A level as text, the same for 4, 4.0 and "4"."""
    return format_level(read_level(level_name(level))) or "-"


def _has_blocks(frame: pd.DataFrame) -> bool:
    return "block" in frame and bool(frame["block"].notna().all())


def _some(samples: dict[Key, pd.Series], factors: Sequence[str]) -> str:
    return listing([in_words(key, factors) for key in sorted(samples, key=order_of)])


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
        if not is_measured(column) and (column in KNOB_UNITS or min(len(a), len(b)) > 1):
            first, other = (treatments_of(table, [column]) for table in (a, b))
            if len(first) == len(other) == 1 and first != other:
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
        check_known(CompareError, f"{name} has no column {factor!r}", factor, [*map(str, table)])
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
                f"{len(responses)} responses have {len(each)} goals; give one, or one each."
            )
        given = dict(zip(responses, each, strict=False))
    for goal in given.values():
        check_known(CompareError, f"The goal is {goal!r}; it must be 'min' or 'max'", goal, GOALS)
    return {response: given.get(response) or known_goal(response) for response in responses}
