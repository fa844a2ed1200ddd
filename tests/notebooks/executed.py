"""A notebook executed in the test's own process, so that a test can ask for values and try a cell
again.

IPython runs the cells as a kernel does, without its start and without importing every library anew;
that notebooks run in a kernel of their own is what the tests of JupyterLab, papermill and
publishing show.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, chdir
from typing import Any

import matplotlib.pyplot as plt
import nbformat
from IPython.utils.capture import capture_output
from shell import own_shell

from deadzone import places

Bundle = dict[str, Any]


class Executed:
    """A notebook of the repository, every cell of it executed once, in order.

    parameters: in place of those of the notebook. Raises what a cell raised. Close it by leaving
    the `with` block.
    """

    def __init__(self, name: str, **parameters: Any) -> None:
        path = places.notebook(name)
        cells = nbformat.read(path, as_version=4).cells
        self._sources = [cell.source for cell in cells if cell.cell_type == "code"]
        place = next(
            i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", ())
        )
        given = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
        self._sources.insert(self._sources.index(cells[place].source) + 1, given)
        self._folder = path.parent

    def __enter__(self) -> Executed:
        self._entered = ExitStack()
        self._entered.enter_context(chdir(self._folder))
        self._shell = self._entered.enter_context(own_shell())
        try:
            self._shown = [bundle for source in self._sources for bundle in self._run(source)]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        plt.close("all")
        self._shell.history_manager.end_session()
        self._entered.close()

    @property
    def sentences(self) -> str:
        """What the cells said in Markdown that they computed, in order."""
        return _markdown(self._shown)

    @property
    def shown(self) -> str:
        """What the cells showed, as plain text."""
        return "\n".join(bundle.get("text/plain", "") for bundle in self._shown)

    @property
    def verdict(self) -> str:
        """The verdict that heads the page, with every doubt."""
        texts = [bundle.get("text/plain", "") for bundle in self._shown]
        return next(text for text in texts if text.startswith("Verdict"))

    def value(self, expression: str) -> Any:
        """The value of an expression in the notebook, as JSON gives it back."""
        return json.loads(json.dumps(eval(expression, self._shell.user_ns), default=float))

    def again(self, text: str, changed: str) -> str:
        """What the cell that has a text in its source says when executed again after a change."""
        source = next(source for source in self._sources if text in source)
        return _markdown(self._run(f"{changed}\n{source}"))

    def _run(self, source: str) -> list[Bundle]:
        """What a cell shows, the value of its last line at the end.

        As in a kernel no cell draws into a figure of another one, or of another test.
        """
        plt.close("all")
        with capture_output() as captured:
            result = self._shell.run_cell(source)
        result.raise_error()
        shown = [output.data for output in captured.outputs]
        if result.result is not None:
            shown.append(self._shell.display_formatter.format(result.result)[0])
        return shown


def _markdown(bundles: list[Bundle]) -> str:
    return "\n".join(bundle["text/markdown"] for bundle in bundles if "text/markdown" in bundle)
