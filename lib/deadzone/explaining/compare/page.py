"""A comparison as a page of tables: plain text for a terminal, HTML for a notebook or report."""

import math
from typing import Any

import pandas as pd

from deadzone.explaining.compare.doubts import FEW
from deadzone.explaining.compare.result import ComparisonResult, rows_of
from deadzone.explaining.compare.verdicts import UNDECIDED
from deadzone.explaining.page import Page
from deadzone.explaining.phases.quantities import axis_label, listing, number, plain_name, unit_name
from deadzone.language.catalogue import Message, join, say
from deadzone.language.tabling import Tabled, tabled

SAME = 5e-4
"""A ratio this near to 1 is written as no change: the digits of a percentage end there."""

TIMES_FROM = 2.0
"""From twice or half on, a factor reads easier than a percentage."""


def verdict_text(row: dict[str, Any]) -> Message:
    """A row's verdict in the language spoken, with the reason where it is undecided."""
    if row["verdict"] == UNDECIDED:
        return say(f"compare.why_{row['why']}")
    return say(f"compare.verdict_{row['verdict'].replace(' ', '_')}")


def change_text(row: dict[str, Any]) -> str:
    """A row's change with its interval: `+12 % (+8.1 % to +16 %)`."""
    ratio, low, high = (ratio_text(row[name]) for name in ("ratio", "ratio_low", "ratio_high"))
    if math.isnan(row["ratio_low"]):
        return say("compare.one_change_only", ratio=ratio)
    return say("compare.one_change", ratio=ratio, low=low, high=high)


def ratio_text(ratio: float) -> str:
    """A ratio as a change: `+12 %`, `-3.1 %`, `x 32.5`."""
    if not math.isfinite(ratio):
        return number(ratio)
    if abs(ratio - 1) < SAME:
        return say("compare.same")
    if ratio >= TIMES_FROM or ratio <= 1 / TIMES_FROM:
        return say("compare.times", ratio=f"{ratio:.3g}")
    return say("compare.more" if ratio > 1 else "compare.less", change=abs(ratio - 1))


def comparison_page(result: ComparisonResult) -> Page:
    """The page of a comparison."""
    return Page(say("compare.title"), _sections(result), _notes(result))


def _sections(result: ComparisonResult) -> list[Tabled]:
    facts = {
        "a": result.names[0],
        "b": result.names[1],
        "settings": say("compare.settings_value", threshold=result.threshold, margin=result.margin),
        "matched_by": listing(result.factors) if result.factors else say("compare.all_trials"),
    }
    sections = [tabled("explaining/compare.sides", [facts])]
    count = int(result.overall["n_treatments"].max())
    if count > 1:
        rows = [{**_told(row), "name": plain_name(row["response"])} for row in rows_of(result.overall)]
        sections.append(tabled("explaining/compare.overall", rows, n=count))
    return [*sections, *(_by_treatment(result, response) for response in result.responses)]


def _by_treatment(result: ComparisonResult, response: str) -> Tabled:
    rows = rows_of(result.treatments, response)
    goal, unit = say(f"compare.goal_{rows[0]['goal']}"), unit_name(response)
    heads = {"head_a": f"A {unit}".strip(), "head_b": f"B {unit}".strip(), "response": axis_label(response)}
    return tabled("explaining/compare.treatments", map(_told, rows), **heads, goal=goal)


def _told(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "told": change_text(row), "judged": verdict_text(row)}


def _notes(result: ComparisonResult) -> dict[str, list[str]]:
    test = say("compare.test_paired") if result.paired else say("compare.test_unpaired")
    method = say("compare.method_text", confidence=result.confidence, test=test, n=len(result.treatments))
    return {
        say("compare.notes"): list(result.warnings),
        say("compare.method"): [join([method, *_what_it_takes(result)])],
    }


def _what_it_takes(result: ComparisonResult) -> list[str]:
    """How many trials would decide, for each response that has undecided treatments."""
    said: list[str] = []
    for response, rows in result.treatments.groupby("response", sort=False):
        n, needed = int((rows["verdict"] == UNDECIDED).sum()), rows["trials_needed"].iloc[0]
        told = bool((rows[["n_a", "n_b"]].min(axis=1) <= FEW).any())  # by a warning already
        if n and pd.notna(needed) and not told:
            counts = {"n": n, "needed": int(needed), "threshold": result.threshold}
            said.append(say("compare.needed_text", response=axis_label(str(response)), **counts))
    return said
