"""A notebook executed in a kernel that stays open, so that a test can ask for values and try a cell again."""

from __future__ import annotations

import json
from typing import Any

import nbformat
from nbclient import NotebookClient

from deadzone import places


class Executed:
    """A notebook of the repository, every cell of it executed once, in order.

    parameters: in place of those of the notebook. Raises what a cell raised. Close it by leaving the `with` block.
    """

    def __init__(self, name: str, **parameters: Any) -> None:
        path = places.notebook(name)
        self.cells = nbformat.read(path, as_version=4).cells
        place = next(i for i, cell in enumerate(self.cells) if "parameters" in cell.metadata.get("tags", ()))
        given = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
        self.cells.insert(place + 1, nbformat.v4.new_code_cell(given))
        notebook = nbformat.v4.new_notebook(cells=self.cells)
        self._client = NotebookClient(
            notebook, kernel_name="python3", timeout=120, resources={"metadata": {"path": str(path.parent)}}
        )

    def __enter__(self) -> Executed:
        self._kernel = self._client.setup_kernel()
        self._kernel.__enter__()
        for index, cell in enumerate(self.cells):
            self._client.execute_cell(cell, index)
        return self

    def __exit__(self, *error: Any) -> None:
        self._kernel.__exit__(*error)

    @property
    def sentences(self) -> str:
        """What the cells said in Markdown that they computed, in order."""
        return "\n".join(map(_markdown, self.cells))

    def value(self, expression: str) -> Any:
        """The value of an expression in the kernel, as JSON gives it back."""
        cell = self._run(f"import json\nprint(json.dumps({expression}, default=float))")
        return json.loads("".join(output.text for output in cell.outputs if output.get("name") == "stdout"))

    def again(self, text: str, changed: str) -> str:
        """What the cell that has a text in its source says when executed again after a change."""
        source = next(cell.source for cell in self.cells if cell.cell_type == "code" and text in cell.source)
        return _markdown(self._run(f"{changed}\n{source}"))

    def _run(self, source: str) -> Any:
        cell = nbformat.v4.new_code_cell(source)
        self._client.nb.cells.append(cell)
        self._client.execute_cell(cell, len(self._client.nb.cells) - 1)
        self._client.nb.cells.pop()
        return cell

    @property
    def verdict(self) -> str:
        """The verdict that heads the page, with every doubt."""
        outputs = [output for cell in self.cells for output in cell.get("outputs", ())]
        texts = [output.get("data", {}).get("text/plain", "") for output in outputs]
        return next(text for text in texts if text.startswith("Verdict"))


def _markdown(cell: Any) -> str:
    bundles = (output.get("data", {}) for output in cell.get("outputs", ()))
    return "\n".join(bundle["text/markdown"] for bundle in bundles if "text/markdown" in bundle)
