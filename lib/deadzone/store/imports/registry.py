"""The formats that can be imported, by the name of their tool. A new one is a file beside this and
a line here.

A program of a known format may also be read in a trial: what it printed, as responses.
"""

import tempfile
from pathlib import Path
from statistics import median

from deadzone import packs
from deadzone.errors import FormatError, check_known
from deadzone.store.imports.described import ALL, REDIS_CSV
from deadzone.store.imports.document import text_of
from deadzone.store.imports.hyperfine import read_hyperfine
from deadzone.store.imports.oha import read_oha
from deadzone.store.imports.perf import COLUMNS as PERF_COLUMNS
from deadzone.store.imports.perf import read_perf
from deadzone.store.imports.plausible import NO_EVENT
from deadzone.store.imports.requests import read_hey, read_jmeter
from deadzone.store.imports.result import FIRST, MEASURED, Reader, Results
from deadzone.store.table import IDENTITY, SHARED

DESCRIBED = {one.tool: one for one in ALL}
"""The formats of which a table says how they are read."""


def read_redis_benchmark(path: Path) -> Results:
    """Results of redis-benchmark, one a test, from its text or its CSV. Raises FormatError if the
    file is neither."""
    return (REDIS_CSV if text_of(path).startswith('"test"') else DESCRIBED[REDIS_CSV.tool])(path)


FORMATS: dict[str, Reader] = {
    "hyperfine": read_hyperfine,
    "oha": read_oha,
    "hey": read_hey,
    "jmeter": read_jmeter,
    "perf-stat": read_perf,
    **DESCRIBED,
    REDIS_CSV.tool: read_redis_benchmark,
    **{tool: packs.load(place) for tool, place in packs.brought("importers").items()},
}


def reader_of(name: str) -> Reader:
    """The reader of a format. Raises FormatError, with the nearest name, if there is none."""
    check_known(FormatError, f"There is no format {name!r}", name, FORMATS, "Formats are")
    return FORMATS[name]


_DESCRIBED_COLUMNS = (
    column.name
    for one in ALL
    for column in one.columns
    if not column.label and "{}" not in column.name
)
_MEASURED_SOMEWHERE = dict.fromkeys((*MEASURED, *_DESCRIBED_COLUMNS, *PERF_COLUMNS))
RESPONSES = tuple(name for name in _MEASURED_SOMEWHERE if name not in (*IDENTITY, *SHARED, *FIRST))
"""What may be a response: whatever a format measures and a trial does not measure itself."""


def printed_by(program: str, text: str) -> dict[str, float]:
    """The numbers in what a program printed; repeats of one benchmark as their median.

    Raises FormatError if the text is no result of it, or holds results of several benchmarks.
    """
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        try:
            results = reader_of(program)(Path(file.name))
        except FormatError as error:
            raise FormatError(str(error).replace(file.name, "what the program printed")) from error
    rows = results.complete().rows
    if results.incomplete:
        raise FormatError(f"The output of {program} was cut off: {results.remarks[0]}")
    if failed := next((row for row in rows if row.get("error") == NO_EVENT), None):
        raise FormatError(f"The output of {program} holds {failed['error']}.")
    labels = {tuple(str(row[key]) for key in row if isinstance(row[key], str)) for row in rows}
    if len(labels) > 1:
        raise FormatError(
            f"The output of {program} holds {len(labels)} results, and a trial is one: let it run "
            "one benchmark."
        )
    return {
        name: float(median(values))
        for name in RESPONSES
        if (values := [row[name] for row in rows if isinstance(row.get(name), int | float)])
    }
