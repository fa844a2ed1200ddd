"""Compare two tables of trials: the recipe from tables to verdicts.

The family of Holm's correction is every treatment of every response that is shown together; the
overall rows, which ask another question, are a family of their own; so are the tests of equivalence
beside those of a change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.compare import verdicts
from deadzone.analysis.compare.doubts import FEW, doubts_of, pooled_noise, replicates_needed
from deadzone.analysis.compare.effect_size import cliffs_delta, magnitude, overall_delta
from deadzone.analysis.compare.factors import changed_settings, common_factors, goals_of
from deadzone.analysis.compare.page import comparison_page, forest_panel, forest_plot, headline
from deadzone.analysis.compare.ratio import Drawn, interval, overall_draws, resample
from deadzone.analysis.compare.result import ComparisonResult
from deadzone.analysis.compare.samples import (
    Samples,
    analysed,
    in_words,
    side_by_side,
    treatments_of,
)
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, holm
from deadzone.analysis.hypothesis_tests.ranks import Pairs, p_change, p_equivalence
from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import axis_label
from deadzone.errors import CompareError
from deadzone.language.messages import _, ngettext

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
    margin: float | None = None,
    confidence: float = CONFIDENCE,
    names: tuple[str, str] = ("A", "B"),
    notes: Sequence[str] = (),
) -> Comparison:
    """Compare B with A, for each treatment that both hold and overall.

    a, b: tidy tables, one row a trial (before, after). responses: columns of values >= 0. factors:
    columns whose levels make a treatment; by default those found in both tables. goal: min or max,
    for all, one each or by name; by default read from the response's name. threshold: a fraction; a
    smaller change does not matter. margin: of equivalence, the threshold by default. confidence: in
    (0, 1). names: of the tables. notes: further warnings to carry.

    Raises CompareError if a column is missing, a value cannot be compared, no treatment is in both,
    or a number is out of range.
    """
    asked = [responses] if isinstance(responses, str) else list(dict.fromkeys(responses))
    margin = threshold if margin is None else margin
    _check(asked, threshold, margin, confidence)
    common = common_factors(a, b, factors, asked, names)
    changed = changed_settings(a, b, asked)
    (a, of_a), (b, of_b) = (
        analysed(table, common, name) for table, name in zip((a, b), names, strict=True)
    )
    goals = goals_of(asked, goal)
    each = {response: side_by_side(a, b, common, response, names) for response in asked}
    drawn = {r: resample(s.pairs, together=s.together, paired=s.paired) for r, s in each.items()}
    heads = {
        response: {"response": response, "goal": goals[response] or "min"} for response in asked
    }
    rows = [
        {**heads[r], **row}
        for r in asked
        for row in _treatments(common, each[r], drawn[r], margin, confidence)
    ]
    overall = [{**heads[r], **_overall(each[r], drawn[r], margin, confidence)} for r in asked]
    _judge(rows, threshold, confidence)
    _judge(overall, threshold, confidence)
    _say_what_it_takes(rows, each, threshold, confidence)
    result = Comparison(
        names=names,
        factors=common,
        threshold=threshold,
        margin=margin,
        confidence=confidence,
        paired=all(samples.paired for samples in each.values()),
        treatments=pd.DataFrame(rows),
        overall=pd.DataFrame(overall),
        only_in_a=_missing(a, b, common),
        only_in_b=_missing(b, a, common),
        trials=_trials(common, each),
        warnings=(),
    )
    unstated = [response for response in asked if goals[response] is None]
    apart = [
        _("They differ in {what}: {a} in A, {b} in B.", what=n, a=before, b=other)
        for n, (before, other) in changed.items()
        if n not in common
    ]
    empty = _without_value(a, b, common, each)
    return replace(
        result, warnings=doubts_of(result, [*notes, *apart, *of_a, *of_b, *empty], unstated)
    )


def _check(responses: Sequence[str], threshold: float, margin: float, confidence: float) -> None:
    if not responses:
        raise CompareError(
            "There is nothing to compare: name a response, the column of what was measured."
        )
    for name, value in (("threshold", threshold), ("margin", margin)):
        if not (isinstance(value, int | float) and 0 < value <= 1):
            raise CompareError(
                f"The {name} is {value!r}; give a fraction above 0 and up to 1, for example 0.03 "
                "for 3 %."
            )
    verdicts.check_confidence(confidence)


def _treatments(
    factors: Sequence[str], samples: Samples, drawn: Drawn, margin: float, confidence: float
) -> Iterator[dict[str, Any]]:
    each = zip(samples.treatments, samples.pairs, drawn.change, drawn.draws, strict=True)
    for key, (a, b), change, draws in each:
        yield {
            **dict(zip(factors, key, strict=True)),
            "treatment": in_words(key, factors),
            "n_a": len(a),
            "n_b": len(b),
            "median_a": float(np.median(a)),
            "median_b": float(np.median(b)),
            **_change(
                [(a, b)], samples.paired, change, draws, cliffs_delta(a, b), margin, confidence
            ),
        }


def _overall(samples: Samples, drawn: Drawn, margin: float, confidence: float) -> dict[str, Any]:
    with np.errstate(invalid="ignore"):  # nan where some fall to zero and others rise from it
        change = np.mean(drawn.change)
    draws, delta = overall_draws(drawn), overall_delta(samples.pairs)
    return {
        "n_treatments": len(samples.treatments),
        "n_a": sum(len(a) for a, _ in samples.pairs),
        "n_b": sum(len(b) for _, b in samples.pairs),
        **_change(samples.pairs, samples.paired, change, draws, delta, margin, confidence),
    }


def _change(
    pairs: Pairs,
    paired: bool,
    change: float,
    draws: np.ndarray,
    delta: float,
    margin: float,
    confidence: float,
) -> dict[str, Any]:
    """The ratio and its interval; whether the interval that belongs to two one-sided tests is
    within the margin; how large it is in words; and the p-values of both tests before correction.
    """
    with np.errstate(over="ignore"):
        ratio, low, high = (
            float(np.exp(value)) for value in (change, *interval(draws, confidence))
        )
    narrow = interval(draws, 2 * confidence - 1)
    return {
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "is_within": bool(max(-narrow[0], narrow[1]) <= math.log1p(margin)),
        "delta": delta,
        "magnitude": magnitude(delta),
        "p_value": p_change(pairs, paired),
        "p_equivalence": p_equivalence(pairs, paired, margin),
    }


def _judge(rows: Rows, threshold: float, confidence: float) -> None:
    """Add corrected p-values and the verdict to each row of one family of comparisons."""
    change = holm(np.array([row["p_value"] for row in rows]))
    equivalence = holm(np.array([row["p_equivalence"] for row in rows]))
    limits = {"threshold": threshold, "confidence": confidence}
    for row, p, p_same in zip(rows, change.tolist(), equivalence.tolist(), strict=True):
        with np.errstate(divide="ignore"):
            log_ratio, low, high = (
                float(np.log(row[n])) for n in ("ratio", "ratio_low", "ratio_high")
            )
        row["p_adjusted"], row["p_equivalence_adjusted"] = p, p_same
        within, goal = row.pop("is_within"), row["goal"]
        row["verdict"] = verdicts.verdict(
            log_ratio, (low, high), p, p_same, is_within=within, goal=goal, **limits
        )
        few = min(row["n_a"], row["n_b"]) <= FEW * row.get("n_treatments", 1)
        why = verdicts.why_undecided(log_ratio, few, p, **limits)
        row["why"] = why if row["verdict"] == verdicts.UNDECIDED else ""


def _say_what_it_takes(
    rows: Rows, each: Mapping[str, Samples], threshold: float, confidence: float
) -> None:
    """Add to each row the noise of a trial, and how many a side would decide about a change of the
    threshold."""
    for response, samples in each.items():
        noise = pooled_noise([side for pair in samples.pairs for side in pair])
        needed = replicates_needed(math.log1p(threshold), noise, len(rows), confidence)
        for row in rows:
            if row["response"] == response:
                row["noise"], row["trials_needed"] = noise, needed


def _missing(table: pd.DataFrame, other: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    there = set(treatments_of(other, factors))
    keys = [key for key in treatments_of(table, factors) if key not in there]
    return pd.DataFrame(keys, columns=list(factors))


def _without_value(
    a: pd.DataFrame, b: pd.DataFrame, factors: Sequence[str], each: Mapping[str, Samples]
) -> list[str]:
    """A sentence for each response that treatments of both tables lack on one side."""
    both = set(treatments_of(a, factors)) & set(treatments_of(b, factors))
    missing = {response: len(both) - len(samples.treatments) for response, samples in each.items()}
    return [
        ngettext(
            "{response}: {n} treatment has no value in A or B and is not compared.",
            "{response}: {n} treatments have no value in A or B and are not compared.",
            n=n,
            response=axis_label(response),
        )
        for response, n in missing.items()
        if n
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
