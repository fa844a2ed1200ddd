"""What a reader of a comparison must know before believing it: its warnings.

With them, how many trials a side would decide: the power of a comparison.

The power calculation of the phase model's recommendation (Cohen 1988, chapter 2), here two-sided
and divided by the number of comparisons, with the trials that a rank test needs more than a t test
on normal noise: their asymptotic relative efficiency is 3 / pi (Lehmann 1975, section 2.4).
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from deadzone.analysis.compare.result import ComparisonResult
from deadzone.analysis.compare.verdicts import BETTER, WORSE
from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.phases.power import replicates_to_tell
from deadzone.analysis.phases.quantities import axis_label, listing
from deadzone.language.messages import _, join, ngettext


def doubts_of(
    result: ComparisonResult, known: Sequence[str], unstated: Sequence[str]
) -> tuple[str, ...]:
    """The warnings of a comparison.

    known: sentences from reading the tables. unstated: responses without a stated goal.
    """
    return (
        *known,
        *(
            _(
                "No goal is given for {response}: less is taken as better.",
                response=response,
            )
            for response in unstated
        ),
        *_identical(result),
        *_few(result),
        *_one_sided_treatments(result),
        *_mixed(result),
        *_from_zero(result),
        *(
            []
            if result.paired
            else [
                _(
                    "A and B were not interleaved in one run: whatever else changed between the "
                    "two occasions (temperature, neighbours, versions) is part of the difference."
                )
            ]
        ),
    )


def _identical(result: ComparisonResult) -> list[str]:
    a, b = (result.trials[result.trials["table"] == table] for table in ("A", "B"))
    columns = ["response", "treatment", "value"]
    same = len(a) == len(b) and a[columns].reset_index(drop=True).equals(
        b[columns].reset_index(drop=True)
    )
    return (
        [
            _(
                "A and B hold the same values throughout: this is a comparison of something with "
                "itself."
            )
        ]
        if same
        else []
    )


def _few(result: ComparisonResult) -> list[str]:
    """How many treatments have too few trials, and what it would take, for each response."""
    notes: list[str] = []
    for response, rows in result.treatments.groupby("response", sort=False):
        few = rows[rows[["n_a", "n_b"]].min(axis=1) <= FEW]
        if few.empty:
            continue
        name = axis_label(str(response))
        sentence = ngettext(
            "{response}: {n} of {treatments} treatments has {most} trials or fewer a side, which "
            "decide little.",
            "{response}: {n} of {treatments} treatments have {most} trials or fewer a side, which "
            "decide little.",
            n=len(few),
            treatments=len(rows),
            most=FEW,
            response=name,
        )
        notes.append(join([sentence, _advice(rows.iloc[0], result)]))
    return notes


def _advice(row: pd.Series, result: ComparisonResult) -> str:
    """How many trials would decide, as far as the noise is known."""
    if pd.isna(row["noise"]):
        return _(
            "The noise is unknown, since nothing was repeated; with fewer than {least:count} a "
            "side nothing can be shown at all.",
            least=least_trials(len(result.treatments), result.confidence),
        )
    if pd.isna(row["trials_needed"]):
        return _(
            "The noise is so large that no sensible number would show a change of "
            "{threshold:percent}.",
            threshold=result.threshold,
        )
    return _(
        "{needed:count} a side would show a change of {threshold:percent} with 80 % power.",
        needed=int(row["trials_needed"]),
        threshold=result.threshold,
    )


def _one_sided_treatments(result: ComparisonResult) -> list[str]:
    notes: list[str] = []
    for name, missing in zip(result.names, (result.only_in_a, result.only_in_b), strict=True):
        rows = missing.to_dict(orient="records")
        if words := [", ".join(f"{f}={v}" for f, v in row.items()) for row in rows]:
            notes.append(
                ngettext(
                    "{n} treatment is in {name} only and is not compared: {treatments}.",
                    "{n} treatments are in {name} only and are not compared: {treatments}.",
                    n=len(missing),
                    name=name,
                    treatments=listing(words),
                )
            )
    return notes


def _mixed(result: ComparisonResult) -> list[str]:
    """A mean over treatments hides that some gain what others lose."""
    notes: list[str] = []
    for response, rows in result.treatments.groupby("response", sort=False):
        better, worse = ((rows["verdict"] == word).sum() for word in (BETTER, WORSE))
        if better and worse:
            name = axis_label(str(response))
            notes.append(
                _(
                    "{response}: {better} better and {worse} worse; the overall change hides that.",
                    better=int(better),
                    worse=int(worse),
                    response=name,
                )
            )
    return notes


def _from_zero(result: ComparisonResult) -> list[str]:
    zero = result.treatments[
        (result.treatments["median_a"] == 0) | (result.treatments["median_b"] == 0)
    ]
    names = [axis_label(str(name)) for name in dict.fromkeys(zero["response"])]
    return (
        [
            _(
                "{responses}: some medians are zero, so a ratio says little there; look at the "
                "medians.",
                responses=listing(names),
            )
        ]
        if names
        else []
    )


FEW = 4
"""Up to this many trials a side decide little: three a side cannot reach p = 0.05 in a rank test at
all, and four only where every trial of one side beats every trial of the other."""

LEAST_NOISE = 1e-9
"""Trials that do not scatter at all are taken to scatter this much, so that the calculation has a
noise."""


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
    change: float, noise: float, comparisons: int, confidence: float
) -> int | None:
    """Trials a side that show a change of ln(response) with 80 % power.

    change: > 0. noise: standard deviation of ln(value) of one trial. comparisons, confidence: as
    above. Returns None where the noise is nan, unknown, or no sensible number of trials would do.
    """
    if math.isnan(noise):
        return None
    level = (1 - confidence) / comparisons
    by_t = replicates_to_tell(change, max(noise, LEAST_NOISE), confidence=1 - level / 2)
    return (
        None
        if by_t is None
        else max(least_trials(comparisons, confidence), math.ceil(by_t * math.pi / 3))
    )
