"""A document's own arithmetic, recomputed, and what it measured twice."""

from __future__ import annotations

import pandas as pd

from deadzone.explaining.phases.quantities import number
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Prose, Table
from deadzone.reports.published.published import section
from deadzone.reports.published.reference import load_reference

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
    frame = pd.DataFrame(
        {
            say("arithmetic.place"): [f"{row.table}: {row.cell}" for row in wrong.itertuples()],
            say("arithmetic.claimed"): [number(float(value)) for value in wrong["claimed"]],
            say("arithmetic.recomputed"): [number(float(value)) for value in wrong["recomputed"]],
            say("arithmetic.unit"): list(wrong["unit"]),
            say("arithmetic.verdict"): [say(f"arithmetic.{verdict}") for verdict in wrong["verdict"]],
        }
    )
    caption = say("arithmetic.caption", n=len(wrong))
    table = Table(frame, caption, numeric=list(frame.columns[1:3]), id="arithmetic")
    return [section("arithmetic.heading"), Prose((said,)), table]


def repeats(study: str) -> pd.DataFrame:
    """The cells of a study that were measured twice; see `deadzone.reports.published.reference_arithmetic.duplicates`."""
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
    frame = pd.DataFrame(
        {
            say("arithmetic.cell"): [
                say("arithmetic.cell_name", cores=f"{row.cpu_limit:g}", threads=row.threads)
                for row in pairs.itertuples()
            ],
            say("arithmetic.first"): [number(value) for value in pairs["first_wall_s"]],
            say("arithmetic.second"): [number(value) for value in pairs["second_wall_s"]],
            say("arithmetic.difference"): [f"{value:+.1f}" for value in pairs["difference_percent"]],
        }
    )
    sizes = pairs["difference_percent"].abs()
    caption = say(
        "arithmetic.repeats_caption",
        n=len(pairs),
        usual=usual_difference(pairs),
        largest=float(sizes.max()) / 100,
    )
    return Table(frame, caption, numeric=list(frame.columns[1:]), id="repeats")
