"""The figures that a published document derives, beside the same figures recomputed, and the verdicts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import yaml

from deadzone.errors import TableError
from deadzone.reports.published.formulas import Formulas
from deadzone.store.reference import load_reference, reference_folder

CHECKS_FILE = "checks.yaml"
"""Beside the tables of a study: what the document derives, and how it is computed again."""

ABOUT_TOLERANCE = 0.10
"""A figure given as "about" is close when it is within a tenth: the word promises no more."""

SLACK = 1e-9
"""Relative slack for binary fractions, so that a figure exactly half a digit away still agrees."""


@dataclass(frozen=True)
class Check:
    """A document's figure and its recomputation, both in `unit`.

    decimals: digits after the decimal point that the document prints; negative for rounded thousands.
    relation: equals, about, at_least or at_most, as the document words it.
    method: the figure means something else than it is presented as, whatever its arithmetic.
    """

    study: str
    table: str
    cell: str
    unit: str
    formula: str
    claimed: float
    recomputed: float
    decimals: int
    relation: str = "equals"
    method: bool = False
    note: str = ""

    @property
    def difference(self) -> float:
        """recomputed - claimed, in the unit of the figure."""
        return self.recomputed - self.claimed

    @property
    def verdict(self) -> str:
        """agrees, close, off or method.

        agrees: equal after rounding to the printed digits, or on the stated side of a bound.
        close: one unit of the last printed digit away, or within a tenth of a figure given as "about".
        off: neither. method: the arithmetic is not the matter, the meaning is.
        """
        if self.method:
            return "method"
        digit = 10.0**-self.decimals
        slack = SLACK * max(abs(self.claimed), digit)
        distance = {"at_least": -self.difference, "at_most": self.difference}.get(
            self.relation, abs(self.difference)
        )
        if distance <= digit / 2 + slack:
            return "agrees"
        allowed = ABOUT_TOLERANCE * abs(self.claimed) if self.relation == "about" else 0.0
        return "close" if distance <= max(digit, allowed) + slack else "off"

    def row(self) -> dict[str, str | float]:
        """The check as a row of the table `arithmetic`, figures cut to two digits more than printed."""
        digits = max(self.decimals + 2, 0)
        return {
            "study": self.study,
            "table": self.table,
            "cell": self.cell,
            "unit": self.unit,
            "formula": self.formula,
            "claimed": round(self.claimed, digits),
            "recomputed": round(self.recomputed, digits),
            "difference": round(self.difference, digits) + 0.0,
            "verdict": self.verdict,
            "note": self.note,
        }


@cache
def checks_of(study: str) -> list[Check]:
    """Every check of a published study, as its file `checks.yaml` says, in its order.

    An entry names a `table` and its `column`, how the figure is computed (`compute`, see `formulas`), the same in words
    (`formula`), the `keys` that name a row, the `decimals` printed (a number, one a row, or a formula), and under `method` the
    rows whose meaning is the matter (or all of them). One with a `cell` is a figure by itself; `claims` are those of the
    table of that name, each of which needs one.

    Raises TableError if the file is missing or wrong, or a claim of the document has no recomputation.
    """
    path = reference_folder() / study / CHECKS_FILE
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise TableError(f"{path} cannot be read: {error}. Restore it from the repository.") from error
    formulas = Formulas(study)
    checks = [check for entry in document.get("columns", ()) for check in _checked(study, entry, formulas)]
    return checks + claim_checks(study, document["claims"])


def _checked(study: str, entry: Mapping[str, Any], formulas: Formulas) -> Iterator[Check]:
    """The checks of one entry: of every cell of its column that can be recomputed, or of the one figure it states."""
    frame = load_reference(study, entry["table"])
    formulas = formulas.among(frame)
    column, compute = entry["column"], entry["compute"]
    unit = frame.attrs["units"][column]
    if "cell" in entry:
        claimed, again = (float(formulas.evaluate(entry[name])) for name in ("claimed", "compute"))
        yield Check(study, entry["table"], entry["cell"], unit, entry["formula"], claimed, again, entry["decimals"],
                    note=entry.get("note", ""))  # fmt: skip
        return
    recomputed = pd.Series(formulas.evaluate(compute), index=frame.index)
    decimals = entry.get("decimals", 1)
    if isinstance(decimals, str):
        decimals = formulas.evaluate(decimals)
    digits = np.broadcast_to(np.asarray(decimals), (len(frame),))
    method = entry.get("method", ())
    for position, (claimed, again) in enumerate(zip(frame[column], recomputed, strict=True)):
        if pd.isna(claimed) or pd.isna(again):
            continue
        name = ", ".join(f"{key}={_short(frame[key].iloc[position])}" for key in entry["keys"])
        yield Check(study, entry["table"], f"{name}: {column}", unit, entry["formula"], float(claimed), float(again),
                    int(digits[position]), method=method == "all" or name in method)  # fmt: skip


def claim_checks(study: str, recomputed: Mapping[str, Mapping[str, Any]]) -> list[Check]:
    """A check for every row of a study's table `claims`.

    recomputed: for each claim how its value is computed, in the claim's unit, and the formula in words.

    Raises TableError if a claim has no recomputation, or the other way round.
    """
    claims = load_reference(study, "claims")
    unpaired = set(claims["claim"]) ^ set(recomputed)
    if unpaired:
        raise TableError(
            f"{study}/claims and its recomputation differ in {sorted(unpaired)}; add what is missing."
        )
    formulas = Formulas(study)
    return [
        Check(
            study, "claims", row["claim"], row["claimed_unit"], entry["formula"], row["claimed_value"],
            float(formulas.evaluate(entry["compute"])), row["claimed_decimals"], row["claimed_relation"],
            bool(entry.get("method")), "" if pd.isna(row["note"]) else row["note"],
        )
        for row in claims.to_dict("records")
        for entry in (recomputed[row["claim"]],)
    ]  # fmt: skip


def figure(frame: pd.DataFrame, column: str, **row: object) -> float:
    """The one value of `column` in the row whose key columns have the given values, in its unit.

    Raises TableError if no row or several rows match.
    """
    match = frame
    for key, value in row.items():
        match = match[match[key] == value]
    if len(match) != 1:
        raise TableError(
            f"{frame.attrs.get('table', 'The table')} has {len(match)} rows with {row}; one is needed."
        )
    return float(match[column].item())


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
