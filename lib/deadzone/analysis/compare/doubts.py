"""What a reader of a comparison must know before believing it: its warnings.

With them, how many trials a side would decide: the power of a comparison.

The power calculation of the phase model's recommendation (Cohen 1988, chapter 2), here two-sided
and divided by the number of comparisons, with the trials that a rank test needs more than a t test
on normal noise: their asymptotic relative efficiency is 3 / pi (Lehmann 1975, section 2.4).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from deadzone.analysis.compare.page import Comparison
from deadzone.analysis.compare.verdicts import UNDECIDED
from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.phases.power import replicates_to_tell
from deadzone.analysis.phases.quantities import axis_label, listing, plain_name
from deadzone.language.messages import N_, _, join, say

FEW = 4
"""From up to this many trials a side a bootstrap interval holds the true ratio less often than it
says (docs/benchmarks/comparisons.md); a verdict needs the rank test, too."""

LEAST_NOISE = 1e-9
"""Trials that do not scatter at all are taken to scatter this much, so that the calculation has a
noise."""


def doubts_of(
    result: Comparison,
    left_out: Sequence[str],
    differences: Mapping[str, tuple[str, str]],
    assumed: Sequence[str],
) -> tuple[str, ...]:
    """The warnings of a comparison: what it leaves out, what else differs, and what would decide.

    left_out: sentences from reading the tables. differences: what differs between A and B, with
    both values. assumed: responses without a stated goal.
    """
    goal = [
        _("No goal is given for {response}: less is taken as better.", response=plain_name(name))
        for name in assumed
    ]
    return (*goal, *left_out, *_differing(result, differences), *_undecided(result))


def _differing(result: Comparison, differences: Mapping[str, tuple[str, str]]) -> list[str]:
    """What else than the change itself may be behind a difference."""
    sentences: list[str] = []
    if not result.paired:
        sentences.append(
            _(
                "A and B were not interleaved in one run: whatever else changed between the two "
                "occasions (temperature, neighbours, versions) is part of the difference."
            )
        )
    if differences:
        named = [
            _("{name} ({a} in A, {b} in B)", name=name.replace("_", " "), a=before, b=after)
            for name, (before, after) in differences.items()
        ]
        sentences.append(_("They are known to differ in {names}.", names=listing(named)))
    return [join(sentences)] if sentences else []


def _undecided(result: Comparison) -> list[str]:
    """How many trials would decide, for each response that has undecided treatments; and whether
    intervals are too short."""
    sentences: list[str] = []
    for response, rows in result.treatments.groupby("response", sort=False):
        n, needed = int((rows["verdict"] == UNDECIDED).sum()), rows["trials_needed"].iloc[0]
        text = (
            N_(
                "{response}: undecided comparisons: {n}. With fewer than {least:count} trials a "
                "side nothing can be shown at all."
            )
            if pd.isna(needed)
            else N_(
                "{response}: undecided comparisons: {n}. {needed:count} trials a side would show a "
                "change of {threshold:percent} with 80 % power."
            )
        )
        least, name = least_trials(len(result.treatments), result.confidence), str(response)
        facts = {"least": least, "needed": needed, "threshold": result.threshold}
        if n:
            sentences.append(say(text, n=n, response=axis_label(name), **facts))
    trials = result.treatments[["n_a", "n_b"]].min(axis=1)
    if trials.between(2, FEW).any():
        sentences.append(
            _("Intervals from {few} trials a side or fewer are too short: heed p.", few=FEW)
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
