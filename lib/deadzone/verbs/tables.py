"""`read_table`: a table of measurements, wherever it lies."""

from pathlib import Path

import pandas as pd

from deadzone import places
from deadzone.errors import TableError, UnknownRunError
from deadzone.store import tables
from deadzone.store.reference import has_reference, load_reference
from deadzone.store.run import RunFolder
from deadzone.store.tables import long_table


def read_table(
    source: str | Path,
    format: str | None = None,
    *,
    wide: str = "",
    response: str = "value",
    name: str = "",
) -> pd.DataFrame:
    """A tidy table, one row a trial, of a file, a run, or a published study.

    source: a file, else a run (`xz-threads/latest`, an id or a folder), else a published table
    (`ffmpeg-16-cores/trials`). format: of a file that another tool wrote, as for `deadzone import`;
    by default it is told from JSON, and from what is no table. What is to be known of the tool's
    figures stands in `.attrs["warnings"]`.

    wide: columns that are repeats of one response, or its levels, as a pattern (`run *`) or apart
    by commas (`zstd,lz4`): they become the column `response`, and their names the column `name`.

    Raises TableError if there is none of them, or what there is cannot be read; StoreError for a
    run that is damaged.

    >>> read_table("ffmpeg-16-cores/trials")[["cpu_limit", "wall_s"]].shape
    (158, 2)
    """
    if wide:
        return long_table(read_table(source, format), wide, response, name)
    if not isinstance(source, str | Path):
        raise TableError(
            f"The table is {' '.join(repr(source).split()):.60}; give a file, a run, or the name "
            "of a published table."
        )
    if format or tables.is_file_of_table(source):
        return _of_file(Path(source), format)
    study, _, table = str(source).rpartition("/")
    try:
        return tables.with_numpy_types(RunFolder.find(places.runs_folder(), str(source)).trials())
    except UnknownRunError as unknown:
        if has_reference(study):
            return load_reference(study, table)
        raise TableError(
            f"{source}: there is no such file, run or published table. A file ends in "
            f"{' or '.join(tables.READABLE)}; dz.runs() lists the runs; published tables are named "
            "such as ffmpeg-16-cores/trials."
        ) from unknown


def _of_file(path: Path, format: str | None) -> pd.DataFrame:
    """The table in a file; of a document, or text without a head line, what a tool wrote."""
    from deadzone.store.imports.registry import format_of, read_result
    from deadzone.store.imports.result import tidy

    if not format and path.is_file() and (path.suffix == ".json" or not tables.is_table(path)):
        format = format_of(path)
    if not format:
        return tables.read_table(path)
    result = read_result(format, path)
    table = tidy([result], {})
    table.attrs["warnings"] = [*result.remarks, *result.warnings]
    return table
