"""One figure that a published document derives, beside the same figure recomputed, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.errors import TableError
from deadzone.reports.published.reference import load_reference

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


def column_checks(
    frame: pd.DataFrame,
    column: str,
    recomputed: pd.Series,
    formula: str,
    *,
    keys: Sequence[str],
    decimals: int | Sequence[int] | np.ndarray = 1,
    method: Sequence[str] = (),
) -> list[Check]:
    """A check for every cell of a published column that can be recomputed.

    frame: shape (n, columns), from `load_reference`; its attrs give study, table and units.
    recomputed: shape (n,), in the unit of the column; missing where the document has no raw figures.
    keys: columns that name the row. method: rows, as named by `keys`, whose meaning is the matter.
    """
    digits = np.broadcast_to(np.asarray(decimals), (len(frame),))
    checks = []
    for position, (claimed, again) in enumerate(zip(frame[column], recomputed, strict=True)):
        if pd.isna(claimed) or pd.isna(again):
            continue
        name = ", ".join(f"{key}={_short(frame[key].iloc[position])}" for key in keys)
        checks.append(
            Check(
                study=frame.attrs["study"],
                table=frame.attrs["table"],
                cell=f"{name}: {column}",
                unit=frame.attrs["units"][column],
                formula=formula,
                claimed=float(claimed),
                recomputed=float(again),
                decimals=int(digits[position]),
                method=name in method,
            )
        )
    return checks


def claim_checks(
    study: str, recomputed: Mapping[str, tuple[float, str]], method: Sequence[str] = ()
) -> list[Check]:
    """A check for every row of a study's table `claims`.

    recomputed: for each claim its value, in the claim's unit, and the formula in words.
    method: claims whose meaning is the matter, not their arithmetic.

    Raises TableError if a claim has no recomputation, or the other way round.
    """
    claims = load_reference(study, "claims")
    unpaired = set(claims["claim"]) ^ set(recomputed)
    if unpaired:
        raise TableError(
            f"{study}/claims and its recomputation differ in {sorted(unpaired)}; add what is missing."
        )
    return [
        Check(
            study=study,
            table="claims",
            cell=row["claim"],
            unit=row["claimed_unit"],
            formula=recomputed[row["claim"]][1],
            claimed=row["claimed_value"],
            recomputed=float(recomputed[row["claim"]][0]),
            decimals=row["claimed_decimals"],
            relation=row["claimed_relation"],
            method=row["claim"] in method,
            note="" if pd.isna(row["note"]) else row["note"],
        )
        for row in claims.to_dict("records")
    ]


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


def change_percent(value: pd.Series, baseline: pd.Series | float) -> pd.Series:
    """Relative change of `value` against `baseline` in percent, shape (n,); negative is less."""
    return 100 * (value / baseline - 1)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
