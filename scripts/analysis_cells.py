#!/usr/bin/env python3
"""Count the code cells of the notebooks that work on data, beyond calling a verb of the library.

A cell works on data if it names a column or a value of them: it takes a column (`trials["wall_s"]`,
`.loc`, a mask), calls a method of a DataFrame that takes columns or values, draws a frame with
seaborn, draws on an Axes, or calls scipy. What only looks at a result (`.head()`, `.round()`,
`display(...)`, a verb and its options) does not count. The cell of the parameters is left out.

    python scripts/analysis_cells.py [NOTEBOOK]...
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"

FRAME_METHODS = {
    "agg", "aggregate", "apply", "assign", "between", "clip", "cumsum", "drop", "dropna",
    "drop_duplicates", "eq", "fillna", "groupby", "isin", "join", "map", "melt", "merge",
    "nlargest", "nsmallest", "pivot", "pivot_table", "quantile", "query", "reindex", "rename",
    "rename_axis", "set_index", "sort_values", "transform", "unstack",
}  # fmt: skip
"""Methods of a DataFrame or Series that name columns or values: counted where they are called with
an argument."""

AXES_METHODS = {
    "annotate", "axhline", "axhspan", "axline", "axvline", "axvspan", "bar", "barh", "errorbar",
    "fill_between", "hist", "refline", "scatter", "set", "set_axis_labels", "step", "text",
}  # fmt: skip
"""Methods of an Axes, or of a grid of seaborn, that draw or label data."""

MAKERS = {"DataFrame", "Series", "concat", "crosstab", "cut", "merge"}
"""Functions of pandas that make a table of others."""


def cells_of(path: Path) -> list[str]:
    """The sources of the code cells of a notebook, without the cell of its parameters."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = (cell for cell in cells if cell["cell_type"] == "code")
    return [
        "".join(cell["source"])
        for cell in code
        if "parameters" not in cell["metadata"].get("tags", ())
    ]


def works_on_data(source: str) -> bool:
    """Whether a cell names a column or a value of the data, by its syntax tree."""
    return any(map(_is_of_data, ast.walk(ast.parse(source))))


def draws_its_data(source: str) -> bool:
    """Whether seaborn draws a frame in a cell."""
    return any(map(_draws, ast.walk(ast.parse(source))))


def _is_of_data(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return _takes_a_column(node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner, method = _owner(node.func), node.func.attr
    has_argument = bool(node.args or node.keywords)
    if owner == "dz" or not has_argument:
        return False
    if owner == "pd":
        return method in MAKERS
    return owner == "stats" or _draws(node) or method in FRAME_METHODS | AXES_METHODS


def _takes_a_column(node: ast.Subscript) -> bool:
    if isinstance(node.value, ast.Attribute) and node.value.attr in ("loc", "iloc", "at"):
        return True
    if isinstance(node.value, ast.Attribute) and node.value.attr == "rcParams":
        return False
    names = node.slice.elts if isinstance(node.slice, ast.List | ast.Tuple) else [node.slice]
    return any(
        (isinstance(name, ast.Constant) and isinstance(name.value, str)) or _is_mask(name)
        for name in names
    )


def _is_mask(node: ast.AST) -> bool:
    """A condition on rows: a comparison, or several joined."""
    return (
        isinstance(node, ast.Compare)
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr))
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert))
    )


def _draws(node: ast.AST) -> bool:
    """A plotting function of seaborn that is given a frame."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    named = {keyword.arg for keyword in node.keywords}
    return _owner(node.func) == "sns" and bool(
        named & {"x", "y", "data", "col", "annot"} or None in named
    )


def _owner(func: ast.Attribute) -> str:
    """The name that a call starts at, of `stats.ttest_ind(...)` it is `stats`."""
    return func.value.id if isinstance(func.value, ast.Name) else ""


def counted(paths: list[Path]) -> Iterator[tuple[str, int, int, bool]]:
    """Of each notebook its name, its code cells, those that work on data, and whether seaborn draws
    its data."""
    for path in paths:
        cells = cells_of(path)
        yield path.stem, len(cells), sum(map(works_on_data, cells)), any(map(draws_its_data, cells))


def main() -> None:
    """Print a line a notebook, and the share of all."""
    rows = list(counted([*map(Path, sys.argv[1:])] or sorted(NOTEBOOKS.rglob("*.ipynb"))))
    for name, cells, working, drawn in rows:
        print(
            f"{name:20} {working:3} of {cells:3} code cells work on "
            f"data{', drawn with seaborn' if drawn else ''}"
        )
    cells, working = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(
        f"{working} of {cells} code cells ({working / cells:.0%}); seaborn draws in "
        f"{sum(row[3] for row in rows)} notebooks"
    )


if __name__ == "__main__":
    main()
