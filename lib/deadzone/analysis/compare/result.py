"""What the comparison of two tables found, as data: what words it or draws it stands above."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.analysis.compare.verdicts import WORSE
from deadzone.analysis.records import records


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """B against A, treatment by treatment and overall.

    names: of A and B. factors: columns that make a treatment. threshold: a fraction; a smaller
    change does not matter, and equivalence is shown within it. confidence: of intervals and, over
    all comparisons together, of verdicts. paired: whether both come from the same blocks of one
    run.

    treatments: one row a response and treatment. Columns: response, goal, the factors (levels as
    text), treatment (in words), n_a, n_b (blocks or trials), median_a, median_b (in the response's
    unit), ratio (median of B over median of A), ratio_low, ratio_high, p_value, p_adjusted (Holm),
    p_equivalence, p_equivalence_adjusted, verdict, trials_needed (a side, to show a change of the
    threshold with 80 % power; missing where nothing was repeated or no sensible number would do).

    overall: one row a response with the same columns less factors, treatment, medians and
    trials_needed, plus n_treatments; ratio is the geometric mean of the treatments' ratios,
    p-values are of tests stratified by treatment.

    trials: every value that was compared: response, treatment, table (A or B), value, relative
    (value over A's median). warnings: sentences on what is left out, what else differs, and what
    would decide.
    """

    names: tuple[str, str]
    factors: tuple[str, ...]
    threshold: float
    confidence: float
    paired: bool
    treatments: pd.DataFrame
    overall: pd.DataFrame
    trials: pd.DataFrame
    warnings: tuple[str, ...]

    @property
    def responses(self) -> tuple[str, ...]:
        """The responses that were compared."""
        return tuple(self.overall["response"])

    @property
    def is_worse(self) -> bool:
        """Whether any treatment of any response, or any response overall, is shown to be worse."""
        return bool(
            (self.treatments["verdict"] == WORSE).any() or (self.overall["verdict"] == WORSE).any()
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON; a number that is unknown or infinite is None."""
        plain = ("threshold", "confidence", "paired")
        return {
            "a": self.names[0],
            "b": self.names[1],
            "factors": list(self.factors),
            **{name: getattr(self, name) for name in plain},
            **{name: records(getattr(self, name)) for name in ("overall", "treatments")},
            "warnings": [str(warning) for warning in self.warnings],
        }


def rows_of(frame: pd.DataFrame, response: str | None = None) -> list[dict[str, Any]]:
    """The rows of a table, or those of one response, as dictionaries by column name."""
    rows = frame if response is None else frame[frame["response"] == response]
    return [
        {str(name): value for name, value in row.items()} for row in rows.to_dict(orient="records")
    ]
