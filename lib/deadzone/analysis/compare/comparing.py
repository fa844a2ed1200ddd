"""Compare two tables of trials: the recipe from tables to verdicts.

The family of Holm's correction is every treatment of every response that is shown together; the
overall rows, which ask another question, are a family of their own; so are the tests of equivalence
beside those of a change.

What a reader of a comparison must know before believing it: its warnings.

With them, how many trials a side would decide: the power of a comparison.

The power calculation of the phase model's recommendation (Cohen 1988, chapter 2), here two-sided
and divided by the number of comparisons, with the trials that a rank test needs more than a t test
on normal noise: their asymptotic relative efficiency is 3 / pi (Lehmann 1975, section 2.4).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.compare.page import Comparison
from deadzone.analysis.compare.ratio import (
    THRESHOLD,
    UNDECIDED,
    check_confidence,
    interval,
    overall_draws,
    resample,
    verdict,
)
from deadzone.analysis.compare.samples import (
    Key,
    Samples,
    analysed,
    changed_settings,
    common_factors,
    goals_of,
    in_words,
    order_of,
    side_by_side,
    treatments_of,
)
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, holm
from deadzone.analysis.hypothesis_tests.ranks import Pairs, least_trials, p_change, p_equivalence
from deadzone.analysis.phases.best_set import replicates_to_tell
from deadzone.analysis.phases.quantities import axis_label, listing, plain_name
from deadzone.analysis.trial_columns import with_status
from deadzone.errors import CompareError
from deadzone.language.messages import N_, _, join, say
from deadzone.study.response_cells import unit_in, with_numbers

Rows = list[dict[str, Any]]


def _read(
    table: pd.DataFrame, responses: Sequence[str], factors: Sequence[str], name: str
) -> pd.DataFrame:
    """A table with the cells of its responses as numbers, as a fit reads them. Raises CompareError
    where two columns have one name."""
    if repeated := [*table.columns[table.columns.duplicated()]]:
        raise CompareError(
            f"{name} has several columns named {repeated[0]!r}; rename or drop all but one."
        )
    table = with_status(table, [*responses, *factors])
    for response in responses:
        table = with_numbers(table, response)
    return table


def compare_tables(
    a: pd.DataFrame,
    b: pd.DataFrame,
    responses: str | Sequence[str],
    *,
    factors: Sequence[str] = (),
    goal: str | Sequence[str] | Mapping[str, str] | None = None,
    threshold: float = THRESHOLD,
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
    if not asked:
        raise CompareError("There is nothing to compare: name a response, a column of values.")
    if not (isinstance(threshold, int | float) and 0 < threshold <= 1):
        raise CompareError(f"The threshold is {threshold!r}; give a fraction from above 0 to 1.")
    check_confidence(confidence)
    a, b = (_read(table, asked, factors, name) for table, name in zip((a, b), names, strict=True))
    for name in asked:
        units = [unit_in(table, name) for table in (a, b)]
        if all(units) and units[0] != units[1]:
            raise CompareError(
                f"{name!r} is in {units[0]} in {names[0]} and in {units[1]} in {names[1]}; write "
                "both in one unit."
            )
    common = common_factors(a, b, factors, asked, names)
    changed = {**(differences or {}), **changed_settings(a, b, [*asked, *common])}
    (a, of_a), (b, of_b) = (
        analysed(table, common, name) for table, name in zip((a, b), names, strict=True)
    )
    goals = goals_of(asked, goal)
    each = {response: side_by_side(a, b, common, response, names) for response in asked}
    tests = sum(len(samples.treatments) for samples in each.values())
    treatments: Rows = []
    overall: Rows = []
    for response, samples in each.items():
        head = {"response": response, "goal": goals[response] or "min"}
        *rows, whole = _rows(samples, common, threshold, confidence)
        noise = pooled_noise([side for pair in samples.pairs for side in pair])
        needed = replicates_needed(math.log1p(threshold), noise, tests, confidence, samples.paired)
        treatments += [{**head, **row, "trials_needed": needed} for row in rows]
        overall.append({**head, **whole})
    paired = all(samples.paired for samples in each.values())
    judged = _judged(treatments, threshold, confidence)
    known = {*treatments_of(a, common), *treatments_of(b, common)}
    goal_assumed = [
        _("No goal is given for {response}: less is taken as better.", response=plain_name(name))
        for name in asked
        if goals[name] is None
    ]
    return Comparison(
        names=names,
        factors=common,
        threshold=threshold,
        confidence=confidence,
        paired=paired,
        treatments=judged,
        overall=_judged(overall, threshold, confidence),
        trials=_trials(common, each),
        warnings=(
            *goal_assumed,
            *of_a,
            *of_b,
            *_left_out(known, common, each),
            *_differing(paired, changed),
            *_undecided(judged, threshold, confidence, paired),
        ),
    )


def _rows(samples: Samples, factors: Sequence[str], threshold: float, confidence: float) -> Rows:
    """A row a treatment, and the overall one at the end."""
    changes, drawn = resample(samples.pairs, together=samples.together, paired=samples.paired)

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
            samples.treatments, samples.pairs, changes, drawn, strict=True
        )
    ]
    with np.errstate(invalid="ignore"):  # nan where some fall to zero and others rise from it
        whole = row(samples.pairs, np.mean(changes), overall_draws(changes, drawn))
    return [*rows, {"n_treatments": len(rows), **whole}]


def _judged(rows: Rows, threshold: float, confidence: float) -> pd.DataFrame:
    """One family of comparisons with corrected p-values and verdicts."""
    table = pd.DataFrame(rows)
    table["p_adjusted"] = holm(table["p_value"].to_numpy(float))
    table["p_equivalence_adjusted"] = holm(table["p_equivalence"].to_numpy(float))
    table["verdict"] = [verdict(row, threshold, confidence) for row in table.to_dict("records")]
    return table.drop(columns="is_within")


def _left_out(known: set[Key], factors: Sequence[str], each: Mapping[str, Samples]) -> list[str]:
    """A sentence for each response on the treatments that A or B has no value of."""
    return [
        _(
            "{response}: treatments not compared, because A or B has no value: {treatments}.",
            response=axis_label(response),
            treatments=listing([in_words(key, factors) for key in sorted(missing, key=order_of)]),
        )
        for response, samples in each.items()
        if (missing := known - {*samples.treatments})
    ]


def _trials(factors: Sequence[str], each: Mapping[str, Samples]) -> pd.DataFrame:
    rows = [
        (response, in_words(key, factors), table, value, value / middle)
        for response, samples in each.items()
        for key, pair in zip(samples.treatments, samples.pairs, strict=True)
        for middle in [np.median(pair[0]) or math.nan]
        for table, values in zip("AB", pair, strict=True)
        for value in values.tolist()
    ]
    return pd.DataFrame(rows, columns=["response", "treatment", "table", "value", "relative"])


FEW = 4
"""From up to this many trials a side a bootstrap interval holds the true ratio less often than it
says (docs/benchmarks/comparisons.md); a verdict needs the rank test, too."""

LEAST_NOISE = 1e-9
"""Trials that do not scatter at all are taken to scatter this much, so that the calculation has a
noise."""


def _differing(paired: bool, differences: Mapping[str, tuple[str, str]]) -> list[str]:
    """What else than the change itself may be behind a difference."""
    apart = _(
        "A and B were not interleaved in one run: whatever else changed between the two "
        "occasions (temperature, neighbours, versions) is part of the difference."
    )
    named = [
        _("{name} ({a} in A, {b} in B)", name=name.replace("_", " "), a=before, b=after)
        for name, (before, after) in differences.items()
    ]
    known = _("They are known to differ in {names}.", names=listing(named)) if named else ""
    return [join(["" if paired else apart, known])] if named or not paired else []


def _undecided(
    treatments: pd.DataFrame, threshold: float, confidence: float, paired: bool
) -> list[str]:
    """How many trials would decide, for each response that has undecided treatments; and whether
    intervals are too short."""
    sentences: list[str] = []
    least = least_trials(len(treatments), confidence, paired=paired)
    open_ones = treatments[treatments["verdict"] == UNDECIDED]
    for response, rows in open_ones.groupby("response", sort=False):
        text = (
            N_(
                "{response}: undecided comparisons: {n}. With fewer than {least:count} trials per "
                "side nothing can be shown."
            )
            if pd.isna(needed := rows["trials_needed"].iloc[0])
            else N_(
                "{response}: undecided comparisons: {n}. {needed:count} trials per side would show "
                "a change of {threshold:exact_percent} with 80 % power."
            )
        )
        sentences.append(
            say(
                text, n=len(rows), response=axis_label(str(response)), least=least, needed=needed,
                threshold=threshold,
            )
        )  # fmt: skip
    if treatments[["n_a", "n_b"]].min(axis=1).between(2, FEW).any():
        sentences.append(
            _("Intervals from {few} trials per side or fewer are too short: rely on p.", few=FEW)
        )
    return [join(sentences)] if sentences else []


def pooled_noise(samples: Sequence[np.ndarray]) -> float:
    """Standard deviation of ln(value) of one trial, pooled over samples; nan where none has two
    positive trials.

    samples: each of shape (n,); those with a value of zero are left out.
    """
    logs = [np.log(sample) for sample in samples if len(sample) > 1 and (sample > 0).all()]
    if not logs:
        return float("nan")
    freedom = sum(len(log) - 1 for log in logs)
    return float(math.sqrt(sum(float(((log - log.mean()) ** 2).sum()) for log in logs) / freedom))


def replicates_needed(
    change: float, noise: float, comparisons: int, confidence: float, paired: bool = False
) -> int | None:
    """Trials a side that show a change of ln(response) with 80 % power.

    change: > 0. noise: standard deviation of ln(value) of one trial. comparisons, confidence: as
    above. Returns None where the noise is nan, unknown, or no sensible number of trials would do.
    """
    if math.isnan(noise):
        return None
    two_sided = 1 - (1 - confidence) / comparisons / 2
    by_t = replicates_to_tell(change, max(noise, LEAST_NOISE), confidence=two_sided)
    if by_t is None:
        return None
    return max(least_trials(comparisons, confidence, paired=paired), math.ceil(by_t * math.pi / 3))
