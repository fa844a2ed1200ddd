"""Tools that write a line a request: the lines of such a file, read one by one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, opened


def requests_in(
    path: Path, tool: str, numbers: Sequence[str], texts: Sequence[str], cut: list[int]
) -> Iterator[tuple[list[float], dict[str, str]]]:
    """The numbers of each request, and its line. numbers, texts: columns that the file must have.
    cut: gets the lines that are incomplete, which are left out.

    Raises FormatError if the file is none of the tool, or a line is damaged.
    """
    with opened(path) as file:
        for line in csv_rows(file, path, tool, (*numbers, *texts), cut):
            cells = [number_in(line[name], path, f"{name} of a request") for name in numbers]
            values = [cell for cell in cells if cell is not None]
            if len(values) < len(numbers):
                raise FormatError(
                    f"{path}: a request lacks its {numbers[cells.index(None)]}: "
                    f"{','.join(line.values())!r}."
                )
            yield values, line
