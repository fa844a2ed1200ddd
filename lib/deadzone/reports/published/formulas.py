"""Arithmetic over published tables, written as text in the files beside them.

A formula is Python's arithmetic and comparisons over the columns of a table, numbers, texts, and the functions in
FUNCTIONS; nothing in it is ever executed. `value("totals", "cpu_s", profile="baseline")` is the one cell of a row,
`column(...)` all cells that keys and `where` leave, `lookup(...)` a cell for each row at hand, whose keys are columns.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Self

import numpy as np
import pandas as pd

from deadzone.errors import TableError, did_you_mean
from deadzone.explaining.phases.quantities import number, percent
from deadzone.language.catalogue import say, tenths
from deadzone.language.formats import printed
from deadzone.store.reference import load_reference

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.USub: operator.neg, ast.Not: lambda one: ~one if hasattr(one, "index") else not one,
}  # fmt: skip


class Formulas:
    """Evaluates formulas over the tables of one published study. names: further values, by name. rows: of a table, whose columns
    come before these."""

    def __init__(
        self, study: str, names: Mapping[str, Any] | None = None, rows: pd.DataFrame | None = None
    ) -> None:
        self._study, self._given = study, names or {}
        columns = {} if rows is None else {str(name): rows[name] for name in rows}
        self._names = {**self._given, **columns}

    def among(self, rows: pd.DataFrame) -> Self:
        """The same over the columns of another table."""
        return type(self)(self._study, self._given, rows)

    def evaluate(self, text: str) -> Any:
        """The value of a formula; of columns, shape (rows of the table,).

        Raises TableError if it cannot be read, names what there is not, or finds no row or several where one is needed.
        """
        try:
            body = ast.parse(str(text).strip(), mode="eval").body
        except SyntaxError as error:
            raise TableError(f"{self._study}: the formula {text!r} cannot be read: {error.msg}.") from None
        with np.errstate(all="ignore"):
            return self._value(body, str(text))

    def _value(self, node: ast.expr, text: str) -> Any:
        def again(inner: ast.expr) -> Any:
            return self._value(inner, text)

        match node:
            case ast.Constant(value=int() | float() | str()):
                return node.value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.Name(id=name):
                hint = did_you_mean(name, self._names)
                raise TableError(f"{self._study}: the formula {text!r} names {name!r}.{hint}")
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return OPERATORS[type(op)](again(operand))
            case ast.IfExp(test=test, body=one, orelse=other):
                return again(one if again(test) else other)
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if type(op) in OPERATORS:
                return OPERATORS[type(op)](again(left), again(right))
            case ast.BoolOp(op=op, values=values):
                found = [bool(again(value)) for value in values]
                return all(found) if isinstance(op, ast.And) else any(found)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                given = {str(one.arg): again(one.value) for one in keywords}
                return self._call(name, [again(arg) for arg in args], given, text)
        raise TableError(
            f"{self._study}: the formula {text!r} contains {ast.unparse(node)!r}, which no formula may."
        )

    def _call(self, name: str, args: list[Any], given: dict[str, Any], text: str) -> Any:
        own = {"column": self._column, "value": self._value_of, "lookup": self._lookup}
        known: dict[str, Callable[..., Any]] = {**FUNCTIONS, **own}
        if name not in known:
            hint = did_you_mean(name, known)
            raise TableError(f"{self._study}: the formula {text!r} calls {name!r}.{hint}")
        return known[name](*args, **given)

    def _column(self, table: str, formula: str, where: str = "", **keys: Any) -> pd.Series:
        rows = load_reference(self._study, table)
        for key, wanted in keys.items():
            rows = rows[rows[key] == wanted]
        if where:
            rows = rows[self.among(rows).evaluate(where).astype(bool)]
        found: pd.Series = self.among(rows).evaluate(formula)
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
            zip(
                map(tuple, there[list(keys)].to_numpy().tolist()),
                self.among(there).evaluate(formula),
                strict=True,
            )
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
    **{name: operator.methodcaller(name) for name in ("min", "max", "mean", "sum")},
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
