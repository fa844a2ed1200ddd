"""Arithmetic over published tables, written as text in the files beside them.

A formula is Python's arithmetic and comparisons over the columns of a table, numbers, texts, and the functions in
FUNCTIONS; whatever else Python knows is refused before anything of it runs. `value("totals", "cpu_s", profile="baseline")` is the one cell of a row,
`column(...)` all cells that keys and `where` leave, `lookup(...)` a cell for each row at hand, whose keys are columns.
"""

import ast
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import TableError, did_you_mean
from deadzone.explaining.phases.quantities import number, percent
from deadzone.language.catalogue import say
from deadzone.language.numbers import printed, tenths
from deadzone.reports.published.reference import load_reference

ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop, ast.IfExp,
    ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.keyword,
)  # fmt: skip
"""What a formula may be made of: no attribute, index, lambda or comprehension, by which Python gets out of arithmetic."""


class Formulas:
    """Evaluates formulas over the tables of one published study. names: further values, by name."""

    def __init__(self, study: str, names: Mapping[str, Any] | None = None) -> None:
        self._study = study
        self._names = dict(names or {})
        self._functions = {
            **FUNCTIONS, "column": self._column, "value": self._value_of, "lookup": self._lookup,
        }  # fmt: skip

    def evaluate(self, text: str, frame: pd.DataFrame | None = None) -> Any:
        """The value of a formula; of columns, shape (rows of the frame,).

        Raises TableError if it cannot be read, names what there is not, or finds no row or several where one is needed.
        """
        try:
            tree = ast.parse(str(text).strip(), mode="eval")
        except SyntaxError as error:
            raise TableError(f"{self._study}: the formula {text!r} cannot be read: {error.msg}.") from None
        columns = {} if frame is None else {str(name): frame[name] for name in frame}
        names: dict[str, Any] = {**self._names, **columns}
        called: set[ast.Name] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name() as function):
                    called.add(function)
                    self._check("calls", function.id, self._functions, text)
                    function.id += "()"  # a function and a figure may have one name
                case ast.Name() if node not in called:
                    self._check("names", node.id, names, text)
                case _ if not isinstance(node, ALLOWED):
                    raise TableError(
                        f"{self._study}: the formula {text!r} contains {ast.unparse(node)!r}, which no formula may."
                    )
        functions = {f"{name}()": function for name, function in self._functions.items()}
        with np.errstate(all="ignore"):
            return eval(compile(tree, "formula", "eval"), {"__builtins__": {}}, {**names, **functions})

    def _check(self, does: str, name: str, known: Mapping[str, Any], text: str) -> None:
        if name not in known:
            raise TableError(
                f"{self._study}: the formula {text!r} {does} {name!r}.{did_you_mean(name, known)}"
            )

    def _column(self, table: str, formula: str, where: str = "", **keys: Any) -> pd.Series:
        rows = load_reference(self._study, table)
        for key, wanted in keys.items():
            rows = rows[rows[key] == wanted]
        if where:
            rows = rows[self.evaluate(where, rows).astype(bool)]
        found: pd.Series = self.evaluate(formula, rows)
        return found

    def _value_of(self, table: str, formula: str, **keys: Any) -> Any:
        found = self._column(table, formula, **keys)
        if len(found) != 1:
            raise TableError(f"{self._study}/{table} has {len(found)} rows with {keys}; one is needed.")
        return found.iloc[0]

    def _lookup(self, table: str, formula: str, **keys: Any) -> pd.Series:
        there = load_reference(self._study, table)
        index = next(one.index for one in keys.values() if isinstance(one, pd.Series))
        wanted = pd.DataFrame({key: pd.Series(value, index=index) for key, value in keys.items()})
        known = dict(
            zip(map(tuple, there[list(keys)].to_numpy().tolist()), self.evaluate(formula, there), strict=True)
        )
        return pd.Series([known.get(tuple(row), np.nan) for row in wanted.to_numpy().tolist()], index=index)


def _choose(of: pd.Series, *cases: Any) -> pd.Series:
    """By the text of each row: key, value, key, value, ..., and at last the value of all others."""
    found = pd.Series(cases[-1] if len(cases) % 2 else np.nan, index=of.index, dtype=float)
    for key, value in zip(cases[::2], cases[1::2], strict=False):
        found[of == key] = value[of == key] if isinstance(value, pd.Series) else value
    return found


def _minutes(clock: str) -> float:
    return (datetime.strptime(clock, "%H:%M:%S") - datetime(1900, 1, 1)).total_seconds() / 60


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": lambda of: of.min(),
    "max": lambda of: of.max(),
    "mean": lambda of: of.mean(),
    "sum": lambda of: of.sum(),
    "distinct": lambda of: of.nunique(),
    "first": lambda of: of.iloc[0],
    "last": lambda of: of.iloc[-1],
    "where": lambda condition, one, other: pd.Series(np.where(condition, one, other), index=condition.index),
    "choose": _choose,
    "minutes": _minutes,
    "ln": np.log,
    "abs": abs,
    "round": round,
    "number": number,
    "printed": printed,
    "tenths": tenths,
    "percent": percent,
    "said": say,
    "fixed": lambda value, decimals: f"{value:,.{decimals}f}",
    "missing": pd.isna,
    "nan": lambda: np.nan,
}
"""What a formula may call beside `column`, `value` and `lookup`."""
