"""What the comparison of two tables found, as data: what words it or draws it stands above."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.analysis.compare.verdicts import WORSE
from deadzone.analysis.records import records


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """B against A, treatment by treatment and overall.

    names: of A and B. factors: columns that make a treatment. threshold, margin: fractions; a
    change under the threshold does not matter, equivalence is shown within the margin. confidence:
    of intervals and, over all comparisons together, of verdicts. paired: whether both come from the
    same blocks of one run.

    treatments: one row a response and treatment. Columns: response, goal, the factors (levels as
    text), treatment (in words), n_a, n_b (blocks or trials), median_a, median_b (in the response's
    unit), ratio (median of B over median of A), ratio_low, ratio_high, delta (Cliff's), magnitude
    (of it, in words), p_value, p_adjusted (Holm), p_equivalence, p_equivalence_adjusted, verdict,
    why (reason of an undecided one), noise (standard deviation of ln(value) of one trial, pooled
    over the response's treatments; nan where nothing was repeated), trials_needed (a side, to show
    a change of the threshold with 80 % power; missing where the noise is unknown or no sensible
    number would do).

    overall: one row a response with the same columns less factors, treatment, medians, noise and
    trials_needed, plus n_treatments; ratio is the geometric mean of the treatments' ratios,
    p-values are of tests stratified by treatment.

    only_in_a, only_in_b: treatments that the other table lacks, one column a factor. trials: every
    value that was compared: response, treatment, table (A or B), value, relative (value over A's
    median). warnings: sentences.
    """

    names: tuple[str, str]
    factors: tuple[str, ...]
    threshold: float
    margin: float
    confidence: float
    paired: bool
    treatments: pd.DataFrame
    overall: pd.DataFrame
    only_in_a: pd.DataFrame
    only_in_b: pd.DataFrame
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
        return {
            "a": self.names[0],
            "b": self.names[1],
            "factors": list(self.factors),
            **{
                name: getattr(self, name)
                for name in ("threshold", "margin", "confidence", "paired")
            },
            **{
                name: records(getattr(self, name))
                for name in ("overall", "treatments", "only_in_a", "only_in_b")
            },
            "warnings": [str(warning) for warning in self.warnings],
        }


def rows_of(frame: pd.DataFrame, response: str | None = None) -> list[dict[str, Any]]:
    """The rows of a table, or those of one response, as dictionaries by column name."""
    rows = frame if response is None else frame[frame["response"] == response]
    return [
        {str(name): value for name, value in row.items()} for row in rows.to_dict(orient="records")
    ]
