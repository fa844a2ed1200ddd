"""A document's own arithmetic, recomputed, and what it measured twice."""

import pandas as pd

from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Prose, Table, section
from deadzone.store.reference import load_reference

CHECKS = "checks"
"""The folder of published tables that holds the recomputation."""

LARGEST_USUAL_DIFFERENCE = 10.0
"""A cell measured twice that differs by more than this [%] was measured under other conditions the second
time, or is not reproducible; it says nothing about the usual scatter."""


def arithmetic(study: str) -> list[Block]:
    """The derived figures of a study that do not come out as printed, and how many do."""
    checks = load_reference(CHECKS, "arithmetic")
    own = checks[checks["study"] == study]
    wrong = own[own["verdict"].isin(("off", "method"))]
    close = int((own["verdict"] == "close").sum())
    said = say("arithmetic.count", n=len(own), agree=int((own["verdict"] == "agrees").sum()), close=close)
    if wrong.empty:
        return [section("arithmetic.heading"), Prose((said, say("arithmetic.none_off")))]
    table = Table.of("published.arithmetic", wrong.to_dict("records"), n=len(wrong))
    return [section("arithmetic.heading"), Prose((said,)), table]


def repeats(study: str) -> pd.DataFrame:
    """The cells of a study that were measured twice; see `scripts/reference_arithmetic.py`."""
    pairs = load_reference(CHECKS, "duplicates")
    return pairs[pairs["study"] == study].reset_index(drop=True)


def usual_difference(pairs: pd.DataFrame) -> float:
    """Largest usual difference between two measurements of a cell, as a fraction; 0 without any pair.

    pairs: as of `repeats`. Pairs beyond LARGEST_USUAL_DIFFERENCE are left out.
    """
    sizes = pairs["difference_percent"].abs()
    usual = sizes[sizes <= LARGEST_USUAL_DIFFERENCE]
    return float(usual.max()) / 100 if len(usual) else 0.0


def repeats_table(pairs: pd.DataFrame) -> Table:
    """The cells measured twice, side by side. pairs: as of `repeats`, with cpu_limit and threads."""
    rows = [{"cores": f"{row['cpu_limit']:g}", **row} for row in pairs.to_dict("records")]
    usual, largest = usual_difference(pairs), float(pairs["difference_percent"].abs().max()) / 100
    return Table.of("published.repeats", rows, n=len(rows), usual=usual, largest=largest)
