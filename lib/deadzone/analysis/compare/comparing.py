"""Compare two tables of trials: the recipe from tables to verdicts.

The family of Holm's correction is every treatment of every response that is shown together; the
overall rows, which ask another question, are a family of their own; so are the tests of equivalence
beside those of a change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.compare import verdicts
from deadzone.analysis.compare.doubts import doubts_of, pooled_noise, replicates_needed
from deadzone.analysis.compare.factors import changed_settings, common_factors, goals_of
from deadzone.analysis.compare.page import comparison_page, forest_panel, forest_plot, headline
from deadzone.analysis.compare.ratio import interval, overall_draws, resample
from deadzone.analysis.compare.result import ComparisonResult
from deadzone.analysis.compare.samples import (
    Key,
    Samples,
    analysed,
    in_words,
    order_of,
    side_by_side,
    treatments_of,
)
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, holm
from deadzone.analysis.hypothesis_tests.ranks import Pairs, p_change, p_equivalence
from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import axis_label, listing
from deadzone.errors import CompareError
from deadzone.language.messages import ngettext

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = list[dict[str, Any]]


class Comparison(Paged, ComparisonResult):
    """B against A, treatment by treatment and overall; its fields are those of
    `ComparisonResult`."""

    def plot(self, ax: Axes | None = None, *, response: str = "") -> Axes | Figure:
        """Forest plot: the ratio of every treatment with its interval, and the overall one.

        ax: axes for one response, by default the first, which are returned; without them a figure
        with a panel a response.
        """
        if ax is None:
            return forest_plot(self)
        forest_panel(self, response or self.responses[0], ax)
        return ax

    def summary(self) -> str:
        """Everything as text: each response overall and treatment by treatment, and what to know of
        them."""
        return str(self)

    def __repr__(self) -> str:
        sentences = [headline(self, response) for response in self.responses]
        return f"Comparison({self.names[1]} against {self.names[0]}: {'; '.join(sentences)})"

    def page(self) -> Page:
        """Everything as a page."""
        return comparison_page(self)


def compare_tables(
    a: pd.DataFrame,
    b: pd.DataFrame,
    responses: str | Sequence[str],
    *,
    factors: Sequence[str] = (),
    goal: str | Sequence[str] | Mapping[str, str] | None = None,
    threshold: float = verdicts.THRESHOLD,
    confidence: float = CONFIDENCE,
    names: tuple[str, str] = ("A", "B"),
    differences: Mapping[str, tuple[str, str]] | None = None,
) -> Comparison:
    """Compare B with A, for each treatment that both hold and overall.

    a, b: tidy tables, one row a trial (before, after). responses: columns of values >= 0. factors:
    columns whose levels make a treatment; by default those found in both tables. goal: min or max,
    for all, one each or by name; by default read from the response's name. threshold: a fraction; a
    smaller change does not matter. confidence: in (0, 1). names: of the tables. differences: what
    is known to differ beside the trials, with both values.

    Raises CompareError if a column is missing, a value cannot be compared, no treatment is in both,
    or a number is out of range.
    """
    asked = [responses] if isinstance(responses, str) else list(dict.fromkeys(responses))
    _check(asked, threshold, confidence)
    common = common_factors(a, b, factors, asked, names)
    changed = {**(differences or {}), **changed_settings(a, b, [*asked, *common])}
    (a, of_a), (b, of_b) = (
        analysed(table, common, name) for table, name in zip((a, b), names, strict=True)
    )
    goals = goals_of(asked, goal)
    each = {response: side_by_side(a, b, common, response, names) for response in asked}
    treatments: Rows = []
    overall: Rows = []
    for response, samples in each.items():
        head = {"response": response, "goal": goals[response] or "min"}
        *rows, whole = _rows(samples, common, threshold, confidence)
        treatments += [{**head, **row} for row in rows]
        overall.append({**head, **whole})
    _judge(treatments, threshold, confidence)
    _judge(overall, threshold, confidence)
    _say_what_it_takes(treatments, each, threshold, confidence)
    result = Comparison(
        names=names,
        factors=common,
        threshold=threshold,
        confidence=confidence,
        paired=all(samples.paired for samples in each.values()),
        treatments=pd.DataFrame(treatments),
        overall=pd.DataFrame(overall),
        trials=_trials(common, each),
        warnings=(),
    )
    known = {*treatments_of(a, common), *treatments_of(b, common)}
    left_out = [*of_a, *of_b, *_left_out(known, common, each)]
    assumed = [response for response in asked if goals[response] is None]
    return replace(result, warnings=doubts_of(result, left_out, changed, assumed))


def _check(responses: Sequence[str], threshold: float, confidence: float) -> None:
    if not responses:
        raise CompareError(
            "There is nothing to compare: name a response, the column of what was measured."
        )
    if not (isinstance(threshold, int | float) and 0 < threshold <= 1):
        raise CompareError(
            f"The threshold is {threshold!r}; give a fraction above 0 and up to 1, for example "
            "0.03 for 3 %."
        )
    verdicts.check_confidence(confidence)


def _rows(samples: Samples, factors: Sequence[str], threshold: float, confidence: float) -> Rows:
    """A row a treatment, and the overall one at the end."""
    drawn = resample(samples.pairs, together=samples.together, paired=samples.paired)

    def row(pairs: Pairs, change: float, draws: np.ndarray) -> dict[str, Any]:
        narrow = interval(draws, 2 * confidence - 1)
        with np.errstate(over="ignore"):
            ratio, low, high = np.exp([change, *interval(draws, confidence)]).tolist()
        return {
            "n_a": sum(len(a) for a, _ in pairs),
            "n_b": sum(len(b) for _, b in pairs),
            "ratio": ratio,
            "ratio_low": low,
            "ratio_high": high,
            "is_within": max(-narrow[0], narrow[1]) <= math.log1p(threshold),
            "p_value": p_change(pairs, samples.paired),
            "p_equivalence": p_equivalence(pairs, samples.paired, threshold),
        }

    rows = [
        {
            **dict(zip(factors, key, strict=True)),
            "treatment": in_words(key, factors),
            "median_a": float(np.median(pair[0])),
            "median_b": float(np.median(pair[1])),
            **row([pair], change, draws),
        }
        for key, pair, change, draws in zip(
            samples.treatments, samples.pairs, drawn.change, drawn.draws, strict=True
        )
    ]
    with np.errstate(invalid="ignore"):  # nan where some fall to zero and others rise from it
        whole = row(samples.pairs, np.mean(drawn.change), overall_draws(drawn))
    return [*rows, {"n_treatments": len(rows), **whole}]


def _judge(rows: Rows, threshold: float, confidence: float) -> None:
    """Add corrected p-values and the verdict to each row of one family of comparisons."""
    for raw, adjusted in (
        ("p_value", "p_adjusted"),
        ("p_equivalence", "p_equivalence_adjusted"),
    ):
        corrected = holm(np.array([row[raw] for row in rows]))
        for row, p in zip(rows, corrected.tolist(), strict=True):
            row[adjusted] = p
    for row in rows:
        with np.errstate(divide="ignore"):
            log_ratio, *ends = np.log([row[n] for n in ("ratio", "ratio_low", "ratio_high")])
        row["verdict"] = verdicts.verdict(
            log_ratio,
            (ends[0], ends[1]),
            row["p_adjusted"],
            row["p_equivalence_adjusted"],
            is_within=row.pop("is_within"),
            goal=row["goal"],
            threshold=threshold,
            confidence=confidence,
        )


def _say_what_it_takes(
    rows: Rows, each: Mapping[str, Samples], threshold: float, confidence: float
) -> None:
    """Add to each row how many trials a side would decide about a change of the threshold."""
    for response, samples in each.items():
        noise = pooled_noise([side for pair in samples.pairs for side in pair])
        needed = replicates_needed(math.log1p(threshold), noise, len(rows), confidence)
        for row in rows:
            if row["response"] == response:
                row["trials_needed"] = needed


def _left_out(known: set[Key], factors: Sequence[str], each: Mapping[str, Samples]) -> list[str]:
    """A sentence for each response on the treatments that A or B has no value of."""
    missing = {
        response: sorted(known - {*samples.treatments}, key=order_of)
        for response, samples in each.items()
    }
    return [
        ngettext(
            "{response}: {n} treatment has no value in A or B and is not compared: {treatments}.",
            "{response}: {n} treatments have no value in A or B and are not compared: "
            "{treatments}.",
            n=len(keys),
            response=axis_label(response),
            treatments=listing([in_words(key, factors) for key in keys]),
        )
        for response, keys in missing.items()
        if keys
    ]


def _trials(factors: Sequence[str], each: Mapping[str, Samples]) -> pd.DataFrame:
    rows = [
        (
            response,
            in_words(key, factors),
            table,
            float(value),
            float(value) / base if base else float("nan"),
        )
        for response, samples in each.items()
        for key, (a, b) in zip(samples.treatments, samples.pairs, strict=True)
        for base in (float(np.median(a)),)
        for table, values in (("A", a), ("B", b))
        for value in values
    ]
    return pd.DataFrame(rows, columns=["response", "treatment", "table", "value", "relative"])
