"""`check_parameters`: what a notebook was given, checked before anything is computed."""

import ast
from itertools import pairwise
from typing import Any

from deadzone.errors import ReportError, check_known
from deadzone.report.document.drawing import use_language

INJECTED = "# Parameters\n"
"""How a cell begins that papermill writes after the parameters of a notebook."""


def check_parameters(**bounds: tuple[float, float]) -> None:
    """Check the parameters of the notebook that calls it, and speak its language, a parameter
    `lang`.

    bounds: the least and the largest value of a number, by name. Raises ReportError for a number
    out of its bounds, an unknown language, and a name that the notebook does not have, which
    papermill would set all the same.
    """
    from IPython.core.getipython import get_ipython

    values = getattr(get_ipython(), "user_ns", {})
    pairs = (pair for pair in pairwise(values.get("In", ())) if pair[1].startswith(INJECTED))
    own, given = next(pairs, ("", ""))  # one that is executed again stands behind any cell
    for name in _set_in(given):
        check_known(ReportError, f"The notebook has no parameter {name!r}", name, _set_in(own))
    for name, (low, high) in bounds.items():
        check_known(ReportError, f"The notebook has no parameter {name!r}", name, values)
        value: Any = values[name]
        if not isinstance(value, int | float) or not low <= value <= high:
            raise ReportError(f"{name} is {value!r}; give a number from {low:g} to {high:g}.")
    if "lang" in values:
        use_language(values["lang"])


def _set_in(cell: str) -> list[str]:
    """The names that the statements of a cell assign."""
    return [
        node.id
        for node in ast.walk(ast.parse(cell))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
