"""What tools write as JSON: one document or several, each with one result or a list of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from deadzone.store.imports.document import Node, documents, text_of
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.result import Results
from deadzone.store.imports.runs import results_of


@dataclass(frozen=True)
class JsonFormat:
    """How the JSON of a tool is read. A reader: called with a file, it gives its results.

    version: of the tool, whose output was recorded. write: how it is asked for what is read. rows:
    those of a document. needs: columns without which a row is no result. traps: sentences on how
    far the numbers can be believed; doubts: further ones, of a document.
    """

    tool: str
    version: str
    write: str
    rows: Callable[[Node], Iterable[Row]]
    needs: tuple[str, ...]
    traps: tuple[str, ...]
    doubts: Callable[[Node], Iterable[str]] = lambda document: ()

    def __call__(self, path: Path) -> Results:
        """The results in a file; those that were cut off are failed. Raises FormatError if none is
        complete, it is none of this tool, or damaged."""
        runs: list[tuple[str, Row]] = []
        doubts: dict[str, None] = {}
        tool = f"{self.tool}, written with {self.write}"
        for document in documents(text_of(path), path, tool):
            node = Node(document.value, str(path), self.tool)
            rows = [{}] if document.value is None else self.rows(node)
            doubts |= {} if document.value is None else dict.fromkeys(self.doubts(node))
            runs += [
                (f"entry {position} of the document at line {document.line}", row)
                for position, row in enumerate(rows, 1)
            ]
        traps = (*self.traps, *doubts)
        return results_of(runs, path, self.tool, self.needs, traps, write=self.write)
