"""The formats that can be imported, by the name of their tool. A new one is a file beside this and a line here."""

from pathlib import Path

from deadzone.errors import FormatError, did_you_mean
from deadzone.store.imports.descriptions import ALL, REDIS_CSV
from deadzone.store.imports.document import text_of
from deadzone.store.imports.fio import read_fio
from deadzone.store.imports.hey import read_hey
from deadzone.store.imports.hyperfine import read_hyperfine
from deadzone.store.imports.jmeter import read_jmeter
from deadzone.store.imports.k6 import read_k6
from deadzone.store.imports.locust import read_locust
from deadzone.store.imports.oha import read_oha
from deadzone.store.imports.result import Reader, Results

DESCRIBED = {one.tool: one for one in ALL}
"""The formats of which a table says how they are read."""


def read_redis_benchmark(path: Path) -> Results:
    """Results of redis-benchmark, one a test, from its text or its CSV. Raises FormatError if the file is neither."""
    return (REDIS_CSV if text_of(path).startswith('"test"') else DESCRIBED[REDIS_CSV.tool])(path)


FORMATS: dict[str, Reader] = {
    "hyperfine": read_hyperfine,
    "fio": read_fio,
    "k6": read_k6,
    "locust": read_locust,
    "oha": read_oha,
    "hey": read_hey,
    "jmeter": read_jmeter,
    **DESCRIBED,
    REDIS_CSV.tool: read_redis_benchmark,
}


def reader_of(name: str) -> Reader:
    """The reader of a format. Raises FormatError, with the nearest name, if there is none."""
    if name not in FORMATS:
        raise FormatError(
            f"There is no format {name!r}.{did_you_mean(name, FORMATS)} Formats are {', '.join(FORMATS)}."
        )
    return FORMATS[name]
