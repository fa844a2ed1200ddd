#!/usr/bin/env python3
"""Mark the slides of the notebooks: each text begins one, and what follows belongs to it.

`jupyter nbconvert --to slides` then shows one idea a slide. Parameters and imports are on none.

    python scripts/slides.py [NOTEBOOK]...
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = [*(ROOT / "notebooks").rglob("*.ipynb")]


def slide_types(notebook: nbformat.NotebookNode) -> list[str]:
    """The type of slide of each cell, in the words of nbconvert: `slide`, `-` (goes on), `skip`."""
    before = ["code", *(cell.cell_type for cell in notebook.cells)]
    return [
        "skip"
        if is_preparation(cell)
        else "slide"
        if cell.cell_type == "markdown" and before[i] == "code"
        else "-"
        for i, cell in enumerate(notebook.cells)
    ]


def is_preparation(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell holds the parameters, or begins with imports."""
    is_parameters = "parameters" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and (
        is_parameters or cell.source.startswith(("import ", "from "))
    )


def main(paths: list[str]) -> None:
    for path in [Path(name) for name in paths] or NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        for cell, kind in zip(notebook.cells, slide_types(notebook), strict=True):
            cell.metadata["slideshow"] = {"slide_type": kind}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
