"""The cells of a search: one level of each knob, those that constraints and conditions allow."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.cost_expression import parse_cost
from deadzone.analysis.phases.roles import of_levels
from deadzone.errors import PhaseError
from deadzone.plugins import check_known, is_number
from deadzone.study.response_cells import level_names
from deadzone.study.scales import level_name

MOST_CELLS = 10_000
"""Of a larger space so many cells are drawn at random; a search of a hundred trials learns no more
from more of them."""

DRAWS = 40
"""Times as many are drawn, of which constraints may leave few."""

COMPARISONS = {
    ast.LtE: operator.le, ast.Lt: operator.lt, ast.GtE: operator.ge, ast.Gt: operator.gt,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
"""Of the two sides of a constraint."""

LOGARITHMIC = 8
"""Positive levels that span so many times their smallest are spaced by their logarithms."""


@dataclass(frozen=True, eq=False)
class Space:
    """Cells to choose from. cells: one row each, a column a knob. x: shape (cells, columns), as the
    model sees them: a number from 0 to 1, of words a column each. of: the knob of each column.
    given: the levels of each knob. allowed: of cells that they make, those that may be."""

    cells: pd.DataFrame
    x: np.ndarray
    of: tuple[str, ...]
    given: Mapping[str, Sequence[Any]]
    allowed: Callable[[pd.DataFrame], pd.DataFrame]

    @property
    def knobs(self) -> list[str]:
        """Their names."""
        return [*map(str, self.cells)]

    def levels(self, knob: str) -> list[Any]:
        """Those of a knob in the cells, numbers in their order."""
        there = [*dict.fromkeys(self.cells[knob])]
        return sorted(there) if all(map(is_number, there)) else there

    def rows_of(self, frame: pd.DataFrame) -> np.ndarray:
        """Which cell each row is, shape (rows,); -1 for one that is none."""
        names = {cell: i for i, cell in enumerate(names_of(self.cells))}
        return np.array([names.get(cell, -1) for cell in names_of(frame[self.knobs])], dtype=int)

    def line(self, knob: str, through: int) -> pd.DataFrame:
        """The cells that differ from one in a knob alone, those that were not drawn among them."""
        here = self.cells.iloc[[through]]
        levels = self.given[knob]
        whole = here.loc[here.index.repeat(len(levels))].assign(
            **{knob: pd.Series(levels, dtype=object).to_numpy()}
        )
        line = self.allowed(whole).drop_duplicates(knob)
        return line[line.drop(columns=knob).eq(here.drop(columns=knob).iloc[0]).all(axis=1)]

    def named(self, cell: int) -> str:
        """A cell in words: `workers = 8, codec = zstd`."""
        return of_levels(self.knobs, self.cells.iloc[cell].tolist())


def space_of(
    factors: Mapping[str, Sequence[Any]] | pd.DataFrame,
    baseline: Mapping[str, Any] | None,
    where: str | None,
    when: Mapping[str, Mapping[str, Any]] | None,
    seed: int,
) -> tuple[Space, int]:
    """The space, and which of its cells is the baseline.

    factors: the levels of each knob, or the cells themselves, one a row. baseline: a level of each
    knob; by default the first of each. where: what a cell must meet, such as `workers * memory_mb
    <= 8192`. when: levels of other knobs without which a knob has no effect, by knob; elsewhere it
    stays at its baseline.

    Raises PhaseError for a knob with one level, a baseline outside the levels, a condition on what
    is no level, and constraints that leave too few cells.
    """
    if not isinstance(factors, Mapping | pd.DataFrame):
        raise PhaseError('Give each knob its levels, such as factors={"threads": [1, 2, 4]}.')
    levels = {
        str(name): [*dict.fromkeys(pd.Series([*values]).tolist())]
        for name, values in factors.items()
    }
    for name, values in levels.items():
        if len(values) < 2:
            raise PhaseError(
                f"factors.{name} has one level; a knob that is searched has two or more. Leave it "
                f"out of `factors`, or add a level."
            )
    if "stage" in levels:
        raise PhaseError("factors.stage has the name of a column of `ask`; rename it.")
    if len(levels) < 2:
        raise PhaseError("A search takes two knobs or more: name another in `factors`.")
    for name in baseline or {}:
        check_known(PhaseError, f"baseline names {name!r}", name, levels, "Knobs are")
    given = {name: (baseline or {}).get(name, values[0]) for name, values in levels.items()}
    start = {
        name: _level_among(f"baseline.{name}", level, levels[name], "it")
        for name, level in given.items()
    }
    conditions = _conditions(when or {}, levels)
    first = pd.DataFrame([start], dtype=object)
    if _kept(first, start, where, conditions).empty:
        raise PhaseError(f"baseline does not meet `where: {where}`; give one that does.")
    allowed = partial(_kept, start=start, where=where, conditions=conditions)
    if isinstance(factors, pd.DataFrame):
        drawn = factors.rename(columns=str)[[*levels]].astype(object)
    else:
        drawn = pd.concat([first, _product(levels, seed)])
    cells = allowed(drawn)
    cells = cells.loc[~pd.Series(names_of(cells)).duplicated().to_numpy()].reset_index(drop=True)
    if not isinstance(factors, pd.DataFrame):
        cells = cells.head(MOST_CELLS)  # the baseline is the first
    if len(cells) < len(levels) + 2:
        raise PhaseError(
            f"where and when leave {len(cells)} of {math.prod(map(len, levels.values()))} cells, "
            f"too few to tell {len(levels)} knobs apart. Widen `where`."
        )
    for name in levels:
        if cells[name].nunique() < 2:
            raise PhaseError(
                f"where and when leave {name} one level. Leave it out of `factors`, or widen "
                "`where`."
            )
    if isinstance(factors, pd.DataFrame):
        allowed = partial(_among, names={*names_of(cells)})
    space = Space(cells, *_encoded(cells), levels, allowed)
    at = int(space.rows_of(first)[0])
    if at < 0:
        raise PhaseError("baseline is not one of the cells; give one that is, `baseline={...}`.")
    return space, at


def _among(some: pd.DataFrame, names: set[tuple[str, ...]]) -> pd.DataFrame:
    return some[[name in names for name in names_of(some)]]


def _conditions(
    when: Mapping[str, Mapping[str, Any]], levels: Mapping[str, Sequence[Any]]
) -> dict[str, dict[str, list[Any]]]:
    conditions: dict[str, dict[str, list[Any]]] = {}
    for name, needs in when.items():
        check_known(PhaseError, f"when names {name!r}", name, levels, "Knobs are")
        for other, wanted in needs.items():
            known = [knob for knob in levels if knob != name]
            check_known(PhaseError, f"when.{name} names {other!r}", other, known, "Knobs are")
            some = [*wanted] if isinstance(wanted, list | tuple | set) else [wanted]
            conditions.setdefault(name, {})[other] = [
                _level_among(f"when.{name}.{other}", level, levels[other], other) for level in some
            ]
    return conditions


def _level_among(where: str, level: Any, levels: Sequence[Any], knob: str) -> Any:
    """The level of that name. Raises PhaseError where there is none. where: it is written."""
    known = {level_name(one): one for one in levels}
    sentence = f"{where} is {level!r}, which is no level of {knob}"
    check_known(PhaseError, sentence, level_name(level), [*known], "Its levels are")
    return known[level_name(level)]


def _product(levels: Mapping[str, Sequence[Any]], seed: int) -> pd.DataFrame:
    """All cells, or where they are too many some of them."""
    sizes = [len(values) for values in levels.values()]
    rng = np.random.default_rng(seed)
    if math.prod(sizes) <= MOST_CELLS:
        places = np.indices(sizes).reshape(len(sizes), -1)
    else:
        places = np.array([rng.integers(0, size, DRAWS * MOST_CELLS) for size in sizes])
    columns = zip(levels.items(), places, strict=True)
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=object).iloc[at].to_numpy()
            for (name, values), at in columns
        }
    )


def _kept(
    cells: pd.DataFrame,
    start: Mapping[str, Any],
    where: str | None,
    conditions: Mapping[str, Mapping[str, Sequence[Any]]],
) -> pd.DataFrame:
    """The cells that are allowed; a knob without effect is at its baseline."""
    cells = cells.copy()
    for name, needs in [*conditions.items()] * len(conditions):  # one may rest on another
        has_effect = np.logical_and.reduce(
            [cells[other].isin(levels) for other, levels in needs.items()]
        )
        cells.loc[~has_effect, name] = start[name]
    if where:
        cells = cells[_meets(cells, where)]
    return cells


def _meets(cells: pd.DataFrame, where: str) -> np.ndarray:
    """Which cells meet a constraint, comparisons of arithmetic joined by `and`, shape (cells,)."""
    try:
        tree = ast.parse(where.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PhaseError(f"where: {where!r} cannot be read: {error}.") from None
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    met = np.ones(len(cells), dtype=bool)
    numbers = {
        name: cells[name].to_numpy(float) for name in map(str, cells)
        if all(map(is_number, cells[name]))
    }  # fmt: skip
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in named - {*numbers} - called:
        said = f"where: {name!r} is no knob of numbers (words are conditions of `when`)"
        check_known(PhaseError, said, name, numbers, "Those are" if numbers else "")
    for part in parts:
        if not isinstance(part, ast.Compare) or not all(type(op) in COMPARISONS for op in part.ops):
            raise PhaseError(
                f"where: {ast.unparse(part)!r} is no comparison; write for example `workers * "
                "memory_mb <= 8192`, several joined by `and`. Words are conditions of `when`."
            )
        sides = [part.left, *part.comparators]
        for left, op, right in zip(sides, part.ops, sides[1:], strict=False):
            over = parse_cost(f"({ast.unparse(left)}) - ({ast.unparse(right)})")(numbers)
            met &= COMPARISONS[type(op)](over, 0)
    return met


def _encoded(cells: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...]]:
    columns, of = [], []
    for name in map(str, cells):
        values = cells[name]
        if all(map(is_number, values)):
            number = values.to_numpy(float)
            if number.min() > 0 and number.max() >= LOGARITHMIC * number.min():
                number = np.log(number)
            columns.append((number - number.min()) / max(float(np.ptp(number)), 1e-12))
            of.append(name)
            continue
        for word in dict.fromkeys(values):
            # two words are as far apart as the ends of a range
            columns.append(values.eq(word).to_numpy(float) / math.sqrt(2))
            of.append(name)
    return np.column_stack(columns), tuple(of)


def names_of(cells: pd.DataFrame) -> list[tuple[str, ...]]:
    """Each cell as texts, in which 8 and 8.0 are one level."""
    return [*zip(*(level_names(cells[name]) for name in cells), strict=True)]
