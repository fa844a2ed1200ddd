"""A cost written as arithmetic over columns, such as `cpu_limit * wall_s`: read, checked, computed.

The text is parsed and only numbers, names, + - * / ** and parentheses are accepted; nothing in it
is ever executed, so a cost may come from a study file of another author.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadzone.errors import PhaseError, check_known

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}

LONGEST_TEXT = 500
"""A cost is a line of arithmetic; a longer text is a mistake, and deep nesting would exhaust the
stack."""


@dataclass(frozen=True)
class CostExpression:
    """A cost as arithmetic over columns. text: as written. names: the columns it uses, in order.
    tree: as parsed."""

    text: str
    names: tuple[str, ...]
    tree: ast.expr

    def evaluate(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """The cost of each row. columns: arrays of one shape, by name; returns that shape.

        Raises PhaseError if a column is missing.
        """
        for name in self.names:
            sentence = (
                f"The cost {self.text!r} uses {name!r}, which is no factor and not the response; "
                "to weigh another column, make the cost a column and fit it as the response"
            )
            check_known(PhaseError, sentence, name, columns, "A cost may use")
        shape = next((array.shape for array in columns.values()), ())
        with np.errstate(all="ignore"):
            return np.broadcast_to(_compute(self.tree, columns), shape).astype(float)


def parse_cost(text: str) -> CostExpression:
    """Read a cost.

    Raises PhaseError if the text is not arithmetic over names and numbers, or names no column.
    """
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise PhaseError(
            f"A cost is a text of at most {LONGEST_TEXT} characters, such as 'cpu_limit * wall_s'."
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PhaseError(f"The cost {text!r} cannot be read as arithmetic: {error}.") from None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names = tuple(
        dict.fromkeys(
            node.id for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))
        )
    )
    try:
        with np.errstate(all="ignore"):
            _compute(tree, dict.fromkeys(names, 1.0))
    except PhaseError as error:
        raise PhaseError(f"The cost {text!r} contains {error}, nothing else.") from None
    if not names:
        raise PhaseError(
            f"The cost {text!r} names no column; write for example 'cpu_limit * wall_s'."
        )
    return CostExpression(text, names, tree)


def _compute(node: ast.expr, columns: Mapping[str, Any]) -> np.ndarray:
    """The value of a part of a cost. Raises PhaseError at what is no arithmetic."""
    match node:
        case ast.Name(id=name):
            return np.asarray(columns[name], dtype=float)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return np.asarray(value, dtype=float)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            result = OPERATORS[type(op)](_compute(left, columns), _compute(right, columns))
            return np.asarray(result, dtype=float)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            inner = _compute(operand, columns)
            return -inner if isinstance(op, ast.USub) else inner
    raise PhaseError(
        f"{ast.unparse(node)!r}; a cost is made of column names, numbers, + - * / ** and "
        "parentheses"
    )
