"""A cost written as arithmetic over columns, such as `cpu_limit * wall_s`: read, checked, computed.

The text is parsed and only numbers, names, + - * / ** and parentheses are accepted; nothing in it
is ever executed, so a cost may come from a study file of another author.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deadzone.errors import PhaseError, check_known

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}

LONGEST_TEXT = 500
"""A cost is a line of arithmetic; a longer text is a mistake, and deep nesting would exhaust the
stack."""


def parse_cost(text: str) -> Callable[[Mapping[str, np.ndarray]], np.ndarray]:
    """Read a cost; what is returned computes it of columns, arrays of one shape by name.

    Raises PhaseError if the text is not arithmetic over names and numbers, or names no column, and
    when it is computed if a column is missing.
    """
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise PhaseError(
            f"A cost is a text of at most {LONGEST_TEXT} characters, such as 'cpu_limit * wall_s'."
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PhaseError(f"The cost {text!r} cannot be read as arithmetic: {error}.") from None
    names = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))

    def compute(node: ast.AST, columns: Mapping[str, Any]) -> np.ndarray:
        match node:
            case ast.Name(id=name):
                return np.asarray(columns[name], dtype=float)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return np.asarray(value, dtype=float)
            case ast.BinOp(op=op) | ast.UnaryOp(op=op) if type(op) in OPERATORS:
                parts = (part for part in ast.iter_child_nodes(node) if part is not op)
                result = OPERATORS[type(op)](*(compute(part, columns) for part in parts))
                return np.asarray(result, dtype=float)
        raise PhaseError(
            f"The cost {text!r} contains {ast.unparse(node)!r}; a cost is made of column names, "
            "numbers, + - * / ** and parentheses, nothing else."
        )

    def cost(columns: Mapping[str, np.ndarray]) -> np.ndarray:
        for name in names:
            sentence = (
                f"The cost {text!r} uses {name!r}, which is no factor and not the response; "
                "to weigh another column, make the cost a column and fit it as the response"
            )
            check_known(PhaseError, sentence, name, columns, "A cost may use")
        shape = next((array.shape for array in columns.values()), ())
        with np.errstate(all="ignore"):
            return np.broadcast_to(compute(tree, columns), shape).astype(float)

    try:
        with np.errstate(all="ignore"):
            compute(tree, dict.fromkeys(names, 1.0))
    except (RecursionError, OverflowError) as error:
        raise PhaseError(f"The cost {text!r} cannot be read as arithmetic: {error}.") from error
    if not names:
        raise PhaseError(
            f"The cost {text!r} names no column; write for example 'cpu_limit * wall_s'."
        )
    return cost
