"""What a program of a known format printed in one trial, as responses."""

import tempfile
from pathlib import Path
from statistics import median

from deadzone.errors import FormatError
from deadzone.store.imports.columns import FIRST, MEASURED
from deadzone.store.imports.descriptions import ALL
from deadzone.store.imports.registry import reader_of
from deadzone.store.table import IDENTITY, SHARED

RESPONSES = tuple(
    name
    for name in dict.fromkeys(
        [*MEASURED, *(column.name for one in ALL for column in one.columns if not column.label)]
    )
    if name not in (*IDENTITY, *SHARED, *FIRST)
)
"""What may be a response: whatever a format measures and a trial does not measure itself."""


def printed_by(program: str, text: str) -> dict[str, float]:
    """The numbers in what a program printed; repeats of one benchmark as their median.

    Raises FormatError if the text is no result of it, or holds results of several benchmarks.
    """
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        try:
            rows = reader_of(program)(Path(file.name)).rows
        except FormatError as error:
            raise FormatError(str(error).replace(file.name, "what the program printed")) from error
    labels = {tuple(str(row[key]) for key in row if isinstance(row[key], str)) for row in rows}
    if len(labels) > 1:
        raise FormatError(
            f"The output of {program} holds {len(labels)} results, and a trial is one: let it run one benchmark."
        )
    return {
        name: float(median(values))
        for name in RESPONSES
        if (values := [row[name] for row in rows if isinstance(row.get(name), int | float)])
    }
