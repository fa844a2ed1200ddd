"""The arithmetic of the five published documents, recomputed from their own measurements.

`recompute` sets every derived figure beside its recomputation, `duplicates` sets cells that a document
measured twice side by side. Both tables are kept under `data/reference/checks`; `write_checks` (or
`.venv/bin/python scripts/reference_arithmetic.py`) writes them again.
"""

from itertools import combinations
from pathlib import Path

import pandas as pd
from reference_checks import checks_of

from deadzone.store.reference import load_reference, reference_folder

DOCUMENTS = ("ffmpeg-threads", "pod-cpu-limit", "thread-pools", "media-server", "disk-io")
"""The studies, in the order of their documents."""

MEASURED_TWICE = {
    "ffmpeg-threads": (
        "limit-equals-threads",
        "oversubscription-at-4-cores",
        "threads-at-4-cores",
        "threads-at-8-cores",
        "threads-at-11-cores",
    )
}
"""Tables of a study that measure the same response (`wall_s`) at some of the same treatments."""


def recompute() -> pd.DataFrame:
    """Every derived figure of the five documents beside the same figure from the raw ones.

    Returns a frame with a row a figure and the columns study, table, cell, unit, formula, claimed,
    recomputed, difference (recomputed - claimed, in the row's unit), verdict and note. The verdict is
    "agrees" (equal at the printed digits), "close" (one unit of the last printed digit away, or within
    a tenth of a figure given as "about"), "off", or "method" (the figure means something else than it
    is presented as).

    Raises TableError if a published table is missing.
    """
    return pd.DataFrame([check.row() for document in DOCUMENTS for check in checks_of(document)])


def duplicates() -> pd.DataFrame:
    """Treatments that a document measured twice, one pair a row.

    Returns a frame with the columns study, cpu_limit (cores), threads, first_table, first_wall_s,
    second_table, second_wall_s (s) and difference_percent (second against first). A value that a table
    merely quotes from another (equal to the last digit) is no second measurement and is left out.

    Raises TableError if a published table is missing.
    """
    keys = ["cpu_limit", "threads"]
    pairs = []
    for study, tables in MEASURED_TWICE.items():
        for first, second in combinations(tables, 2):
            left = load_reference(study, first)[[*keys, "wall_s"]]
            right = load_reference(study, second)[[*keys, "wall_s"]]
            pair = left.merge(right, on=keys, suffixes=("_first", "_second"))
            pairs.append(pair.assign(study=study, first_table=first, second_table=second))
    both = pd.concat(pairs, ignore_index=True)
    both = both.rename(columns={"wall_s_first": "first_wall_s", "wall_s_second": "second_wall_s"})
    both = both[both["first_wall_s"] != both["second_wall_s"]]
    both = both.drop_duplicates([*keys, "first_wall_s", "second_wall_s"])
    both["difference_percent"] = (100 * (both["second_wall_s"] / both["first_wall_s"] - 1)).round(1)
    columns = [
        "study",
        *keys,
        "first_table",
        "first_wall_s",
        "second_table",
        "second_wall_s",
        "difference_percent",
    ]
    return both.sort_values(keys, kind="stable")[columns].reset_index(drop=True)


def write_checks(folder: Path | None = None) -> list[Path]:
    """Write `arithmetic.csv` and `duplicates.csv` and return their paths.

    folder: where to write; by default `checks` in the folder of the published tables.
    """
    target = folder if folder is not None else reference_folder() / "checks"
    written = []
    for name, frame in (("arithmetic", recompute()), ("duplicates", duplicates())):
        path = target / f"{name}.csv"
        frame.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    for path in write_checks():
        print(f"wrote {path}")
