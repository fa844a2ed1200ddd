"""What changes at each joint between two phases: how much more, or less, a doubling of the knob
costs of each mechanism.

Of each mechanism the part of the phase before is set against that of the phase after, both for a
doubling, so that phases of different width can be set side by side. The change is confirmed where
it is shown to be beyond a margin, to either side, excluded where it is shown to lie within it,
after Holm's correction over all mechanisms of all joints. The trials at the joint are an end of
both phases, and count once.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from deadzone.analysis.mechanisms import explaining
from deadzone.analysis.mechanisms.parts import REASONS, WORK

COLUMNS = ("phase", "level", "mechanism", "before", "after", *explaining.CHANGE, *explaining.TESTS)


def joints_of(explanation: explaining.PhasesExplained) -> pd.DataFrame:
    """One row a joint and mechanism: phase (that ends there, 0 for the first), level, mechanism,
    before, after (of ln(time for the job), what a doubling of the knob adds of it in the phase
    before and after), change (from before to after), low, high (90 % interval), p_excluded,
    p_confirmed (after Holm's correction), verdict; no rows where no phase ends at the start of
    another."""
    rows: list[Sequence[object]] = []
    for (first, start, joint), (other, at, stop) in pairwise(explanation.changes):
        if joint.index.equals(at.index):
            per = [math.log(2) / math.log(phase["to"] / phase["from"]) for phase in (first, other)]
            scaled = [
                (ends, explaining.scales_between(*ends)) for ends in ((start, joint), (at, stop))
            ]
            for reason in REASONS:
                parts = [
                    [explaining.part_of(end, reason, scales) for end in ends]
                    for ends, scales in scaled
                ]
                rows.append((first["phase"], first["to"], *_bend(reason, parts, per)))
    return explaining.decided(pd.DataFrame(rows, columns=[*COLUMNS]))


def _bend(
    reason: str, parts: Sequence[Sequence[np.ndarray]], per: Sequence[float]
) -> tuple[object, ...]:
    """The rest of a row. parts: of the trials at both ends of the phase before and after. per: from
    each phase to a doubling of it."""
    (first, ends), (begins, last) = parts
    before, after = (
        float(b.mean() - a.mean()) * each for (a, b), each in zip(parts, per, strict=True)
    )
    if reason == WORK:
        reason = explaining.MORE_WORK if max(before, after, key=abs) >= 0 else explaining.LESS_WORK
    facts = (reason, before, after, after - before)
    if min(len(first), len(ends), len(last)) < 2:
        return (*facts, *(math.nan,) * 4)
    middle = explaining.mean_of((ends * per[0] + begins * per[1]) / sum(per)) * sum(per)
    bend = explaining.mean_of(last) * per[1] - (middle - explaining.mean_of(first) * per[0])
    excluded = max(bend.p_below(explaining.FLOOR), bend.p_above(-explaining.FLOOR))
    confirmed = min(2 * min(bend.p_above(explaining.FLOOR), bend.p_below(-explaining.FLOOR)), 1.0)
    return (*facts, *bend.interval(explaining.INTERVAL), excluded, confirmed)
